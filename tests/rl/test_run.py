"""A whole run with a verifier written here: what is on disk, and how a killed run goes on."""

import json
from itertools import pairwise

import pytest

from kernelwright.configs.errors import UserError
from kernelwright.configs.run_folder import RunFolder
from kernelwright.policy.checkpoint import forget_after, last_checkpoint
from kernelwright.rewards.task import Task
from kernelwright.rewards.verdict import Interval, Status, Verdict
from kernelwright.rl.arguments import RLArguments
from kernelwright.rl.train import BY_STEP, prepare, train

TASKS = [Task(f"task{index}", f"class Model: {index}", family="toy") for index in range(3)]


class ByLength:
    """Longer text, higher reward; some answers meet broken machinery.

    Dies at call *end*; at call *out_at* all its machinery is broken.
    """

    def __init__(self, end=None, out_at=None):
        self.calls, self.end, self.out_at, self.asked = 0, end, out_at, []

    def verify_all(self, pairs):
        self.calls += 1
        self.asked.append([task.id for task, _ in pairs])
        if self.calls == self.end:
            raise RuntimeError("killed")
        if self.calls == self.out_at:
            return [Verdict(Status.INFRA_ERROR, "worker_lost", task=task.id) for task, _ in pairs]
        return [self._judge(task, text) for task, text in pairs]

    def _judge(self, task, text):
        if len(text) % 7 == 0:
            return Verdict(Status.INFRA_ERROR, "worker_lost", task=task.id)
        if len(text) % 5 == 0:
            return Verdict(Status.CHEATING, "no_kernel", reward=-1.0, task=task.id)
        speedup = {"eager": Interval(1.0, 1.0 + len(text) / 10, 9.0)}
        return Verdict(Status.OK, q=1.0, speedup=speedup, reward=len(text) / 10, task=task.id)


@pytest.fixture
def go(policy_folder, grpo_config):
    from trl import ModelConfig

    def run(folder, verifier, own=None, **given):
        settings = {"max_steps": 5, "save_strategy": "steps", "save_steps": 2, "beta": 0.05}
        config = grpo_config(output_dir=str(folder), **settings | given)
        own = RLArguments(
            tasks="", init_from=str(policy_folder), prompt_style="terse", **(own or {})
        )
        folder.mkdir(exist_ok=True)
        train(prepare(own, config, ModelConfig(), TASKS), verifier, RunFolder(folder))
        return RunFolder(folder)

    return run


def rows(run, name="samples.jsonl"):
    return run.read(name)


def test_a_run_leaves_every_sample_its_advantage_its_metrics_and_a_policy(go, tmp_path):
    from kernelwright.policy.load import load_policy

    verifier = ByLength()
    run = go(tmp_path / "run", verifier)
    found = rows(run)
    assert [row["step"] for row in found] == [step for step in range(1, 6) for _ in range(8)]
    assert {"task", "family", "completion", "tokens", "truncated", "reward", "verdict"} < set(
        found[0]
    )
    for row in found:
        lost = row["verdict"]["status"] == "infra_error"
        assert (row["reward"] is None) == lost
        assert not lost or row["advantage"] is None
        assert row["tokens"] == 8 or not row["truncated"]
    assert rows(run, "infra.jsonl") == [
        row for row in found if row["verdict"]["status"] == "infra_error"
    ]
    metrics = rows(run, "metrics.jsonl")
    assert [row["step"] for row in metrics] == [1, 2, 3, 4, 5]
    for key in ("loss", "reward", "kl", "verify_s", "verify_share", "status/ok", "q", "idle_step"):
        assert key in metrics[0], key
    assert sum(metrics[0][f"status/{status}"] for status in Status) == pytest.approx(1)
    assert all(earlier["time_s"] <= later["time_s"] for earlier, later in pairwise(metrics))
    load_policy(run.path / "final")


@pytest.mark.parametrize(
    ("end", "given"),
    [
        pytest.param(4, {}, id="dies after step 3, checkpoint at 2"),
        pytest.param(5, {}, id="dies after step 4, at a checkpoint"),
        pytest.param(1, {}, id="dies before the first checkpoint"),
        pytest.param(
            7,
            {"gradient_accumulation_steps": 2, "steps_per_generation": 1, "save_steps": 1},
            id="two generations a step",
        ),
        pytest.param(3, {"num_iterations": 2}, id="samples used twice"),
    ],
)
def test_a_killed_run_goes_on_as_if_it_had_not_been(go, tmp_path, end, given):
    whole = go(tmp_path / "whole", ByLength(), **given)
    with pytest.raises(RuntimeError, match="killed"):
        go(tmp_path / "cut", ByLength(end), **given)
    resumed = go(tmp_path / "cut", ByLength(), **given)
    assert rows(resumed) == rows(whole)
    clocks = ("time_s", "verify_s", "verify_share", "step_time")
    for mine, theirs in zip(
        rows(resumed, "metrics.jsonl"), rows(whole, "metrics.jsonl"), strict=True
    ):
        for key in set(theirs) - set(clocks):
            assert mine[key] == pytest.approx(theirs[key], rel=1e-6), key
    one, other = (run.path / "final/model.safetensors" for run in (whole, resumed))
    assert one.read_bytes() == other.read_bytes()


def test_the_control_trains_on_random_rewards_and_logs_the_true_verdicts(go, tmp_path):
    own = {"random_reward": True, "reward_lambda": 0.5, "reward_nu_max": 4.0}
    first, again, other = (
        rows(go(tmp_path / name, ByLength(), own, seed=seed, max_steps=2))
        for name, seed in (("a", 0), ("b", 0), ("c", 1))
    )
    assert first == again != other
    scored = [row for row in first if row["reward"] is not None]
    assert all(-1 <= row["reward"] <= 3 for row in scored)
    assert len({row["reward"] for row in scored}) == len(scored)
    assert any(row["reward"] != row["verdict"]["reward"] for row in scored)
    assert all(row["verdict"]["reward"] is None for row in first if row["reward"] is None)


def test_a_verifier_that_is_down_stops_the_run_which_then_resumes_exactly(go, tmp_path):
    whole = go(tmp_path / "whole", ByLength())
    with pytest.raises(UserError, match="could judge none of 8 kernels: worker_lost"):
        go(tmp_path / "cut", ByLength(out_at=4))
    resumed = go(tmp_path / "cut", ByLength())
    assert rows(resumed) == rows(whole)


def test_a_torn_checkpoint_is_not_resumed(tmp_path):
    for step, state in ((2, "{}"), (4, '{"glob'), (6, None)):
        (tmp_path / f"checkpoint-{step}").mkdir()
        if state is not None:
            (tmp_path / f"checkpoint-{step}/trainer_state.json").write_text(state)
    assert last_checkpoint(tmp_path) == (tmp_path / "checkpoint-2", 2)
    assert last_checkpoint(tmp_path / "checkpoint-2") == (None, 0)


def test_lines_of_lost_steps_are_cut_and_no_others(tmp_path):
    run = RunFolder(tmp_path)
    for step in (1, 2, 2, 3):
        run.append("samples.jsonl", {"step": step})
    run.append("verdicts.jsonl", {"key": "kept"})
    forget_after(run, 2, BY_STEP)
    assert run.read("samples.jsonl") == [{"step": 1}, {"step": 2}, {"step": 2}]
    assert run.read("verdicts.jsonl") == [{"key": "kept"}]
    assert not (tmp_path / "infra.jsonl").exists()
    assert json.loads((tmp_path / "samples.jsonl").read_text().splitlines()[0]) == {"step": 1}
