"""The scalar reward of a verdict: the one place where the formula and its numbers live.

Source: MusaCoder (arXiv 2606.04847), equation 2. The paper prints neither λ nor ν_max; ours are 0.5
and 4. Unlike the paper, ν is the *lower* bound of the speed-up over the *fastest* baseline.
"""

from kernelwright.rewards.verdict import UNSCORED, Status, Verdict

LAMBDA = 0.5
NU_MAX = 4.0


def score(verdict: Verdict, lam: float = LAMBDA, nu_max: float = NU_MAX) -> float | None:
    """−1 for failure or cheating, −0.5 + 0.5·q when partly right; when right and legal,
    1 + λ·min(max(ν−1, 0), ν_max). None where the verifier or the task is at fault, so that the
    sample leaves the batch.
    """
    if verdict.status in UNSCORED:
        return None
    if verdict.status is Status.CORRECTNESS_ERROR and verdict.legal and 0 < verdict.q < 1:
        return -0.5 + 0.5 * verdict.q
    if verdict.status is not Status.OK:
        return -1.0
    nu = min((interval.lower for interval in verdict.speedup.values()), default=1.0)
    return 1.0 + lam * min(max(nu - 1.0, 0.0), nu_max)
