"""When the verifier itself is down: a stage stops there, since it would train on or count nothing.

A single infra error is a sample without a score, and is not what this is about.
"""

from collections import Counter
from collections.abc import Sequence

from kernelwright.configs.errors import UserError
from kernelwright.rewards.verdict import Status, Verdict

FEWEST = 4
"""Verdicts below which an infra error in each may still be chance."""


def refuse_outage(verdicts: Sequence[Verdict]) -> None:
    """Raise `UserError` if *verdicts*, those of one batch, are infra errors without exception."""
    reasons = Counter(each.detail for each in verdicts if each.status is Status.INFRA_ERROR)
    if len(verdicts) < FEWEST or reasons.total() < len(verdicts):
        return
    reason = reasons.most_common(1)[0][0]
    raise UserError(
        f"the verifier could judge none of {len(verdicts)} kernels: {reason}; "
        "see kernelwright doctor, then add --resume true"
    )
