"""The comparison of training seeds: its table, and that finished runs are not repeated."""

import pytest

from kernelwright.configs.errors import UserError
from kernelwright.configs.run_folder import RunFolder
from kernelwright.eval.arguments import EvalArguments
from kernelwright.eval.claim import ARMS, _once, report, samples_per_task


def row(task, correct, seed):
    status = "ok" if correct else "timeout"
    lower = 1.2 + 0.1 * seed
    speedup = {"eager": {"lower": lower, "median": lower, "upper": lower}} if correct else {}
    return {
        "task": task,
        "family": "toy",
        "reward": 1.0 if correct else -1.0,
        "verdict": {"status": status, "speedup": speedup, "gates": []},
    }


def test_the_report_holds_every_arm_and_seed_and_the_paired_differences():
    right = {"start": 1, "rl": 3, "random": 1}
    rows = {
        (arm, seed): [row(t, i < right[arm], int(seed)) for t in ("a", "b") for i in range(4)]
        for arm in ARMS
        for seed in ("0", "1")
    }
    text = report(rows, ["0", "1"], 4, ["eager"])
    for arm in ARMS:
        for label in ("seed 0", "seed 1", "all seeds"):
            assert f"| {arm}, {label} |" in text
    assert "| rl - start | correct | 0.500 [0.500, 0.500] | 0.500 [0.500, 0.500] |" in text
    assert "| random - start | reward | 0.000 [0.000, 0.000] |" in text
    assert "| rl - random | faster/eager | 0.500" in text
    assert "Only 2 tasks" in text


def test_a_row_holds_as_many_samples_as_asked_for():
    def settings(**given):
        return EvalArguments(model="", tasks="", output_dir="", **given)

    assert samples_per_task(settings(), tasks=24, wanted=200) == 9
    assert samples_per_task(settings(samples_per_task=16), tasks=24, wanted=200) == 16
    assert samples_per_task(settings(max_tasks=10), tasks=24, wanted=200) == 20


def test_a_finished_run_is_not_repeated_and_a_changed_one_is_refused(tmp_path, capfd):
    run, config = RunFolder(tmp_path), tmp_path / "stage.yaml"
    config.write_text("a: 1\n")
    broken = ["eval", "--config", str(config)]
    with pytest.raises(UserError, match="toy failed with status 2"):
        _once(run, "toy", broken, str(config))  # a is no key of eval
    assert run.read("done.jsonl") == []
    helped = ["eval", "--help"]
    _once(run, "toy", helped, str(config))
    assert "usage: python -m kernelwright.eval" in capfd.readouterr().out
    _once(run, "toy", helped, str(config))
    assert capfd.readouterr().out == ""  # nothing was started
    config.write_text("a: 2\n")
    with pytest.raises(UserError, match="changed after toy finished"):
        _once(run, "toy", helped, str(config))
