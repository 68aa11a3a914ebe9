"""Token counting and truncation in a model's own vocabulary."""

from __future__ import annotations

import json
import math
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cache, cached_property
from typing import TYPE_CHECKING, Protocol, TypeVar

from weftwork.errors import InvalidInput, UnknownName

if TYPE_CHECKING:
    import splintr
    import tokenizers

# The families of tiktoken/model.py, in this order: gpt-4.1 is not a gpt-4.
_MODELS = {
    "o200k_base": r"o200k(_base)?|(ft:)?(chatgpt-4o|gpt-4o|gpt-4\.\d|gpt-5(\.\d+)?|gpt-oss|o\d)([-:].*)?",
    "cl100k_base": r"cl100k(_base)?|(ft:)?(gpt-4|gpt-3\.5|gpt-35|text-embedding-(3|ada))([-:].*)?",
}
# Nobody outside can count for these: their counts are those of o200k_base with a margin for the difference.
_ESTIMATES = {
    "claude": (r"(?:.*/)?(?:anthropic\.)?claude([-:.@].*)?", 1.4),
    "gemini": (r"(?:.*/)?gemini([-:.@].*)?", 1.2),
}
_Text = TypeVar("_Text", str, list[int])
# Where a text is cut, the tokens beside the cut change; the longest token of both vocabularies has 128 bytes.
_SLACK = 128
# splintr caches 66,000 pieces of any length: about 3 bytes for each character seen (docs/decisions/0002).
CACHED_CHARACTERS = 16_000_000


class TokenCounter(Protocol):
    """Counts text in tokens and cuts it to a number of them."""

    name: str

    def count(self, text: str) -> int:
        """The number of tokens in the text."""

    def encode(self, text: str) -> list[int]:
        """The tokens of the text."""

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of the tokens; a character of which bytes are missing becomes U+FFFD."""

    def truncate(self, text: str, limit: int) -> str:
        """The start of the text, as much of it as counts no more than the limit."""

    def truncate_start(self, text: str, limit: int) -> str:
        """The end of the text, as much of it as counts no more than the limit."""


class CharacterCounter:
    """The estimate for unknown vocabularies: a token for every four characters, rounded up."""

    name = "characters"

    def count(self, text: str) -> int:
        """A quarter of the length, rounded up."""
        return -(-len(text) // 4)

    def encode(self, text: str) -> list[int]:
        """The code point of each character."""
        return [ord(character) for character in text]

    def decode(self, tokens: Sequence[int]) -> str:
        """The characters with these code points."""
        return "".join(map(chr, tokens))

    def truncate(self, text: str, limit: int) -> str:
        """The first four characters per token."""
        return text[: 4 * limit] if limit > 0 else ""

    def truncate_start(self, text: str, limit: int) -> str:
        """The last four characters per token."""
        return text[-4 * limit :] if limit > 0 else ""


class EstimatedCounter:
    """An estimate for models whose vocabulary is not published: the count of another one, and a margin on top.

    It is meant to be too high: a budget that holds by it is hardly ever exceeded by the model's own count.
    """

    def __init__(self, name: str, counter: TokenCounter, margin: float) -> None:
        self.name = f"{name} (an estimate: {counter.name} and {margin - 1:.0%})"
        self._counter = counter
        self._margin = margin

    def count(self, text: str) -> int:
        """The tokens by the other vocabulary with the margin, rounded up."""
        return math.ceil(self._counter.count(text) * self._margin)

    def encode(self, text: str) -> list[int]:
        """The tokens of the text by the other vocabulary."""
        return self._counter.encode(text)

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of tokens of the other vocabulary."""
        return self._counter.decode(tokens)

    def truncate(self, text: str, limit: int) -> str:
        """The start of the text, as much of it as counts no more than the limit."""
        return self._counter.truncate(text, int(limit / self._margin))

    def truncate_start(self, text: str, limit: int) -> str:
        """The end of the text, as much of it as counts no more than the limit."""
        return self._counter.truncate_start(text, int(limit / self._margin))


class _VocabularyCounter(ABC):
    """Counts by encoding; a lone surrogate counts as the U+FFFD that is written in its place."""

    def __init__(self, name: str) -> None:
        self.name = name

    @abstractmethod
    def encode(self, text: str) -> list[int]:
        """The tokens of the text."""

    @abstractmethod
    def _length(self, text: str, token_count: int, from_start: bool) -> int:
        """The number of whole characters in the first, or last, tokens of a text that has more."""

    def count(self, text: str) -> int:
        """The number of tokens in the text."""
        return len(self.encode(text))

    def truncate(self, text: str, limit: int) -> str:
        """The start of the text, as much of it as counts no more than the limit."""
        return self._cut(text, limit, from_start=True)

    def truncate_start(self, text: str, limit: int) -> str:
        """The end of the text, as much of it as counts no more than the limit."""
        return self._cut(text, limit, from_start=False)

    def _cut(self, text: str, limit: int, from_start: bool) -> str:
        if limit <= 0:
            return ""
        size = 5 * (limit + _SLACK)
        while size < len(text) and self.count(_part(text, size, from_start)) <= limit + _SLACK:
            size *= 2
        window = piece = _part(text, size, from_start)
        # A part of an encoding may itself encode to more tokens, so each piece is counted again.
        for tokens in range(limit, -1, -1):
            if self.count(piece) <= limit:
                return piece
            piece = _part(window, self._length(window, tokens, from_start), from_start)
        return ""


class OpenAICounter(_VocabularyCounter):
    """Exact counts in one of OpenAI's vocabularies; the names of special tokens count as plain text."""

    _seen = 0

    @cached_property
    def _tokenizer(self) -> splintr.AnyTokenizer:
        import splintr  # noqa: PLC0415 - loaded at first use, to keep the start of a process fast

        return splintr.Tokenizer.from_pretrained(self.name)

    def encode(self, text: str) -> list[int]:
        """The tokens of the text."""
        self._seen += len(text)
        if self._seen > CACHED_CHARACTERS:
            self._seen = 0
            self._tokenizer.clear_cache()
        return self._tokenizer.encode_ordinary(writable(text))

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of the tokens; a character of which bytes are missing becomes U+FFFD."""
        return self._tokenizer.decode_bytes(tokens).decode(errors="replace")

    def _length(self, text: str, token_count: int, from_start: bool) -> int:
        tokens = _part(self.encode(text), token_count, from_start)
        return len(self._tokenizer.decode_bytes(tokens).decode(errors="ignore"))


class HuggingFaceCounter(_VocabularyCounter):
    """Counts by a `tokenizer.json`, without the special tokens that it adds around a text."""

    @cached_property
    def _tokenizer(self) -> tokenizers.Tokenizer:
        try:
            import tokenizers  # noqa: PLC0415 - an extra
        except ImportError as error:
            raise InvalidInput(
                f"{self.name} needs the package tokenizers: run  pip install 'weftwork[tokenizers]'"
            ) from error
        try:
            with open(self.name, encoding="utf-8") as file:
                _ = json.load(file)["model"]
        except (OSError, LookupError, TypeError, ValueError) as error:
            raise InvalidInput(f"{self.name} is not a usable tokenizer.json: {error!r}") from error
        tokenizer = tokenizers.Tokenizer.from_file(self.name)
        tokenizer.no_truncation()  # many published files cut and pad to their model's window
        tokenizer.no_padding()
        return tokenizer

    def encode(self, text: str) -> list[int]:
        """The tokens of the text."""
        return self._tokenizer.encode(writable(text), add_special_tokens=False).ids

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of the tokens, as far as the tokenizer keeps it."""
        return self._tokenizer.decode(tokens, skip_special_tokens=False)

    def _length(self, text: str, token_count: int, from_start: bool) -> int:
        offsets = self._tokenizer.encode(writable(text), add_special_tokens=False).offsets
        return offsets[token_count][0] if from_start else len(text) - offsets[-token_count - 1][1]


_openai = cache(OpenAICounter)
_hugging_face = cache(HuggingFaceCounter)


def get_counter(name: str = "o200k_base") -> TokenCounter:
    """The counter for a vocabulary, a model, `characters`, or a `tokenizer.json` or its folder.

    OpenAI's models and a `tokenizer.json` are counted exactly. Claude and Gemini are estimated, with a margin.
    """
    if name == CharacterCounter.name:
        return CharacterCounter()
    for vocabulary, models in _MODELS.items():
        if re.fullmatch(models, name):
            return _openai(vocabulary)
    for family, (models, margin) in _ESTIMATES.items():
        if re.fullmatch(models, name):
            return EstimatedCounter(family, _openai("o200k_base"), margin)
    path = os.path.join(name, "tokenizer.json") if os.path.isdir(name) else name
    if os.path.isfile(path):
        return _hugging_face(os.path.realpath(path))
    raise UnknownName(
        "tokenizer", name, [*_MODELS, "characters", "an OpenAI model", "claude", "gemini", "a tokenizer.json"]
    )


def writable(text: str) -> str:
    """The text with each lone surrogate, which UTF-8 cannot hold, replaced."""
    return text if text.isascii() else re.sub("[\ud800-\udfff]", "\ufffd", text)


def _part(whole: _Text, size: int, from_start: bool) -> _Text:
    return whole[:size] if from_start else whole[max(len(whole) - size, 0) :]
