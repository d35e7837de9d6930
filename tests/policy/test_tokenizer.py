"""The from-scratch tokenizer: nothing is lost, recurring lines are short, turns keep prefixes."""

import pytest

from kernelwright.data_synth.catalogue import FAMILIES, sample
from kernelwright.policy.tokenizer import train_tokenizer


def texts() -> list[str]:
    specs = [sample(family, seed) for family in FAMILIES for seed in range(6)]
    return [text for spec in specs for text in (spec.reference, *spec.answers.values())]


@pytest.fixture(scope="module")
def tokenizer():
    return train_tokenizer(texts(), 1024)


@pytest.mark.parametrize(
    "text",
    ["", " \n\n\t x", "naïve → 数 \x00 \ud7ff\r\n", "x = x * 123.456e-7\n", "<|im_end|> in a text"],
)
def test_any_text_comes_back(tokenizer, text: str) -> None:
    assert tokenizer.decode(tokenizer(text)["input_ids"]) == text


def test_kernels_come_back_and_cost_tens_of_tokens(tokenizer) -> None:
    lengths = []
    for text in texts():
        ids = tokenizer(text)["input_ids"]
        assert tokenizer.decode(ids) == text
        lengths.append(len(ids))
    assert sum(lengths) / len(lengths) < 100


def test_a_boilerplate_line_is_one_token_and_rare_digits_stay_apart(tokenizer) -> None:
    assert len(tokenizer("import torch.nn as nn\n")["input_ids"]) == 1
    tokens = tokenizer.tokenize("x = 1984.27\n")
    assert [token for token in tokens if token.isdigit()] == list("198427")


def test_a_constant_is_a_token_apart_from_its_operator() -> None:
    lines = [f"v = v * {constant}f;\n" for constant in (0.25, 0.5, 1.5) for _ in range(3)]
    tokenizer = train_tokenizer(lines, 512)
    assert [tokenizer.decode(token) for token in tokenizer(lines[0])["input_ids"]] == [
        "v = v * ",
        "0.25",
        "f;\n",
    ]


def test_vocabulary_stays_within_its_size() -> None:
    assert len(train_tokenizer(texts(), 512)) <= 512


def test_two_trainings_agree(tokenizer) -> None:
    assert train_tokenizer(texts(), 1024).get_vocab() == tokenizer.get_vocab()


def test_a_conversation_extends_its_own_prefix(tokenizer) -> None:
    turns = [
        {"role": "user", "content": "write"},
        {"role": "assistant", "content": "```python\nx\n```"},
        {"role": "user", "content": "again"},
        {"role": "assistant", "content": "y"},
    ]
    whole = tokenizer.apply_chat_template(turns, return_dict=False)
    for end in (1, 3):
        prefix = tokenizer.apply_chat_template(
            turns[:end], add_generation_prompt=True, return_dict=False
        )
        assert whole[: len(prefix)] == prefix


def test_the_template_marks_what_the_assistant_says(tokenizer) -> None:
    turns = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    found = tokenizer.apply_chat_template(
        turns, return_dict=True, return_assistant_tokens_mask=True
    )
    marked = [
        token
        for token, mark in zip(found["input_ids"], found["assistant_masks"], strict=True)
        if mark
    ]
    assert tokenizer.decode(marked) == "b<|im_end|>"


def test_end_and_padding_differ(tokenizer) -> None:
    assert tokenizer.eos_token == "<|im_end|>"
    assert tokenizer.pad_token_id != tokenizer.eos_token_id


def test_a_vocabulary_smaller_than_the_bytes_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 512"):
        train_tokenizer(["x"], 300)
