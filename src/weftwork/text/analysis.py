"""Tokenizing and stemming, the same for indexed texts and for queries."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import takewhile
from types import MappingProxyType
from typing import TypeVar

from tantivy import Filter, TextAnalyzer, TextAnalyzerBuilder, Tokenizer

from weftwork.text.languages import ENGLISH, FUNCTION_WORDS, language_of, marker

MAX_TERMS = 64
"""Distinct words of a query that count; the first ones say what it is about."""

MAX_REQUIRED = 8
"""Phrases, and prefixes, that a query may require."""

MAX_CHARACTERS = 20_000
"""Characters of a query that are read at all."""

K3 = 20.0
"""Saturation of the weight of a word that the query repeats: Robertson and Zaragoza (2009), see `bm25`."""

NO_WORDS: Mapping[str, float] = MappingProxyType({})

LONGEST_WORD = 40
"""Characters up to which the stems of a text, most likely a single word, are kept for the next question."""

T = TypeVar("T")

PREFIX = "*"
"""Ends a term that stands for all words that begin with it; no word contains it."""

UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u1100-\u11ff\uac00-\ud7af"  # Hangul
    "\u3005\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"  # Hiragana, Katakana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"  # Han
)
MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"  # Latin, Cyrillic, Hebrew
    "\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed"  # Arabic
    "\u0900-\u0963\u0971-\u0df3"  # Devanagari to Sinhala, which have letters beside marks
    "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece"  # Thai, Lao
    "\u0f18\u0f19\u0f71-\u0f84\u0f8d-\u0fbc\u102b-\u103e\u1056-\u1059\u17b4-\u17d3\u200c\u200d"
)
"""Signs that belong to the letter before them, and that `\\w` leaves out."""
_RUN = re.compile(f"[{UNSPACED}]+")
_SEAM = re.compile("[-0-9A-Z](?<=[A-Za-z][-0-9]|[a-z][A-Z])")
"""Where two words may have been joined; the rare letter first, since every text is looked through."""
_AROUND = re.compile(r"[^\W_]*(?:-?[^\W_])*")
_PART = re.compile("[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_HYPHENATED = re.compile(r"[^\W\d_]+-[^\W_]+")
MOST_PARTS, YEAR = 5, 4
"""Parts of a compound at most, and digits of a number that counts by itself at least."""
_PREFIX_WORD = re.compile(r"(?<!\w)([^\W_]+)\*(?!\w)")


LONGEST_WORD = 40
"""Bytes of a word from which on it is not indexed."""
_WORDS = "".join(letter.lower() if letter.isalnum() else " " for letter in map(chr, range(128)))
"""ASCII in lower case with a space for all that parts words."""
MOST_STEMS = 30_000
"""Words of a language of which the stems are remembered."""


def _analyzer(language: str | None = None) -> TextAnalyzer:
    builder = TextAnalyzerBuilder(Tokenizer.simple()).filter(Filter.remove_long(LONGEST_WORD))
    builder = builder.filter(Filter.lowercase()).filter(Filter.ascii_fold())
    return (builder.filter(Filter.stemmer(language)) if language else builder).build()


# Shared by all threads: tantivy holds the interpreter's lock while it cuts a text.
WHOLE_WORDS = _analyzer()
_ANALYZERS = {language: _analyzer(language) for language in FUNCTION_WORDS}


class _Stems(dict[str, str]):
    """The stems of words met before, which are most of any text; empty for a word that is not indexed."""

    def __init__(self, language: str) -> None:
        self._analyzer = _ANALYZERS[language]

    def __missing__(self, word: str) -> str:
        if len(self) >= MOST_STEMS:
            self.clear()
        stem = self[word] = "".join(self._analyzer.analyze(word))
        return stem


_STEMS = {language: _Stems(language) for language in FUNCTION_WORDS}


Phrase = tuple[tuple[str, ...], ...]
"""The stems of some words that follow one another, in each language in which they differ."""


@dataclass(frozen=True, slots=True)
class WordQuery:
    """A parsed query, in the stems of the index."""

    terms: Mapping[str, float] = field(default_factory=dict)
    """Words that count for the score, any of them may match, with their weights; `pre*` is a prefix."""
    phrases: tuple[Phrase, ...] = ()
    """Words that must follow one another."""
    prefixes: tuple[str, ...] = ()
    """Beginnings of words that must occur."""
    forms: Mapping[str, str] = field(default_factory=dict)
    """Terms that are stems of a word in other languages, each with its English stem."""


def spaced(text: str) -> str:
    """Normalise a text (NFKC) and split scripts without spaces into bigrams."""
    if text.isascii():
        return text
    clean = text.encode("utf-8", "replace").decode("utf-8")
    return _RUN.sub(lambda run: f" {_pairs(run[0])} ", unicodedata.normalize("NFKC", clean))


def is_unspaced(word: str) -> bool:
    """Return True for a pair of letters of a script without spaces, which says as much as a word."""
    return len(word) > 1 and _RUN.fullmatch(word) is not None


def _with_parts(text: str) -> str:
    """A text, each compound followed by its other spellings: getUserName get User Name, e-mail email."""
    pieces, done = [], 0
    for seam in _SEAM.finditer(text):
        start = seam.start()
        if start < done:
            continue
        while start > done and (text[start - 1].isalnum() or text[start - 1] == "-"):
            start -= 1
        word = _AROUND.match(text, start)
        assert word is not None
        pieces += [text[done : word.end()], *_spellings(word[0])]
        done = word.end()
    return " ".join([*pieces, text[done:]]) if pieces else text


@lru_cache(maxsize=4096)
def _spellings(compound: str) -> Sequence[str]:
    """The parts of getUserName, the year of FY2022, e-mail and UTF-8 as one word; ids and codes stay whole."""
    if _HYPHENATED.fullmatch(compound):
        return [compound.replace("-", "")]
    words: list[str] = []
    for word in compound.split("-"):
        parts = _PART.findall(word)
        if word.isalpha():
            camel = "".join(parts) == word and all(len(part) > 1 for part in parts)
            words += parts if camel and 1 < len(parts) <= MOST_PARTS else []
        elif len(parts) == 2:
            words += [part for part in parts if part.isdigit() and len(part) >= YEAR]
    return words


def analyse(text: str, language: str = ENGLISH, *, parts: bool = True) -> list[str]:
    """The stems of a text in order: lower case, without accents, compounds with their `parts`."""
    text = _with_parts(spaced(text)) if parts else spaced(text)
    if not text.isascii():
        return _ANALYZERS[language].analyze(text)
    stems = list(map(_STEMS[language].__getitem__, text.translate(_WORDS).split()))
    return [stem for stem in stems if stem] if "" in stems else stems


def length(text: str) -> int:
    """The number of stems of a text, which is the same in every language, without the work of stemming."""
    text = _with_parts(spaced(text))
    if not text.isascii():
        return len(WHOLE_WORDS.analyze(text))
    words = text.translate(_WORDS).split()
    return len(words) if max(map(len, words), default=0) < LONGEST_WORD else sum(len(w) < LONGEST_WORD for w in words)


def indexed(text: str) -> tuple[list[str], str]:
    """The stems of a passage as both stores index them, and the language whose stems they are."""
    language = language_of(text)
    return analyse(text, language), language


def marked(words: list[str], language: str) -> list[str]:
    """The stems of a passage and, unless it is English, the term that tells its language."""
    return words if language == ENGLISH else [*words, marker(language)]


def whole_words(text: str) -> list[str]:
    """The words of a text in order, not stemmed: a typo may spoil the ending that a stem is found by."""
    return WHOLE_WORDS.analyze(spaced(text))


def parse(text: str, also: Mapping[str, float] = NO_WORDS, languages: Sequence[str] = (ENGLISH,)) -> WordQuery:
    """Read a query: "phrases" and prefix* are required, all other words are optional; never fails.

    Words that count `also` have the weight that is given there, unless the query has them itself. A word matches by
    its stem in any of the `languages`, of which English is the first.
    """
    plain, quoted = _split_quotes(text[:MAX_CHARACTERS])
    parts = (stem_forms(part, languages)[:MAX_TERMS] for part in quoted)
    phrases = _distinct((tuple(dict.fromkeys(zip(*part, strict=True))) for part in parts), MAX_REQUIRED)
    starts = (_beginning(match[1], languages) for match in _PREFIX_WORD.finditer(plain))
    prefixes = _distinct((start for start in starts if start is not None), MAX_REQUIRED)
    rest = _PREFIX_WORD.sub(lambda match: "" if _beginning(match[1], languages) else match[1], plain)
    own = language_of(text, least=1)
    words = _telling_words(" ".join([*quoted, rest]), own if own in languages else ENGLISH, languages)
    counts = Counter(word[0] for word in words)
    more = {word[0]: (word, weight) for other, weight in also.items() for word in stem_forms(other, languages)}
    weighted = more | {word[0]: (word, _repeated(counts[word[0]])) for word in words[::-1]}
    terms = {start + PREFIX: 1.0 for start in prefixes}
    terms |= {stem: weighted[stem][1] for stem in _distinct((*counts, *more), MAX_TERMS + len(more))}
    forms = {form: stem for stem in terms if stem in weighted for form in weighted[stem][0] if form not in terms}
    return WordQuery(terms | {form: terms[stem] for form, stem in forms.items()}, phrases, prefixes, forms)


def stem_forms(text: str, languages: Sequence[str]) -> list[tuple[str, ...]]:
    """The stems of each word of a text, in the order of the languages."""
    if len(text) > LONGEST_WORD:
        return list(zip(*(analyse(text, language) for language in languages), strict=True))
    return list(_word_forms(text, tuple(languages)))


@lru_cache(maxsize=4096)  # questions share most of their words, and each is looked up several times
def _word_forms(word: str, languages: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    return tuple(zip(*(analyse(word, language) for language in languages), strict=True))


def _telling_words(text: str, own: str, languages: Sequence[str]) -> list[tuple[str, ...]]:
    """The words of a query without the function words of its own language, unless it has no others."""
    words = stem_forms(text, (own, *languages))
    telling = [word for word in words if word[0] not in STOP_WORDS[own]] or words
    kept = frozenset(_distinct((word[1] for word in telling), MAX_TERMS))
    return [word[1:] for word in telling if word[1] in kept]


def _repeated(times: int) -> float:
    """The weight of a word that a query has so many times, by BM25's formula for long queries."""
    return (K3 + 1) * times / (K3 + times)


def query_terms(words: Sequence[str], language: str = ENGLISH) -> tuple[str, ...]:
    """The distinct stems of a query without stop words, unless it has no others."""
    telling = [word for word in words if word not in STOP_WORDS[language]]
    return _distinct(telling or words, MAX_TERMS)


def only_repeats(text: str, question: str) -> bool:
    """Return True if a text has words and tells nothing that a question does not say itself."""
    language, said = _said(question)
    words = analyse(text, language)
    return bool(words) and said.issuperset(query_terms(words, language))


@lru_cache(maxsize=64)  # each message among the hits is compared with the same question
def _said(question: str) -> tuple[str, frozenset[str]]:
    """The language of a question, and its stems."""
    language = language_of(question)
    return language, frozenset(analyse(question, language))


def _split_quotes(text: str) -> tuple[str, list[str]]:
    """The text outside quotes, and the quoted parts; an unclosed quote counts as text."""
    parts = re.split('["\u201c\u201d\u201e]', text)
    unclosed = [] if len(parts) % 2 else [parts.pop()]
    return " ".join(parts[::2] + unclosed), parts[1::2]


def _beginning(word: str, languages: Sequence[str]) -> str | None:
    """The common prefix of all stems of words with this prefix; None if it is more than one word."""
    forms = [whole_words(word), *(analyse(word, language, parts=False) for language in languages)]
    if any(len(form) != 1 for form in forms):
        return None
    # The index holds stems: `policy*` has to find "polici", which is the stem of "policies" too.
    same = takewhile(lambda letters: len(set(letters)) == 1, zip(*(form[0] for form in forms), strict=False))
    return "".join(letters[0] for letters in same) or None


def _pairs(run: str) -> str:
    return " ".join(run[i : i + 2] for i in range(len(run) - 1)) or run


def _distinct(items: Iterable[T], limit: int) -> tuple[T, ...]:
    return tuple([item for item in dict.fromkeys(items) if item][:limit])


STOP_WORDS = {language: frozenset(analyse(" ".join(words), language)) for language, words in FUNCTION_WORDS.items()}
"""Stems of words that tell little about what a query is after, by language."""
