"""Models are saved and loaded as ordinary folders; mistakes are one line."""

from pathlib import Path

import pytest
import torch

from kernelwright.configs.errors import UserError
from kernelwright.policy.load import load_for_training, load_policy
from kernelwright.policy.scratch import dimensions, save_scratch, scratch_model
from kernelwright.policy.tokenizer import train_tokenizer

TURN = [{"role": "user", "content": "x"}]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("policy") / "model"
    return save_scratch("64x2", train_tokenizer(["a line\n" * 5], 512), path, seed=1)


def logits(model, tokenizer) -> torch.Tensor:
    ids = tokenizer.apply_chat_template(TURN, return_tensors="pt", return_dict=True)
    with torch.no_grad():
        return model(input_ids=ids["input_ids"]).logits


def test_a_saved_model_gives_the_same_logits(folder: Path) -> None:
    model, tokenizer = load_policy(folder)
    fresh = scratch_model("64x2", tokenizer, seed=1).eval()
    assert torch.equal(logits(model.eval(), tokenizer), logits(fresh, tokenizer))
    assert not torch.equal(
        logits(fresh, tokenizer), logits(scratch_model("64x2", tokenizer, seed=2), tokenizer)
    )


def test_an_adapter_loads_merged_or_trainable(folder: Path, tmp_path: Path) -> None:
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM

    model, tokenizer = load_policy(folder)
    plain = logits(model.eval(), tokenizer)
    adapted = get_peft_model(model, LoraConfig(r=4, init_lora_weights=False))
    expected = logits(adapted.eval(), tokenizer)
    adapted.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)

    merged, _ = load_policy(tmp_path)
    kept, _ = load_policy(tmp_path, merge=False)
    assert not torch.allclose(plain, expected, atol=1e-4)
    assert torch.allclose(logits(merged.eval(), tokenizer), expected, atol=1e-4)
    assert torch.allclose(logits(kept.eval(), tokenizer), expected, atol=1e-4)
    assert any(weight.requires_grad for weight in kept.parameters())
    # What a trainer does for its reference model: load again by the path the model knows.
    again = AutoModelForCausalLM.from_pretrained(merged.config._name_or_path)
    assert torch.allclose(logits(again.eval(), tokenizer), expected, atol=1e-4)


def test_an_adapter_on_an_adapter_loads(folder: Path, tmp_path: Path) -> None:
    from peft import LoraConfig, get_peft_model

    for name, base in (("first", folder), ("second", tmp_path / "first")):
        model, tokenizer = load_policy(base)
        adapted = get_peft_model(model, LoraConfig(r=4, init_lora_weights=False))
        expected = logits(adapted.eval(), tokenizer)
        adapted.save_pretrained(tmp_path / name)
        tokenizer.save_pretrained(tmp_path / name)
    again, tokenizer = load_policy(tmp_path / "second")
    assert torch.allclose(logits(again.eval(), tokenizer), expected, atol=1e-4)


def test_a_trainers_model_config_names_model_dtype_and_lora(folder: Path) -> None:
    from trl import ModelConfig

    config = ModelConfig(model_name_or_path=str(folder), dtype="bfloat16", use_peft=True, lora_r=4)
    model, _, peft_config = load_for_training(config)
    assert model.dtype is torch.bfloat16
    assert peft_config.r == 4


@pytest.mark.parametrize("name", ["no/such/folder", "./missing", "/missing", "missing"])
def test_a_missing_folder_is_one_line(name: str) -> None:
    with pytest.raises(UserError, match="no model folder") as caught:
        load_policy(name)
    assert "\n" not in str(caught.value)


def test_a_folder_without_a_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="holds neither"):
        load_policy(tmp_path)


def test_sizes_are_names_or_dimensions() -> None:
    assert dimensions("1m") == (128, 4)
    assert dimensions("64x2") == (64, 2)
    for wrong in ("2m", "100x2", "0x2", "64x0", "x"):
        with pytest.raises(UserError, match="no model size"):
            dimensions(wrong)
