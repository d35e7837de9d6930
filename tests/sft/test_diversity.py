"""Representatives differ in mechanism; copies do not count; each epoch draws one of them."""

from collections import Counter

from kernelwright.data_synth.catalogue import sample
from kernelwright.rewards.prompt import answer
from kernelwright.sft.diversity import choose, distance, profile
from kernelwright.sft.selection import epochs, representatives, split

ANSWERS = sample("softmax", 1).answers


def row(task: str, completion: str, status: str = "ok") -> dict:
    return {"task": task, "completion": completion, "verdict": {"status": status}}


def test_a_copy_is_at_no_distance_and_another_mechanism_is() -> None:
    first, *others = [profile(source) for source in ANSWERS.values()]
    spaced = next(iter(ANSWERS.values())).replace("  for (", "  // a loop\n    for (")
    assert distance(first, profile(spaced)) == 0
    assert all(0 < distance(first, other) <= 1 for other in others)


def test_renaming_is_nearer_than_another_mechanism() -> None:
    naive, parallel = ANSWERS["naive"], ANSWERS["parallel"]
    renamed = naive.replace("cols", "width")
    near = distance(profile(naive), profile(renamed))
    assert 0 < near < distance(profile(naive), profile(ANSWERS["online"]))
    assert distance(profile(naive), profile(parallel)) > 0


def test_copies_are_never_chosen_and_mechanisms_come_before_renamings() -> None:
    sources = [ANSWERS["naive"]] * 3 + [ANSWERS["naive"].replace("cols", "width")]
    sources += [ANSWERS["parallel"], ANSWERS["online"]]
    chosen = choose(sources, 3)
    assert len(chosen) == 3
    assert {4, 5} <= set(chosen)
    assert len(choose(sources, 9)) == 4
    assert choose([], 3) == []


def test_only_verified_answers_represent_a_task() -> None:
    naive, online = answer(ANSWERS["naive"]), answer(ANSWERS["online"])
    rows = [row("a", naive), row("a", online), row("a", naive), row("b", naive, "timeout")]
    found = representatives(rows, 6)
    assert sorted(found) == ["a"]
    assert sorted(found["a"]) == sorted([naive, online])


def test_each_epoch_has_each_task_once_and_members_change() -> None:
    members = {"a": ["1", "2", "3"], "b": ["4"], "c": ["5", "6"]}
    rows = epochs(members, sorted(members), 30, seed=3)
    assert rows == epochs(members, sorted(members), 30, seed=3)
    assert rows != epochs(members, sorted(members), 30, seed=4)
    for start in range(0, 30, 3):
        assert sorted(task for task, _ in rows[start : start + 3]) == ["a", "b", "c"]
    assert set(Counter(text for task, text in rows if task == "a")) == {"1", "2", "3"}


def test_validation_tasks_are_apart_and_never_all() -> None:
    tasks = [str(number) for number in range(20)]
    train, valid = split(tasks, 0.1)
    assert len(valid) == 2 and sorted(train + valid) == sorted(tasks)
    assert split(["a"], 0.5) == (["a"], [])
    assert split(tasks, 0)[1] == []
