"""The figures, by hand."""

import pytest

from kernelwright.eval import metrics
from kernelwright.eval.intervals import Estimate, bootstrap, bootstrap_mean, wilson
from kernelwright.eval.metrics import Sample, faster, groups, median_speedup, pass_at_k
from kernelwright.eval.paired import difference, values
from kernelwright.eval.summary import summarise
from kernelwright.eval.table import markdown


def row(task, status="ok", lower=None, median=None, built=True, family="toy"):
    speedup = (
        {}
        if lower is None
        else {"eager": {"lower": lower, "median": median or lower, "upper": 9.0}}
    )
    unscored = status in ("infra_error", "invalid_problem")
    return {
        "task": task,
        "family": family,
        "reward": None if unscored else 1.0 if status == "ok" else -1.0,
        "verdict": {
            "status": status,
            "speedup": speedup,
            "gates": [{"name": "build", "passed": built}],
        },
    }


def tasks_of(rows):
    return groups([Sample.from_row(each) for each in rows])


def test_pass_at_k_is_the_unbiased_estimator():
    assert pass_at_k(8, 0, 8) == 0
    assert pass_at_k(8, 1, 8) == 1
    assert pass_at_k(8, 2, 1) == pytest.approx(0.25)
    assert pass_at_k(5, 2, 2) == pytest.approx(1 - 3 / 10)  # C(3,2) / C(5,2)
    assert pass_at_k(4, 3, 2) == 1  # no two of the four are both wrong
    assert pass_at_k(7, 7, 8) is None  # one sample was lost


def test_unscored_samples_are_in_no_denominator():
    rows = [row("a"), row("a", "timeout"), row("a", "infra_error"), row("b", "invalid_problem")]
    found = tasks_of(rows)
    assert [len(each) for each in found] == [2]
    summary = summarise(rows, "m", 3, ["eager"])
    assert summary["metrics"]["avg@3"]["value"] == 0.5
    assert summary["metrics"]["pass@3"]["value"] is None
    counts = summary["counts"]
    assert (counts["samples"], counts["scored"]) == (4, 2)
    assert (counts["infra_error"], counts["invalid_problem"]) == (1, 1)
    assert (counts["tasks"], counts["tasks_scored"], counts["tasks_short"]) == (2, 1, 1)


def test_a_task_with_more_samples_does_not_weigh_more():
    rows = [row("a")] + [row("b", "timeout")] * 3
    assert summarise(rows, "m", 1, [])["metrics"]["avg@1"]["value"] == 0.5


def test_faster_needs_the_lower_bound_and_correctness():
    rows = [
        row("a", lower=1.1, median=3.0),
        row("a", lower=1.11),
        row("a", "cheating", lower=9.0),
        row("a"),  # correct, never timed
    ]
    found = tasks_of(rows)
    assert metrics.share_by_task(found, faster("eager")) == [0.25]
    assert metrics.share_by_task(found, faster("compile")) == [0]
    assert metrics.share_by_task(found, faster("eager", 0.0)) == [0.75]  # fast_0 is correctness
    assert metrics.share_by_task(found, faster("eager", 1.0)) == [0.5]


def test_median_speedup_is_over_correct_and_timed_samples():
    rows = [row("a", lower=1.0, median=2.0), row("b", lower=1.0, median=4.0), row("b")]
    rows += [row("c", "timeout", lower=1.0, median=99.0)]
    assert median_speedup(tasks_of(rows), "eager") == 3.0
    assert median_speedup(tasks_of(rows), "compile") is None


def test_compiled_counts_the_build_gate():
    rows = [row("a", "correctness_error"), row("a", "compile_error", built=False)]
    rows += [row("a", "extract_error", built=None), row("a")]
    assert summarise(rows, "m", 4, [])["metrics"]["compiled"]["value"] == 0.5


def test_families_are_apart():
    rows = [row("a", family="norm"), row("b", "timeout", family="matmul")]
    found = summarise(rows, "m", 1, ["eager"])["families"]
    assert found["norm"]["avg@1"] == 1 and found["matmul"]["avg@1"] == 0
    assert found["norm"]["tasks"] == 1


def test_an_evaluation_without_any_scored_sample_has_no_figures_but_counts():
    summary = summarise([row("a", "infra_error")] * 2, "m", 2, ["eager"])
    assert all(each["value"] is None for each in summary["metrics"].values())
    assert summary["counts"]["infra_error"] == 2


def test_wilson_interval_by_hand():
    found = wilson(8, 10)
    assert (found.value, found.lower, found.upper) == pytest.approx(
        (0.8, 0.49016, 0.94331), abs=1e-4
    )
    assert wilson(0, 10).lower == 0
    assert wilson(0, 10).upper == pytest.approx(0.27753, abs=1e-4)
    assert wilson(0, 0) == Estimate(None)


def test_bootstrap_draws_tasks_and_is_the_same_for_the_same_seed():
    clusters = [0.0] * 5 + [1.0] * 5
    mean = bootstrap(clusters, lambda drawn: sum(drawn) / len(drawn), seed=3)
    assert mean.value == 0.5
    # binomial(10, 0.5) / 10: 2.5 % and 97.5 % lie at 0.2 and 0.8
    assert (mean.lower, mean.upper) == (0.2, 0.8)
    assert bootstrap_mean(clusters, seed=3) == mean
    assert bootstrap_mean(clusters, seed=3) == bootstrap_mean(clusters, seed=3)


def test_samples_of_one_task_do_not_narrow_the_interval():
    alike = tasks_of([row("a")] * 50 + [row("b", "timeout")] * 50)
    share = bootstrap_mean(metrics.share_by_task(alike, lambda sample: sample.correct))
    assert (share.lower, share.upper) == (0, 1)


def test_one_task_or_none_has_no_bootstrap_interval():
    assert bootstrap_mean([0.5]) == Estimate(0.5)
    assert bootstrap_mean([None]) == Estimate(None)
    assert bootstrap([], lambda _: None) == Estimate(None)


def test_a_draw_without_anything_to_measure_is_left_out():
    tasks = tasks_of([row("a", lower=1.0, median=2.0), row("b", "timeout")])
    found = bootstrap(tasks, lambda drawn: median_speedup(drawn, "eager"))
    assert (found.value, found.lower, found.upper) == (2, 2, 2)


def test_paired_difference_takes_common_tasks_only():
    ours = tasks_of([row("a"), row("a", "timeout"), row("b"), row("only_ours")])
    theirs = tasks_of([row("b", "timeout"), row("a", "timeout"), row("only_theirs")])
    found = difference(ours, theirs, values(["eager"])["correct"])
    assert found.value == 0.75  # (0.5 - 0 + 1 - 0) / 2
    assert (found.lower, found.upper) == (0.5, 1.0)


def test_the_table_holds_every_run_and_marks_what_one_lacks():
    summaries = {
        "sft": summarise([row("a"), row("b", "timeout")], "sft", 1, []),
        "rl": summarise([row("a", lower=2.0), row("b", lower=3.0)], "rl", 1, ["eager"]),
    }
    header, _, sft, rl = markdown(summaries).splitlines()
    assert "faster/eager" in header
    assert "| sft | 2 | 0 |" in sft and sft.rstrip(" |").endswith("-")
    assert "1.000 [1.000, 1.000]" in rl and "2.500 [2.000, 3.000]" in rl
