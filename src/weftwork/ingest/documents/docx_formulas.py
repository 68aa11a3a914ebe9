"""Formulas of a DOCX in the linear format of Unicode Technical Note 28: (a+b)/c, 10^(-6), √(x)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html import escape
from typing import Any

from lxml import etree

_FORMULA = re.compile(rb"<m:oMath(?:\s[^>]*)?>.*?</m:oMath>", re.DOTALL)
_DISPLAYED = re.compile(rb"</?m:oMathPara(?:\s[^>]*)?>|<m:oMathParaPr>.*?</m:oMathParaPr>", re.DOTALL)
_SINGLE = re.compile(r"[\w.∞′°]*")
_UNSEEN = re.compile("[\u2061-\u2064]")
"""Marks between factors, and between a function and what it is of."""
_ROOT = b'<m:x xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math">%s</m:x>'


def with_formulas(document: bytes) -> bytes:
    """The body of a DOCX with its formulas as runs of text."""
    return _FORMULA.sub(_as_run, _DISPLAYED.sub(b"", document)) if b"<m:oMath" in document else document


def _as_run(formula: re.Match[bytes]) -> bytes:
    parser = etree.XMLParser(recover=True, resolve_entities=False)
    root = etree.fromstring(_ROOT % formula[0], parser)
    text = _UNSEEN.sub("", _written(root)) if root is not None else ""
    return b"<w:r><w:t xml:space='preserve'>" + escape(text, quote=False).encode() + b"</w:t></w:r>" if text else b""


def _written(element: Any) -> str:
    """An element of a formula on one line."""
    return _WRITERS.get(_name(element), _inside)(element)


def _radical(element: Any) -> str:
    degree = _part(element, "deg")
    return f"√({degree}&{_part(element, 'e')})" if degree else f"√({_part(element, 'e')})"


def _sum(element: Any) -> str:
    """A sum, product or integral with its bounds."""
    return f"{_property(element, 'naryPr', 'chr') or '∫'}{_scripts(element)} {_part(element, 'e')}"


def _delimited(element: Any) -> str:
    begin, end = (_property(element, "dPr", name) for name in ("begChr", "endChr"))
    inner = ", ".join(_inside(part) for part in _parts(element, "e"))
    return f"{'(' if begin is None else begin}{inner}{')' if end is None else end}"


def _matrix(element: Any) -> str:
    rows = (", ".join(_inside(cell) for cell in _parts(row, "e")) for row in _parts(element, "mr"))
    return f"[{'; '.join(rows)}]"


def _scripted(element: Any) -> str:
    return _part(element, "e") + _scripts(element)


_WRITERS: dict[str, Callable[[Any], str]] = {
    "t": lambda element: element.text or "",
    "f": lambda element: f"{_grouped(element, 'num')}/{_grouped(element, 'den')}",
    "sSup": _scripted,
    "sSub": _scripted,
    "sSubSup": _scripted,
    "sPre": lambda element: _scripts(element) + _part(element, "e"),
    "rad": _radical,
    "nary": _sum,
    "limLow": lambda element: f"{_part(element, 'e')}_{_grouped(element, 'lim')}",
    "limUpp": lambda element: f"{_part(element, 'e')}^{_grouped(element, 'lim')}",
    "func": lambda element: f"{_part(element, 'fName')} {_part(element, 'e')}",
    "d": _delimited,
    "m": _matrix,
    "eqArr": lambda element: "; ".join(_inside(line) for line in _parts(element, "e")),
}
"""The elements that are more than what stands in them, one after the other."""


def _inside(element: Any) -> str:
    return "".join(_written(child) for child in element if not _name(child).endswith("Pr"))


def _scripts(element: Any) -> str:
    marked = (("_", _grouped(element, "sub")), ("^", _grouped(element, "sup")))
    return "".join(mark + text for mark, text in marked if text)


def _part(element: Any, name: str) -> str:
    return "".join(_inside(part) for part in _parts(element, name))


def _grouped(element: Any, name: str) -> str:
    """A part of an element, in parentheses where it is more than one symbol."""
    text = _part(element, name).strip()
    return text if _SINGLE.fullmatch(_UNSEEN.sub("", text)) else f"({text})"


def _parts(element: Any, name: str) -> Iterator[Any]:
    return (child for child in element if _name(child) == name)


def _property(element: Any, group: str, name: str) -> str | None:
    """The value of a property of an element; None where it is absent."""
    for properties in _parts(element, group):
        for found in _parts(properties, name):
            return next(iter(found.attrib.values()), "")
    return None


def _name(element: Any) -> str:
    return str(element.tag).rpartition("}")[2].rpartition(":")[2]
