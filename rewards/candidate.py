"""A candidate answer, and the deterministic contract that takes its source from a completion.

The contract: text after the last ``</think>``, if any; in it the one fenced code block that defines
``ModelNew``. No block, an unclosed one, two answers or an oversized one is an `ExtractError`, whose
text is the verdict's detail. The code is not parsed here beyond that, and never run.
"""

import hashlib
import re
from dataclasses import dataclass

MAX_SOURCE_BYTES = 256 * 1024
MAX_COMPLETION_BYTES = 4 * 1024 * 1024
_FENCE = re.compile(r"^```[ \t]*([\w+-]*)[ \t]*\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)
_MODEL = re.compile(r"^class\s+ModelNew\b", re.MULTILINE)


class ExtractError(ValueError):
    """The completion holds no single answer; the message is a stable short detail."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """An answer: the completion text and the source extracted from it."""

    completion: str
    source: str

    @property
    def digest(self) -> str:
        """Content hash of the source alone: the reasoning around it does not change a verdict."""
        return hashlib.sha256(self.source.encode()).hexdigest()[:16]

    @classmethod
    def from_source(cls, source: str) -> "Candidate":
        """A candidate from a bare Python module, as in an answer file."""
        return cls(completion=source, source=source)


def extract(completion: str) -> str:
    """The source in *completion*, or `ExtractError` saying which part of the contract it broke."""
    if len(completion.encode(errors="replace")) > MAX_COMPLETION_BYTES:
        raise ExtractError("completion_too_long")
    text = completion.rsplit("</think>", 1)[-1]
    blocks = [body for _, body in _FENCE.findall(text)]
    answers = [body for body in blocks if _MODEL.search(body)]
    if not blocks:
        raise ExtractError("unclosed_code_block" if "```" in text else "no_code_block")
    if not answers:
        raise ExtractError("no_model_new")
    if len(answers) > 1:
        raise ExtractError("two_answers")
    source = answers[0]
    if len(source.encode(errors="replace")) > MAX_SOURCE_BYTES:
        raise ExtractError("source_too_long")
    return source
