"""Checks of an answer against its context: citations used, invented ones, and uncited quotes."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from weftwork.errors import InvalidInput
from weftwork.identity import CITATION, SHORT
from weftwork.query import STOP_WORDS
from weftwork.text.analysis import UNSPACED
from weftwork.types import Citation, Context, Excerpt, Record

FEWEST_WORDS = 8
"""Words in a row, as they stand in a source, from which a sentence quotes it."""
CHARACTER = 2 / 3
"""The weight of a character in a script without spaces: twelve make a quote."""
NEARLY = 0.6
"""Share of a sentence's three-word sequences that stand in a source from which it quotes it with changes."""
TELLING = 4
"""Different words in a quote that are more than the mortar of a language."""
MORTAR = STOP_WORDS | frozenset(
    """answer based case day end even example fact first following go good hand help important information instance know
    last let like look made make many may might much must need new note number one order part place point possible
    provided question right see set shown since still sure take thing things time two use used using view want way well
    within without work""".split()
)

_TOKEN = re.compile(rf"[{UNSPACED}]|(?:(?![{UNSPACED}])[^\W_])(?:(?![{UNSPACED}])[^\W_]|[\u0300-\u036f])*+")
_ID = re.compile(r"(?<![\w-])[A-Za-z]\d{5,15}(?![\w-])")
"""An id, also one that a model mangled by leaving out or adding digits."""
_ALONE = re.compile(r"(?<![\w/.=#?&@%~\\-])\w{7,13}(?![\w/\\-]|[.:=@]\w)")
"""An id that is no part of an address or of the name of a file."""
_BRACKETS = re.compile(r"[\[【]([^\[\]【】]{1,300})[\]】]")
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[^\n]*$", re.MULTILINE)
_END = re.compile(
    r"(?<![.!?…])(?<![\s.(]\w)[.!?…]++[\"'”’»)\]]*+\s++(?![a-zà-ÿ])"  # a sentence, but no "e.g. this"
    r"|(?<![。！？])[。！？]++[”’」』）]*+\s*+"
    r"|\n(?:[^\S\n]|>)*+\n\s*+"  # a paragraph
    r"|\n(?=[^\S\n]*+(?:\||(?:[-*+•]|\d{1,3}[.)]|#{1,6})\s))"  # before a row, an item of a list or a heading
)
_LEADING = re.compile(r"\s*+(?:[\[【][^\[\]【】]{1,300}[\]】]\s*+)+")
Shingle = tuple[str, str, str]
Mention = tuple[str, int, int]
"""The id of a source, and where an answer cites it."""


@dataclass(frozen=True, slots=True)
class Quote:
    """A sentence with the words of a source that it does not cite."""

    sentence: str
    citation: Citation
    """The source, as the context cites it."""
    span: tuple[int, int]
    """Start and end of the quoted words in the answer."""


@dataclass(frozen=True, slots=True)
class AnswerCheck:
    """The citations of an answer, and its quotes without one."""

    used: tuple[Citation, ...]
    """Cited sources, in the order of the answer."""
    unknown: tuple[str, ...]
    """Ids that look like citations and are none of this context's."""
    uncited: tuple[Quote, ...]

    @property
    def sound(self) -> bool:
        """True if no citation is invented and no quote is uncited."""
        return not self.unknown and not self.uncited


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    start: int
    end: int


@dataclass(slots=True)
class _Sentence:
    start: int
    end: int
    code: bool
    paragraph: int
    cited: set[str] = field(default_factory=set)
    """Ids that the sentence cites, inside or right behind it."""
    quoted: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Spans of quoted words by the id of their source, the source with most words first."""


def check_answer(text: str, context: Context, mentions: Iterable[Mention] | None = None) -> AnswerCheck:
    """Find the citations that an answer uses, those that do not exist, and its uncited quotes.

    `mentions` are its citations in the order of the text, where they are not written as ids. The time
    taken is linear in the length of the answer.
    """
    if not isinstance(text, str):
        raise InvalidInput(f"an answer must be text, got {text!r}")
    if not isinstance(context, Context):
        raise InvalidInput(f"an answer is checked against the context that it was given, got {context!r}")
    citations = {citation.id: citation for citation in context.citations}
    return _checked(text, citations, _sources(context), _covered(context.excerpts), context.query, mentions)


def check_sources(text: str, records: Iterable[Record], given: Mapping[str, Iterable[str]], query: str) -> AnswerCheck:
    """The same for an answer in a conversation, against all ids that it was given with the passages of each.

    `records` are those passages that can still be read: an id whose source is gone is no invented one.
    """
    by_beginning = {record.passage.citation[:SHORT]: record for record in records}
    found = {name: by_beginning.get(name[:SHORT]) for name in given}
    citations = {name: _citation(name, record) for name, record in found.items()}
    texts = {name: record.passage.text for name, record in found.items() if record is not None}
    return _checked(text, citations, texts, {name: set(covers) for name, covers in given.items()}, query, None)


def _citation(name: str, record: Record | None) -> Citation:
    if record is None:
        return Citation(name, "", "", "", "", 0, 0, 0.0)
    node, passage = record.node, record.passage
    return Citation(name, node.id, node.type, node.title, node.source, passage.start, passage.end, 0.0)


def _checked(
    text: str,
    citations: Mapping[str, Citation],
    sources: Mapping[str, str],
    covered: Mapping[str, Collection[str]],
    query: str,
    mentions: Iterable[Mention] | None,
) -> AnswerCheck:
    sentences = _sentences(text)
    cited = [
        mention for mention in (_cited(text, citations) if mentions is None else mentions) if mention[0] in citations
    ]
    _attach(text, sentences, cited)
    index = _index(sources)
    for shingle in _shingles(_tokens(query)):  # whose words are the user's own is no quote
        index.pop(shingle, None)
    tokens = _tokens(_blank_citations(text, cited))
    starts = [token.start for token in tokens]
    for sentence in sentences:
        sentence.cited |= {name for cited_id in sentence.cited for name in covered.get(cited_id, ())}
        words = tokens[bisect_left(starts, sentence.start) : bisect_left(starts, sentence.end)]
        sentence.quoted = _quoted(words, index)
    return AnswerCheck(
        used=tuple(citations[name] for name in dict.fromkeys(name for name, _, _ in cited)),
        unknown=tuple(dict.fromkeys(_unknown(text, citations, (query, *sources.values()), sentences))),
        uncited=tuple(_uncited(text, sentences, citations)),
    )


def _cited(text: str, citations: Mapping[str, Citation]) -> Iterator[Mention]:
    """Mentions of ids of the context, in brackets or not, with their places."""
    for name, match in _named(text):
        if name in citations:
            yield name, match.start(), match.end()


def _unknown(
    text: str, cited_ids: Collection[str], sources: Iterable[str], sentences: Sequence[_Sentence]
) -> Iterator[str]:
    """Ids outside of code that are none of those given.

    The exact form in brackets always counts. A mangled one in brackets, and the exact one elsewhere, may be the number
    of something else: they count unless the sources or the question have them.
    """
    source_ids = {name for source in sources for name, _ in _named(source)}
    in_code = _inside([(sentence.start, sentence.end) for sentence in sentences if sentence.code])
    in_brackets = _inside([match.span() for match in _BRACKETS.finditer(text)])
    for name, match in _named(text):
        if name in cited_ids or in_code(match):
            continue
        exact, bracketed = CITATION.fullmatch(name) is not None, in_brackets(match)
        alone = exact and _ALONE.match(text, match.start()) is not None
        if (exact and bracketed) or (name not in source_ids and (bracketed or alone)):
            yield name


def _covered(excerpts: Iterable[Excerpt]) -> dict[str, set[str]]:
    """The further passages that an id covers: that of a heading covers all of its excerpt.

    Surroundings of a hit have no id in the text: any id of their excerpt covers them.
    """
    covered: dict[str, set[str]] = {}
    for excerpt in excerpts:
        names = {item.candidate.passage.citation: item.hit for item in excerpt.items}
        around = {name for name, hit in names.items() if not hit}
        for name in names:
            covered.setdefault(name, set()).update(around)
        covered.setdefault(excerpt.citation, set()).update(names)
    return covered


def _named(text: str) -> Iterator[tuple[str, re.Match[str]]]:
    """Anything that could be an id, in the spelling of the context, with its match."""
    return ((match[0].lower(), match) for match in _ID.finditer(text))


def _inside(spans: Sequence[tuple[int, int]]) -> Callable[[re.Match[str]], bool]:
    """A predicate for matches inside one of these spans, which are in ascending order."""
    ends = [end for _, end in spans]

    def inside(match: re.Match[str]) -> bool:
        place = bisect_left(ends, match.end())
        return place < len(spans) and spans[place][0] <= match.start()

    return inside


def _sources(context: Context) -> dict[str, str]:
    return {item.candidate.passage.citation: item.candidate.passage.text for item in context.items}


def _sentences(text: str) -> list[_Sentence]:
    """The sentences of the answer, each block of code as one."""
    sentences: list[_Sentence] = []
    paragraph = 0
    for start, end, code in _blocks(text):
        paragraph += 1
        if code:
            sentences.append(_Sentence(start, end, True, paragraph))
            continue
        position = start
        for match in _END.finditer(text, start, end):
            sentences.append(_Sentence(position, match.end(), False, paragraph))
            paragraph += match[0].count("\n") > 1
            position = match.end()
        if position < end:
            sentences.append(_Sentence(position, end, False, paragraph))
    return sentences


def _blocks(text: str) -> Iterator[tuple[int, int, bool]]:
    """Stretches of prose and of fenced code, in turn; a fence that is never closed runs to the end."""
    position, opened, mark = 0, 0, ""
    for fence in _FENCE.finditer(text):
        if not mark:
            if fence.start() > position:
                yield position, fence.start(), False
            opened, mark = fence.start(), fence[1]
        elif fence[0].strip() == fence[1] and fence[1].startswith(mark):
            yield opened, fence.end(), True
            position, mark = fence.end(), ""
    if mark:
        yield opened, len(text), True
    elif position < len(text):
        yield position, len(text), False


def _attach(text: str, sentences: Sequence[_Sentence], cited: Sequence[Mention]) -> None:
    """Add to each sentence its citations: inside, in brackets right behind it, or before a block of code."""
    starts = [start for _, start, _ in cited]

    def between(start: int, end: int) -> set[str]:
        return {name for name, _, _ in cited[bisect_left(starts, start) : bisect_left(starts, end)]}

    for number, sentence in enumerate(sentences):
        sentence.cited |= between(sentence.start, sentence.end)
        behind = _LEADING.match(text, sentence.end)
        if behind:
            sentence.cited |= between(sentence.end, behind.end())
        if sentence.code and number:
            sentence.cited |= between(sentences[number - 1].start, sentences[number - 1].end)


def _blank_citations(text: str, cited: Sequence[Mention]) -> str:
    """Replace the citations of an answer by blanks: they would break up a quote."""
    pieces, position = [], 0
    for _, start, end in cited:
        if start >= position:  # several sources may be cited at one place
            pieces += [text[position:start], " " * (end - start)]
            position = end
    return "".join([*pieces, text[position:]])


def _tokens(text: str) -> list[_Token]:
    """Words, or characters in scripts without spaces, in one spelling; punctuation and case do not count."""
    return [
        _Token(unicodedata.normalize("NFKC", match[0]).casefold(), match.start(), match.end())
        for match in _TOKEN.finditer(text)
    ]


def _shingles(tokens: Sequence[_Token]) -> Iterator[Shingle]:
    words = [token.text for token in tokens]
    return zip(words, words[1:], words[2:], strict=False)


def _index(sources: Mapping[str, str]) -> dict[Shingle, list[str]]:
    """The sources of each sequence of three words."""
    index: dict[Shingle, list[str]] = {}
    for name, text in sources.items():
        for shingle in dict.fromkeys(_shingles(_tokens(text))):
            index.setdefault(shingle, []).append(name)
    return index


def _quoted(tokens: Sequence[_Token], index: Mapping[Shingle, Sequence[str]]) -> dict[str, tuple[int, int]]:
    """The sources that a sentence quotes, most words first, with the span of the quote."""
    if _weight(tokens) < FEWEST_WORDS:
        return {}
    running: dict[str, int] = {}
    longest: dict[str, tuple[int, int]] = {}
    places: dict[str, list[int]] = {}
    for position, shingle in enumerate(_shingles(tokens)):
        running = {name: running.get(name, position) for name in index.get(shingle, ())}
        for name, first in running.items():
            places.setdefault(name, []).append(position)
            before = longest.get(name, (0, 0))
            if position + 3 - first > before[1] - before[0]:
                longest[name] = (first, position + 3)
    quotes: dict[str, tuple[float, int, int]] = {}
    for name, (first, last) in longest.items():
        near = (places[name][0], places[name][-1] + 3)
        share = len(places[name]) / (len(tokens) - 2)
        for begin, end, enough in ((first, last, True), (*near, share >= NEARLY)):
            run = tokens[begin:end]
            if enough and _weight(run) >= FEWEST_WORDS and len({token.text for token in run} - MORTAR) >= TELLING:
                quotes[name] = (len(places[name]), run[0].start, run[-1].end)
                break
    ranked = sorted(quotes.items(), key=lambda quote: (-quote[1][0], quote[0]))
    return {name: (start, end) for name, (_, start, end) in ranked}


def _weight(tokens: Iterable[_Token]) -> float:
    return sum(CHARACTER if _is_unspaced(token.text) else 1.0 for token in tokens) + 1e-9


_UNSPACED_CHARACTER = re.compile(f"[{UNSPACED}]")


def _is_unspaced(text: str) -> bool:
    return len(text) == 1 and not text.isascii() and _UNSPACED_CHARACTER.match(text) is not None


def _uncited(text: str, sentences: Sequence[_Sentence], citations: Mapping[str, Citation]) -> list[Quote]:
    """Sentences with a source's words and no citation of it.

    Several sentences in a row that quote the same source are covered by a citation behind the last.
    """
    quotes: list[Quote] = []
    covered: set[str] = set()
    following: _Sentence | None = None
    for sentence in reversed(sentences):
        if following is None or following.paragraph != sentence.paragraph:
            covered = set()
        covered = sentence.cited | (covered & sentence.quoted.keys())
        if sentence.quoted and not covered & sentence.quoted.keys():
            name, span = next(iter(sentence.quoted.items()))
            quotes.append(Quote(text[sentence.start : sentence.end].strip(), citations[name], span))
        following = sentence
    return quotes[::-1]
