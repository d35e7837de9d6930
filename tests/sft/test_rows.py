"""What is trained on: verified rows, the last turn, whole answers."""

import json
from dataclasses import fields
from pathlib import Path

import pytest

from kernelwright.configs.errors import UserError
from kernelwright.policy.tokenizer import train_tokenizer
from kernelwright.sft.arguments import SFTArguments
from kernelwright.sft.rows import Row, fitting, read_pairs

OK = json.dumps({"status": "ok"})


def write(file: Path, *rows: dict) -> Path:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def turn(role: str, content: str) -> dict[str, str]:
    return {"role": role, "content": content}


def row(verdict: str = OK, split: str = "train", **more: object) -> dict:
    found = {"prompt": [turn("user", "q")], "completion": [turn("assistant", "a")]}
    return {**found, "split": split, "verdict": verdict, **more}


def test_only_verified_rows_are_read(tmp_path: Path) -> None:
    wrong = json.dumps({"status": "correctness_error"})
    file = write(tmp_path / "p.jsonl", row(), row(wrong), row(split="valid"))
    train, valid = read_pairs(file)
    assert len(train) == len(valid) == 1
    with pytest.raises(UserError, match="no verified pair"):
        read_pairs(write(tmp_path / "q.jsonl", row(wrong)))


def test_the_last_message_is_the_completion_and_earlier_reasoning_goes(tmp_path: Path) -> None:
    turns = [turn("user", "q"), turn("assistant", "<think>no</think>\nfirst"), turn("user", "fix")]
    last = turn("assistant", "<think>yes</think>second")
    file = write(
        tmp_path / "p.jsonl",
        row(prompt=turns, completion=[last]),
        row(prompt=turns[:1], completion=[*turns[1:], last]),
    )
    expected = Row([turns[0], turn("assistant", "first"), turns[2]], [last])
    assert read_pairs(file)[0] == [expected, expected]


def test_a_row_that_is_no_pair_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"line 2 is not a pair: no 'verdict'"):
        read_pairs(write(tmp_path / "p.jsonl", row(), {"prompt": []}))


def test_rows_that_do_not_fit_are_left_out_whole(caplog) -> None:
    tokenizer = train_tokenizer(["x"], 512)
    short = Row([turn("user", "q")], [turn("assistant", "a")])
    long = Row([turn("user", "q")], [turn("assistant", "a" * 99)])
    assert fitting([short, long], tokenizer, 60) == [short]
    assert "1 of 2 rows left out" in caplog.text
    assert fitting([short, long], tokenizer, None) == [short, long]


def test_no_setting_of_ours_hides_one_of_the_trainers() -> None:
    from trl import ModelConfig, SFTConfig

    ours = {field.name for field in fields(SFTArguments)}
    assert not ours & {field.name for each in (SFTConfig, ModelConfig) for field in fields(each)}
