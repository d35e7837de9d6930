"""What is held out for evaluation never occurs in training, and is made of known operators."""

from kernelwright.data_synth.catalogue import FAMILIES
from kernelwright.data_synth.draw import chosen, draw
from kernelwright.data_synth.split import covered, held_out, validation


def test_training_and_evaluation_share_no_composition() -> None:
    train, held = draw(list(FAMILIES), 0, 240, 24, 0.15)
    assert (len(train), len(held)) == (240, 24)
    known = {(each.task.family, each.task.operators) for each in train}
    assert not known & {(each.task.family, each.task.operators) for each in held}
    assert len({each.task.id for each in (*train, *held)}) == 264


def test_what_is_held_out_is_made_of_trained_operators() -> None:
    train, held = draw(list(FAMILIES), 3, 120, 24, 0.15)
    operators = [each.task.operators for each in train]
    assert all(covered(each.task.operators, operators) for each in held)
    assert not covered(("relu", "unheard_of"), operators)


def test_a_larger_draw_begins_with_the_smaller_one() -> None:
    small, _ = draw(list(FAMILIES), 0, 30, 0, 0.15)
    large, _ = draw(list(FAMILIES), 0, 60, 0, 0.15)
    assert large[:30] == small


def test_single_operators_are_never_held_out() -> None:
    assert not held_out("elementwise", ("relu",), 0.999)
    assert held_out("elementwise", ("relu", "tanh"), 0.999)


def test_the_share_is_kept_and_its_sets_are_nested() -> None:
    compositions = [("family", (str(i), "relu")) for i in range(4000)]
    few = {each for each in compositions if held_out(*each, 0.15)}
    many = {each for each in compositions if held_out(*each, 0.3)}
    assert few < many
    assert 0.13 < len(few) / 4000 < 0.17
    assert 0.03 < sum(validation(str(i), 0.05) for i in range(4000)) / 4000 < 0.07


def test_answers_are_chosen_by_name_and_number_the_same_way_each_time() -> None:
    answers = {name: name for name in ("naive", "fused", "parallel", "vector")}
    assert chosen(answers, (), 0, "a") == answers
    assert list(chosen(answers, ("vector", "naive"), 0, "a")) == ["naive", "vector"]
    assert len(chosen(answers, (), 2, "a")) == 2
    assert chosen(answers, (), 2, "a") == chosen(answers, (), 2, "a")
