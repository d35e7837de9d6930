"""Comparison: what small, shuffled, missing and non-finite outputs look like."""

import pytest
import torch

from kernelwright.rewards.compare import Tolerance, error, mismatch, within, worst_index

LOOSE = Tolerance(1e-3, 1e-3)


def test_zeros_are_wrong_however_small_the_output_is() -> None:
    expected = torch.rand(4, 100, dtype=torch.float64) * 1e-9
    assert not within(error(expected, torch.zeros(4, 100)), LOOSE)


def test_one_wrong_small_row_among_large_ones_shows() -> None:
    expected = torch.ones(8, 64, dtype=torch.float64) * 100
    expected[3] = 0.5
    given = expected.float()
    given[3] = 0.6
    found = error(expected, given)
    assert found is not None
    assert worst_index(expected, given)[0] == 3
    assert found.largest == pytest.approx(0.2, rel=1e-3)


def test_error_is_relative_to_the_row() -> None:
    expected = torch.tensor([[3.0, 4.0]], dtype=torch.float64)  # rms sqrt(12.5)
    found = error(expected, torch.tensor([[3.0, 4.1]]))
    assert found is not None
    assert found.largest == pytest.approx(0.1 / 12.5**0.5, rel=1e-5)
    assert found.rms == pytest.approx(found.largest / 2**0.5, rel=1e-5)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_a_non_finite_value_where_none_belongs_is_wrong(value: float) -> None:
    expected = torch.ones(3, 3, dtype=torch.float64)
    given = torch.ones(3, 3)
    given[1, 1] = value
    assert error(expected, given) is None
    assert not within(None, LOOSE)


def test_equal_infinities_and_nans_are_right_and_opposite_ones_wrong() -> None:
    expected = torch.tensor([1.0, float("inf"), float("nan")], dtype=torch.float64)
    assert within(error(expected, expected.float()), LOOSE)
    flipped = torch.tensor([1.0, float("-inf"), float("nan")])
    assert error(expected, flipped) is None


def test_integers_are_exact() -> None:
    assert error(torch.tensor([1, 2]), torch.tensor([1, 3])) is None
    assert within(error(torch.tensor([1, 2]), torch.tensor([1, 2])), LOOSE)


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ({"output": torch.zeros(2, 3)}, "structure"),
        ({"output": (torch.zeros(2, 4),)}, "shape"),
        ({"output": (torch.zeros(2, 3).half(),)}, "dtype"),
        ({"output": [torch.zeros(2, 3)]}, "structure"),
    ],
)
def test_structure_shape_and_type_must_match(given: object, what: str) -> None:
    expected = {"output": (torch.zeros(2, 3).double(),)}
    found = mismatch(expected, given, ["torch.float32"])
    assert found is not None
    assert found.startswith(what)
