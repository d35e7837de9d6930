"""A verifier that is down stops a stage; a kernel without a score does not."""

import pytest

from kernelwright.configs.errors import UserError
from kernelwright.rewards.outage import refuse_outage
from kernelwright.rewards.verdict import Status, Verdict

LOST = Verdict(Status.INFRA_ERROR, "no worker starts")
WRONG = Verdict(Status.CORRECTNESS_ERROR, reward=-1.0)


def test_a_batch_without_one_score_is_an_outage_and_names_the_reason():
    with pytest.raises(UserError, match=r"none of 8 kernels: no worker starts; .*--resume true"):
        refuse_outage([LOST] * 8)


@pytest.mark.parametrize("verdicts", [[LOST] * 7 + [WRONG], [LOST] * 3, [WRONG] * 8, []])
def test_lost_samples_among_scored_ones_are_none(verdicts):
    refuse_outage(verdicts)
