"""Load a causal language model and its tokenizer from a folder: full weights or a LoRA adapter.

An adapter is loaded on the model that it names. Merged, which is the default, the result is a plain
model that still knows the adapter's folder as its own, so that a trainer which loads its reference
model by path gets the same weights. Loading never runs code from the folder.
"""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernelwright.configs.errors import UserError

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase
    from trl import ModelConfig

ADAPTER = "adapter_config.json"
DTYPES = ("auto", "float32", "bfloat16", "float16")


def load_policy(
    path: str | Path, dtype: str = "auto", merge: bool = True, **options: Any
) -> tuple["PreTrainedModel", "PreTrainedTokenizerBase"]:
    """The model in *path* (a folder, or a hub name) and its tokenizer.

    *merge* folds a LoRA adapter into the weights; without it the adapter stays trainable.
    *options* go to ``from_pretrained``. `UserError` where *path* holds no model.
    """
    if dtype not in DTYPES:
        raise UserError(f"no dtype {dtype!r}; dtypes: {', '.join(DTYPES)}")
    path = _checked(path)
    tokenizer = load_tokenizer(path, options.get("revision"))
    return _model(path, merge, {**options, "dtype": dtype}), tokenizer


def load_tokenizer(path: str | Path, revision: str | None = None) -> "PreTrainedTokenizerBase":
    """The tokenizer in *path*, padding on the left; `UserError` where it has no chat template."""
    from transformers import AutoTokenizer

    path = _checked(path)
    try:
        tokenizer = AutoTokenizer.from_pretrained(
            path, revision=revision or "main", padding_side="left"
        )
    except (OSError, ValueError) as error:
        raise UserError(f"cannot load a tokenizer from {path}: {_first_line(error)}") from None
    if tokenizer.chat_template is None:
        raise UserError(f"the tokenizer in {path} has no chat template; use a chat model")
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    return tokenizer


def load_for_training(
    model_config: "ModelConfig", path: str | Path | None = None
) -> tuple["PreTrainedModel", "PreTrainedTokenizerBase", Any]:
    """Model, tokenizer and LoRA configuration (or None) as TRL's *model_config* asks.

    *path*, where given, replaces ``model_name_or_path``.
    """
    from trl import get_peft_config, get_quantization_config

    path = model_config.model_name_or_path if path is None else path
    if path is None:
        raise UserError("no model named; set model_name_or_path")
    options: dict[str, Any] = {"revision": model_config.model_revision}
    if model_config.attn_implementation is not None:
        options["attn_implementation"] = model_config.attn_implementation
    if (quantization := get_quantization_config(model_config)) is not None:
        options["quantization_config"] = quantization
    model, tokenizer = load_policy(path, dtype=model_config.dtype or "auto", **options)
    return model, tokenizer, get_peft_config(model_config)


def _model(path: str, merge: bool, options: dict[str, Any]) -> "PreTrainedModel":
    from transformers import AutoModelForCausalLM

    try:
        if (Path(path) / ADAPTER).is_file():
            return _adapted(path, merge, options)
        return AutoModelForCausalLM.from_pretrained(path, **options)
    except (OSError, ValueError) as error:
        raise UserError(f"cannot load a model from {path}: {_first_line(error)}") from None


def _adapted(path: str, merge: bool, options: dict[str, Any]) -> "PreTrainedModel":
    """The adapter in *path* on the model it names, which may be an adapter itself."""
    from peft import PeftModel

    base = json.loads((Path(path) / ADAPTER).read_text())["base_model_name_or_path"]
    model = _model(_checked(base), True, options)
    adapted: Any = PeftModel.from_pretrained(model, path, is_trainable=not merge)
    if merge:
        adapted = adapted.merge_and_unload()
        # The second is what a further adapter names as its base.
        adapted.config._name_or_path = adapted.name_or_path = path
    return adapted


def _checked(path: str | Path) -> str:
    """*path* as text; `UserError` for a folder that is absent or holds no model.

    ``owner/name`` that is no folder here may be a model on the hub.
    """
    folder = Path(path).expanduser()
    if folder.is_dir():
        if not any((folder / name).is_file() for name in ("config.json", ADAPTER)):
            raise UserError(f"no model in {folder}: it holds neither config.json nor {ADAPTER}")
        return str(folder)
    text = str(path)
    if text.startswith(("/", ".", "~")) or text.count("/") != 1 or folder.parent.is_dir():
        raise UserError(f"no model folder {text}")
    return text


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
