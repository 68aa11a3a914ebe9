"""Content, templates and requests that make counting hard."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from hypothesis import strategies as st

from weftwork import Budget, Filters, Message, Node, Recipe, Template
from weftwork.errors import EmbeddingError, InvalidInput
from weftwork.pack import PACKERS
from weftwork.recipe import EVERYTHING
from weftwork.render.builtin import BUILTIN
from weftwork.score.profiles import PROFILES
from weftwork.store.contract.kit import NOW
from weftwork.text.truncate import STRATEGIES, Summarise
from weftwork.types import SECTIONS

FRAGMENTS = [
    "\n", "\r\n", "\n\n", " ", "    ", "\t", "\x00", "\x1b[31m", "\x07", "\x7f", "\u0085", "\u2028", "\u00a0", "\u200b",
    "\ufeff", "\U000e0041", "\ud800", "\ufe0f", "word", " Word", "'s", "ſ", "é", "e\u0301", "漢字", "。", "한국어",
    "नि", "ไทย", "עברית", "👩‍👩‍👧", "🏽", "🇩🇪", "😀😀😀😀😀", "/", "//", "====", "---", "1234567", "0.5",
    "```", "~~~", "````py\n", "## Related\n", "[f000000] Forged (file)\n", "{{query}}", "{{content}}", " | ",
    "<|endoftext|>", "<|im_start|>system", "<s>", "</s>", "[UNK]", "[[n1]]", "notes/n1.md", "Wait! Is it? ",
    "def f(x: int) -> str:\n    return f'{x!r}'\n", "The harbour opens at six. ", "harbour lantern ",
    "harbour " * 40, "a" * 300, "漢" * 200,
]  # fmt: skip
texts = st.lists(st.one_of(st.sampled_from(FRAGMENTS), st.text(max_size=12)), max_size=30).map("".join)
long_texts = st.tuples(texts, st.integers(1, 40), texts).map(lambda parts: parts[0] * parts[1] + parts[2])
short_texts = st.lists(st.one_of(st.sampled_from(FRAGMENTS[:-3]), st.text(max_size=6)), max_size=5).map("".join)
numbers = st.integers(0, 7)
values = st.one_of(
    short_texts, st.integers(), st.booleans(), st.none(), st.floats(-1e9, 1e9), st.lists(short_texts, max_size=3)
)


@st.composite
def node_lists(draw: st.DrawFn) -> list[Node]:
    """Up to eight nodes; those below another hang under it."""
    return [
        Node(
            id=f"n{number}",
            type=draw(st.sampled_from(["page", "todo", "message", "file"]) | short_texts.filter(bool)),
            title=draw(short_texts),
            text=draw(texts | long_texts),
            parent=draw(st.none() | st.sampled_from([f"n{above}" for above in range(number)])) if number else None,
            tags=tuple(draw(st.lists(short_texts.filter(bool), max_size=2))),
            fields=draw(st.dictionaries(short_texts.filter(bool), values, max_size=2)),
            confidence=draw(st.none() | st.floats(0, 1)),
            source=draw(st.just(f"notes/n{number}.md") | short_texts),
            created_at=NOW - timedelta(days=number),
        )
        for number in range(draw(st.integers(0, 8)))
    ]


glue = st.sampled_from(["", " ", "\n", "\n\n", "=", "==", "a", "漢", "😀", "- ", "\t", ".", "1", "<|endoftext|>", "**"])
item_parts = st.sampled_from(
    ["{{content}}", "{{title}}", "{{citation}}", "{{type}}", "{{score}}", "{{confidence}}", "{{timestamp}}", "{{path}}",
     "{{tags}}", "{{fields}}", "{{page}}", "{{number}}", "{{section}}", "{{source}}"]
)  # fmt: skip
slots = st.lists(glue | item_parts, max_size=5).map("".join)


def sound(template: Template) -> bool:
    """Whether Weftwork takes the template."""
    try:
        return template.check() is template
    except InvalidInput:
        return False


hostile_templates = st.builds(
    Template,
    name=st.just("hostile"),
    header=st.sampled_from(["", "{{query}}", "=" * 7, "a{{query}}{{query}}\n"]),
    section=st.sampled_from(["", "{{title}}", " ", "{{count}}{{title}}\n\n\n", "= "]),
    item=st.sampled_from(["{{content}}", "{{content}}{{content}}", ""]) | slots,
    separator=glue,
    line=slots,
    overflow=glue,
    empty=st.none() | glue,
    footer=st.sampled_from(["", "{{query}}", "\n\n{{query}}", "==="]),
    quote=st.sampled_from(["escape", "fence"]),
    include_metadata=st.booleans(),
    sections=st.sampled_from([(), ("history", "focus"), ("semantic", "made up")]),
    titles=st.dictionaries(st.sampled_from(SECTIONS), short_texts, max_size=2),
).filter(sound)
"""Templates whose pieces run into each other, so that their tokens do not add up."""

recipes = st.builds(
    Recipe,
    name=st.just("drawn"),
    collectors=st.just(EVERYTHING),
    profile=st.sampled_from(sorted(PROFILES)).map(PROFILES.__getitem__),
    packer=st.sampled_from(PACKERS),
    template=st.sampled_from([*sorted(BUILTIN), *["hostile"] * 3]),
    lines=st.booleans(),
)
totals = st.one_of(st.integers(1, 40), st.integers(1, 400), st.integers(1, 5000))


@st.composite
def budgets(draw: st.DrawFn) -> Budget:
    """A budget from one token up, whole or divided, with shares that others may use or hard caps."""
    total = draw(totals)
    shares = st.dictionaries(st.sampled_from((*SECTIONS, "made up")), st.integers(0, total), max_size=7)
    return Budget(total=total, sections=draw(st.just({}) | shares), share=draw(st.booleans()))


queries = st.sampled_from(["harbour lantern", "漢字", "What about [[n1]] and notes/n2.md?", '"harbour', ""]) | texts


@st.composite
def requests(draw: st.DrawFn, names: list[str]) -> dict[str, object]:
    """The arguments of a request about nodes with these ids."""
    some = st.sampled_from(names) if names else st.nothing()
    return {
        "query": draw(queries),
        "budget": draw(budgets()),
        "recipe": draw(recipes),
        "focus": draw(st.none() | some),
        "thread": draw(st.none() | some),
        "include": tuple(draw(st.lists(some | st.just("nowhere"), max_size=3))),
        "history": tuple(
            Message(*spoken) for spoken in draw(st.lists(st.tuples(short_texts, texts | long_texts), max_size=3))
        ),
        "filters": Filters(exclude=frozenset(draw(st.sets(some | st.just("nowhere"), max_size=1)))),
        "boosts": draw(st.dictionaries(short_texts, st.floats(0, 1), max_size=1)),
        "truncation": draw(st.sampled_from([*STRATEGIES, "summarize"])),
    }


def too_long(text: str, limit: int) -> str:
    """A model that does not keep to its limit."""
    return text + text


def out_of_order(text: str, limit: int) -> str:
    """A model that cannot be reached."""
    raise EmbeddingError("the model does not answer: try again later")


@dataclass(frozen=True)
class Session:
    """Nodes, several requests about them, and the parts that an engine is made with."""

    nodes: list[Node]
    requests: list[dict[str, object]]
    hostile: Template
    summarise: Summarise | None


@st.composite
def sessions(draw: st.DrawFn) -> Session:
    """Some nodes and up to four requests about them."""
    nodes = draw(node_lists())
    return Session(
        nodes,
        draw(st.lists(requests([node.id for node in nodes]), min_size=1, max_size=4)),
        draw(hostile_templates),
        draw(st.sampled_from([None, lambda text, limit: text[:limit], too_long, out_of_order])),
    )
