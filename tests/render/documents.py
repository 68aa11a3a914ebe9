"""Documents of several nodes made by hand, and what an excerpt shows of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from weftwork.compose.offers import Offer, offer
from weftwork.compose.reading import Reading
from weftwork.render import ExcerptRenderer, Template, get_template
from weftwork.text.tokens import TokenCounter, get_counter
from weftwork.text.truncate import truncate
from weftwork.types import Candidate, Excerpt, FieldValue, Finding, NodeInfo, Outline, OutlineNode, Passage

COUNTER = get_counter()


@dataclass(frozen=True)
class Part:
    """A node below a document, with the texts of its passages."""

    type: str
    texts: tuple[str, ...] = ("",)
    depth: int = 1
    title: str = ""
    fields: Mapping[str, FieldValue] = field(default_factory=dict)
    at: datetime | None = None


def part(type: str, *texts: str, **more) -> Part:
    return Part(type, texts or ("",), **more)


def citation(key: int) -> str:
    """The citation of the passage with this key, as it is shown."""
    return f"[k{key:06}]"


class Document:
    """A document; its own passage has the key 1, and those of its parts follow in reading order."""

    def __init__(
        self,
        *parts: Part,
        text: str = "",
        title: str = "Handbook",
        type: str = "page",
        fields: Mapping[str, FieldValue] | None = None,
        trail: tuple[str, ...] = (),
        source: str = "",
        hits: Sequence[int] | Mapping[int, float] = (),
        notes: Mapping[int, str] | None = None,
        counter: TokenCounter = COUNTER,
    ) -> None:
        scores = dict(hits) if isinstance(hits, Mapping) else {key: 0.9 - n / 100 for n, key in enumerate(hits)}
        head = NodeInfo(id="doc", type=type, title=title, fields=fields or {}, source=source)
        self.known: dict[int, Candidate] = {}
        nodes = []
        for number, each in enumerate((Part(type, (text,), 0, title), *parts)):
            fields = each.fields
            info = NodeInfo(id=f"n{number}", type=each.type, title=each.title, fields=fields, created_at=each.at)
            info = info if number else head
            first = len(self.known) + 1
            for ordinal, words in enumerate(each.texts):
                key = len(self.known) + 1
                passage = Passage(ordinal, 0, len(words), words, counter.count(words), "", f"k{key:06}", key)
                score = scores.get(key, 0.0)
                found = (Finding("words", 1, score, kind="words"),)
                note = (notes or {}).get(key, "")
                self.known[key] = Candidate(info, passage, "semantic", found, trail, score=score, note=note)
            keys = tuple(range(first, len(self.known) + 1))
            tokens = tuple(self.known[key].passage.tokens for key in keys)
            nodes.append(OutlineNode(info.id, info.type, info.title, each.depth, keys, tokens))
        self.reading = Reading(Outline(head, trail, tuple(nodes)))
        best = sorted(scores or {1: 0.5}, key=lambda key: -scores.get(key, 0.0))
        self.offer: Offer = offer("semantic", self.reading, [self.known[key] for key in best])

    def renderer(self, template: str | Template = "default", *, strategy: str = "extractive", **more):
        """A renderer that cuts by a strategy, for a query of these `words`."""
        counter: TokenCounter = more.pop("counter", COUNTER)
        words, summarise = frozenset(more.pop("words", ())), more.pop("summarise", None)

        def shorten(text: str, limit: int) -> tuple[str, str]:
            cut = truncate(text, limit, strategy=strategy, counter=counter, words=words, summarise=summarise)
            return cut.text, cut.note

        known = self.known
        return ExcerptRenderer(
            get_template(template),
            counter,
            lambda keys: {key: known[key] for key in keys},
            more.pop("truncate", shorten),
            strategy,
            **more,
        )

    def excerpt(self, *keys: int, template: str | Template = "default", **more) -> Excerpt:
        return self.renderer(template, **more).excerpt(self.offer, keys or tuple(self.known), "hits")

    def content(self, *keys: int, **more) -> str:
        """The text of the passages with these keys, or of all, without heading and unquoted."""
        return self.excerpt(*keys, **more).content

    def heading(self, *keys: int, **more) -> str:
        """The heading line of an excerpt, without its citation."""
        return self.excerpt(*keys, **more).text.split("\n", 1)[0].partition("] ")[2]

    def shortened(self, limit: int, *keys: int, template: str | Template = "default", **more) -> Excerpt | None:
        wanted = keys or tuple(self.known)
        return self.renderer(template, **more).shortened(self.offer, wanted, "whole", limit)
