"""The reward formula, by values computed by hand (MusaCoder, equation 2; λ 0.5, ν_max 4)."""

import pytest

from kernelwright.rewards.reward import score
from kernelwright.rewards.verdict import Interval, Status, Verdict


def _timed(*lowers: float) -> Verdict:
    speedup = {str(i): Interval(low, low * 2, low * 3) for i, low in enumerate(lowers)}
    return Verdict(Status.OK, q=1.0, legal=True, speedup=speedup)


@pytest.mark.parametrize(
    ("verdict", "reward"),
    [
        (Verdict(Status.EXTRACT_ERROR), -1.0),
        (Verdict(Status.COMPILE_ERROR), -1.0),
        (Verdict(Status.RUNTIME_ERROR, q=0.9), -1.0),
        (Verdict(Status.TIMEOUT), -1.0),
        (Verdict(Status.CHEATING, q=1.0), -1.0),
        (Verdict(Status.CORRECTNESS_ERROR, q=0.0, legal=True), -1.0),
        (Verdict(Status.CORRECTNESS_ERROR, q=0.5, legal=True), -0.25),
        (Verdict(Status.CORRECTNESS_ERROR, q=0.5, legal=False), -1.0),
        (Verdict(Status.INFRA_ERROR), None),
        (Verdict(Status.INVALID_PROBLEM), None),
        (Verdict(Status.OK, q=1.0, legal=True), 1.0),
        (_timed(0.5), 1.0),
        (_timed(1.0), 1.0),
        (_timed(2.0), 1.5),
        (_timed(5.0), 3.0),
        (_timed(50.0), 3.0),
        (_timed(3.0, 1.5), 1.25),
    ],
)
def test_reward_is_equation_2_on_the_lower_bound_over_the_fastest_baseline(
    verdict: Verdict, reward: float | None
) -> None:
    assert score(verdict) == reward


def test_weights_are_settings() -> None:
    assert score(_timed(9.0), lam=0.25, nu_max=2.0) == 1.5
