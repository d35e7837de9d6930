"""The catalogue as text: deterministic, legal, in several mechanisms, and free of torch."""

import ast
import subprocess
import sys

import pytest

from kernelwright.data_synth.catalogue import FAMILIES, sample
from kernelwright.data_synth.operators import TABLE
from kernelwright.rewards.static_legality import violations


def test_there_are_many_families_and_pointwise_operators() -> None:
    assert len(FAMILIES) >= 15
    assert len(TABLE) >= 14


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_answers_in_three_mechanisms_or_more(family: str) -> None:
    for seed in range(20):
        answers = sample(family, seed).answers
        assert len(set(answers.values())) == len(answers) >= 3


@pytest.mark.parametrize("family", FAMILIES)
def test_a_draw_depends_on_family_and_seed_alone(family: str) -> None:
    assert sample(family, 5) == sample(family, 5)
    assert len({sample(family, seed).reference for seed in range(10)}) > 5


@pytest.mark.parametrize("family", FAMILIES)
def test_references_are_in_the_kernelbench_format_without_seeds(family: str) -> None:
    spec = sample(family, 1)
    tree = ast.parse(spec.reference)
    names = {node.name for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    assert names == {"Model", "get_inputs", "get_init_inputs"}
    assert "seed" not in spec.reference
    assert spec.operators and spec.family == family


@pytest.mark.parametrize("family", FAMILIES)
def test_every_answer_is_legal_as_text(family: str) -> None:
    for source in sample(family, 2).answers.values():
        assert violations(source) == []


def test_an_unknown_family_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="no family 'sofmax'; families: elementwise"):
        sample("sofmax", 0)


def test_drawing_does_not_import_torch() -> None:
    code = (
        "import sys; from kernelwright.data_synth.draw import draw; "
        "draw(['softmax', 'matmul'], 0, 20, 2, 0.3); sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
