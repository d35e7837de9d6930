"""The extraction contract."""

import pytest

from kernelwright.rewards.candidate import MAX_SOURCE_BYTES, ExtractError, extract
from kernelwright.rewards.prompt import answer

ANSWER = "import torch\nclass ModelNew(torch.nn.Module):\n    pass"


def test_an_answer_comes_back_as_it_was_written() -> None:
    assert extract(answer(ANSWER)).strip() == ANSWER


def test_drafts_in_the_reasoning_are_not_the_answer() -> None:
    text = f"<think>\n```python\nclass ModelNew: ...\n```\n</think>\n{answer(ANSWER)}"
    assert extract(text).strip() == ANSWER


def test_a_block_that_only_quotes_is_passed_over() -> None:
    assert extract(f"```cpp\nint x;\n```\n{answer(ANSWER)}").strip() == ANSWER


@pytest.mark.parametrize(
    ("completion", "detail"),
    [
        ("I cannot do that.", "no_code_block"),
        ("", "no_code_block"),
        (f"```python\n{ANSWER}", "unclosed_code_block"),
        ("```python\nx = 1\n```", "no_model_new"),
        (f"{answer(ANSWER)}\n{answer(ANSWER)}", "two_answers"),
        (answer(ANSWER + "\n#" + "x" * MAX_SOURCE_BYTES), "source_too_long"),
        ("x" * (5 << 20), "completion_too_long"),
    ],
)
def test_a_broken_contract_is_named(completion: str, detail: str) -> None:
    with pytest.raises(ExtractError, match=f"^{detail}$"):
        extract(completion)
