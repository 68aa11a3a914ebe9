"""Templates for the text of a context, with `{{name}}` variables.

Variables are replaced in one pass and what replaces them is never read again, so content that says
`{{query}}` stays as it is. There is nothing else in the language: that is the sandbox.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Literal

from weftwork.errors import InvalidInput
from weftwork.render.quote import longer_fence, writable

_VARIABLE = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})", re.MULTILINE)
_ALONE = re.compile(r"^\{\{content\}\}$", re.MULTILINE)

# These bring their own space or brackets, and are empty where there is nothing to show.
_OPTIONAL = {"about", "fields", "page", "path", "route", "tags"}
_NUMBERS = {"confidence", "number", "page_number", "score", "similarity", "timestamp"}
_TEXTS = {"citation", "content", "file", "file_path", "heading", "section", "source", "title", "type"}
ITEM_VARIABLES = frozenset(_TEXTS | _NUMBERS | _OPTIONAL)

_QUOTES = ("fence", "cite", "escape", "plain")
_ALLOWED: Mapping[str, frozenset[str]] = {
    "header": frozenset({"query"}),
    "section": frozenset({"title", "count"}),
    "item": ITEM_VARIABLES,
    "separator": frozenset(),
    "line": ITEM_VARIABLES,
    "overflow": frozenset(),
    "empty": frozenset(),
    "footer": frozenset({"query"}),
}

TITLES: Mapping[str, str] = {
    "focus": "Focus",
    "references": "Referenced",
    "memories": "Remembered",
    "semantic": "Related",
    "relations": "Connected",
    "activity": "Recent activity",
    "history": "Conversation",
    "system": "System",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """The layout of a context and of each item in it."""

    name: str
    item: str
    header: str = ""
    section: str = "## {{title}}\n\n"
    """Stands before the items of a section; an empty string shows the items without sections."""
    separator: str = "\n"
    """Stands after every item but the last of the text."""
    line: str = "- {{title}} ({{type}}){{tags}} {{citation}}\n"
    overflow: str = "## More, by title only\n\n"
    empty: str | None = None
    """Stands for the items of a section that has none; None leaves the section out."""
    footer: str = ""
    quote: Literal["fence", "cite", "escape", "plain"] = "fence"
    """Quoting of content: "fence" puts it between fences, "cite" a single line behind `>`; "escape" guards its lines;
    "plain" leaves it as it is but for `guards`."""
    guards: str = ""
    """A regular expression for what plain content must not imitate: a backslash is set before each match."""
    include_metadata: bool = True
    """False leaves `fields`, `path` and `tags` empty."""
    fields_first: bool = False
    """True lets a node's fields stand as a line before its text, where no variable shows them."""
    reading_marks: bool = False
    """True shows in the content the headings above it, what stands before and after the focus, and how much of a table
    or of what was asked for is shown."""
    sections: tuple[str, ...] = ()
    """Sections that come first, in this order, even without items."""
    titles: Mapping[str, str] = field(default_factory=dict)

    def title_of(self, section: str) -> str:
        """The title under which a section is shown."""
        return self.titles.get(section) or TITLES.get(section) or section.replace("_", " ").capitalize()

    @property
    def content_on_own_lines(self) -> bool:
        """True if content begins and ends on lines of its own, outside any fence of the template."""
        if any(_FENCE.search(slot) for slot in (self.header, self.section, self.item, self.footer)):
            return False
        endings = ("",) if self.quote != "escape" else (self.separator, self.footer)
        return all("{{content}}" not in _ALONE.sub("", self.item + ending) for ending in endings)

    @property
    def content_in_fence(self) -> bool:
        """True if content stands between fences of the item itself."""
        return self._fences() is not None

    def item_for(self, content: str) -> str:
        """The item, its own fences around the content longer than any inside of it."""
        fences = self._fences()
        if fences is None:
            return self.item
        opening, closing = fences
        mark = longer_fence(opening[1], content)
        start, end = self.item[: opening.start(1)], self.item[closing.end(1) :]
        return f"{start}{mark}{self.item[opening.end(1) : closing.start(1)]}{mark}{end}"

    def _fences(self) -> tuple[re.Match[str], re.Match[str]] | None:
        """The fences of the item before and after its content."""
        content = self.item.find("{{content}}")
        before = [match for match in _FENCE.finditer(self.item) if match.start() < content]
        after = [match for match in _FENCE.finditer(self.item) if match.start() > content]
        if len(before) % 2 == 0 or not after or after[0][1] != before[-1][1]:
            return None
        return before[-1], after[0]

    def check(self) -> Template:
        """The template itself, if it can be rendered."""
        for slot, allowed in _ALLOWED.items():
            for name in variables(getattr(self, slot) or ""):
                if name not in allowed:
                    usable = ", ".join(sorted(allowed)) or "no variables"
                    raise InvalidInput(
                        f"template {self.name!r} has {{{{{name}}}}} in its {slot}, which may use: {usable}"
                    )
        texts = (*(getattr(self, slot) or "" for slot in _ALLOWED), *self.titles.values(), *self.sections)
        if any(writable(text) != text for text in texts):
            raise InvalidInput(f"template {self.name!r} has a lone surrogate, which no file can hold: remove it")
        if self.quote not in _QUOTES:
            raise InvalidInput(f"template {self.name!r} has quote={self.quote!r}: use one of {', '.join(_QUOTES)}")
        if self.guards and self.quote != "plain":
            raise InvalidInput(f"template {self.name!r} has guards, which only quote='plain' needs: leave them out")
        try:
            re.compile(self.guards)
        except (re.error, OverflowError, RecursionError) as error:
            raise InvalidInput(f"the guards of template {self.name!r} are no regular expression: {error}") from error
        if self.quote in ("fence", "cite") and not self.content_on_own_lines:
            raise InvalidInput(
                f"template {self.name!r} cannot {self.quote} {{{{content}}}}: give it a line of its own, "
                "outside any fence of the template, or use quote='escape'"
            )
        return self

    @classmethod
    def from_mapping(cls, name: str, settings: Mapping[str, object]) -> Template:
        """A template from a table of `weftwork.toml`, or from an object of the Context Engine's form."""
        renamed = {_ALIASES.get(key, key): value for key, value in settings.items() if key != "name"}
        values = {key: _typed(name, key, value) for key, value in renamed.items()}
        if "item" not in values:
            raise InvalidInput(f"template {name!r} has no 'item': give the format of one item")
        if "item" not in settings:
            values = {"section": "", **values}
        template = cls(name=name, **values)  # type: ignore[arg-type]
        if "quote" not in values and not template.content_on_own_lines:
            template = replace(template, quote="escape")
        return template.check()


_ALIASES = {"memory_format": "item", "memoryFormat": "item", "includeMetadata": "include_metadata"}


def variables(text: str) -> tuple[str, ...]:
    """The names between double braces, in their order."""
    return tuple(_VARIABLE.findall(text))


def substitute(text: str, values: Mapping[str, str]) -> str:
    """The text with each variable replaced, in one pass."""
    parts = list(_parts(text))
    parts[1::2] = [values[name] for name in parts[1::2]]
    return "".join(parts)


@lru_cache(maxsize=256)
def _parts(text: str) -> tuple[str, ...]:
    """Literal text and names of variables, in turn."""
    return tuple(_VARIABLE.split(text))


def _typed(name: str, key: str, value: object) -> object:
    """The value, if it is of the kind that the setting takes."""
    match key, value:
        case (("include_metadata" | "fields_first" | "reading_marks"), bool()) | ("empty", None):
            return value
        case "sections", list() | tuple() if all(isinstance(part, str) for part in value):
            return tuple(value)
        case "titles", Mapping() if all(isinstance(part, str) for part in value.values()):
            return dict(value)
        case (("quote" | "guards" | "item" | "header" | "section" | "separator"), str()):
            return value
        case (("line" | "overflow" | "empty" | "footer"), str()):
            return value
    settings = ", ".join(
        [*_ALLOWED, "fields_first", "guards", "include_metadata", "quote", "reading_marks", "sections", "titles"]
    )
    raise InvalidInput(f"template {name!r} cannot have {key} = {value!r}: its settings are {settings}")
