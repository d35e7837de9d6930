"""Each example is judged as its page says."""

import re
from pathlib import Path

import pytest

from kernelwright.rewards.candidate import Candidate
from kernelwright.rewards.task import Task
from kernelwright.rewards.verdict import Verdict
from kernelwright.rewards.verifier import LocalVerifier, VerifierOptions

EXAMPLES = Path(__file__).parents[1] / "examples"
EXPECTED = {
    "rmsnorm_llama_honest": "ok",
    "rmsnorm_llama_wrong": "correctness_error:values",
    "gated_mlp_honest": "ok",
    "gated_mlp_wrong": "cheating:submodule:self.gate_proj",
    "softmax_masked_honest": "ok",
    "softmax_masked_wrong": "correctness_error:non_finite",
}


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Verdict]:
    pairs = []
    for name in EXPECTED:
        task = name.rpartition("_")[0]
        source = (EXAMPLES / f"{name}.py").read_text()
        reference = Task(id=task, source=(EXAMPLES / f"{task}.py").read_text())
        pairs.append((reference, Candidate.from_source(source)))
    options = VerifierOptions(time=False, cache=tmp_path_factory.mktemp("cache"))
    with LocalVerifier(options) as verifier:
        return dict(zip(EXPECTED, verifier.verify_all(pairs), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("name", list(EXPECTED))
def test_example_gets_the_verdict_on_its_page(name: str, verdicts: dict[str, Verdict]) -> None:
    verdict = verdicts[name]
    assert verdict.label == EXPECTED[name], verdict.message
    assert f"`{EXPECTED[name]}`" in (EXAMPLES / "README.md").read_text()


@pytest.mark.slow
def test_overflow_shows_on_scaled_inputs_only(verdicts: dict[str, Verdict]) -> None:
    assert 0.8 < verdicts["softmax_masked_wrong"].q < 1
    assert verdicts["rmsnorm_llama_wrong"].q == 0


def test_every_example_is_judged_and_every_command_names_files() -> None:
    answers = {path.stem for path in EXAMPLES.glob("*_honest.py")}
    answers |= {path.stem for path in EXAMPLES.glob("*_wrong.py")}
    assert answers == set(EXPECTED)
    commands = re.findall(r"verify (\S+) (\S+)", (EXAMPLES / "README.md").read_text())
    assert len(commands) == len(EXPECTED)
    for task, answer in commands:
        assert (EXAMPLES.parent / task).is_file() and (EXAMPLES.parent / answer).is_file()
