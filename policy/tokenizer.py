"""A tokenizer trained from scratch: bytes, words, and whole lines that recur.

Kernels repeat their lines, so a line that recurs in the training texts is one token and a short
answer costs tens of tokens, not hundreds. Decimal numbers stand apart, so that an operator is the
same token whatever its constant, and a constant is copied. Any other text is spelled from merges
learnt inside words, with digits apart, down to single bytes: decoding gives back exactly what was
encoded. The chat template is ChatML without the newline after a turn, so that ``<|im_end|>`` is a
turn's last token. It does not read tokenizers of pretrained models: `load` does.
"""

import json
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from transformers import PreTrainedTokenizerFast

END, PAD = "<|im_end|>", "<|pad|>"
SPECIAL = ["<|im_start|>", END, PAD]
WORD_SHARE = 0.35
"""Of the vocabulary beyond single bytes, what goes to pieces of words; lines take the rest."""
DECIMAL = r"\d+\.\d+(e-?\d+)?"
LINE_COUNT = 3
"""How often a line, or what a decimal leaves of it, must occur to become a token."""
MIN_VOCAB = 512

CHAT_TEMPLATE = (
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message['role'] + '\n' }}"
    "{% if message['role'] == 'assistant' %}"
    "{% generation %}{{ message['content'] + '<|im_end|>' }}{% endgeneration %}"
    "{% else %}{{ message['content'] + '<|im_end|>' }}{% endif %}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


def train_tokenizer(texts: Iterable[str], vocab_size: int = 2048) -> "PreTrainedTokenizerFast":
    """A tokenizer of at most *vocab_size* tokens, learnt from *texts*.

    ``ValueError`` where *vocab_size* leaves no room beside the single bytes.
    """
    if vocab_size < MIN_VOCAB:
        raise ValueError(f"vocab_size must be at least {MIN_VOCAB}, not {vocab_size}")
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    texts = list(texts)
    words = _word_model(texts, 256 + int((vocab_size - 256 - len(SPECIAL)) * WORD_SHARE))
    vocab: dict[str, int] = dict(words["vocab"])
    tokenizer = Tokenizer(models.BPE(vocab, words["merges"], ignore_merges=True))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(DECIMAL), behavior="isolated"),
            pre_tokenizers.Split("\n", behavior="merged_with_previous"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    for line in _lines(texts, tokenizer, vocab_size - len(SPECIAL) - len(vocab)):
        vocab[line] = len(vocab)
    tokenizer.model = models.BPE(vocab, words["merges"], ignore_merges=True)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(SPECIAL)
    trained = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token=END,
        pad_token=PAD,
        padding_side="left",
        clean_up_tokenization_spaces=False,
    )
    trained.chat_template = CHAT_TEMPLATE
    return trained


def _word_model(texts: list[str], size: int) -> dict[str, Any]:
    """Vocabulary and merges of a byte-level BPE that never crosses a word or joins digits."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(False)]
    )
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        min_frequency=2,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    lines = dict.fromkeys(line for text in texts for line in text.splitlines(keepends=True))
    tokenizer.train_from_iterator(lines, trainer)
    model = json.loads(tokenizer.to_str())["model"]
    return {"vocab": model["vocab"], "merges": [tuple(pair) for pair in model["merges"]]}


def _lines(texts: list[str], tokenizer: "Tokenizer", room: int) -> list[str]:
    """The at most *room* lines whose tokens save most, in the byte alphabet, best first."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(piece for piece, _ in tokenizer.pre_tokenizer.pre_tokenize_str(text))
    savings = {
        line: count * (len(tokenizer.model.tokenize(line)) - 1)
        for line, count in counts.items()
        if count >= LINE_COUNT
    }
    worth = [line for line, saved in savings.items() if saved > 0]
    return sorted(worth, key=lambda line: (-savings[line], line))[:room]
