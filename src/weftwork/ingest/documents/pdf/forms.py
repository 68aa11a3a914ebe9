"""Form fields: their values, which are no part of a page's own text."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pypdfium2.raw as pdfium

if TYPE_CHECKING:
    from pypdfium2 import PdfPage

MOST_FIELDS = 5_000
"""Fields of one page that are looked at: more are no form that anybody filled in."""
LONGEST_VALUE = 100_000
"""Bytes of one value, or of its field's name."""
TEXTS = (pdfium.FPDF_FORMFIELD_TEXTFIELD, pdfium.FPDF_FORMFIELD_COMBOBOX, pdfium.FPDF_FORMFIELD_LISTBOX)
CHOICES = (pdfium.FPDF_FORMFIELD_CHECKBOX, pdfium.FPDF_FORMFIELD_RADIOBUTTON)


def filled_in(page: PdfPage) -> str:
    """A list of the filled-in fields with their labels; empty if there are none."""
    if page.formenv is None:
        return ""
    return "\n".join(dict.fromkeys(f"- {name}: {value}" for name, value in _fields(page)))


def _fields(page: PdfPage) -> Iterator[tuple[str, str]]:
    for number in range(min(pdfium.FPDFPage_GetAnnotCount(page), MOST_FIELDS)):
        field = pdfium.FPDFPage_GetAnnot(page, number)
        if not field:
            continue
        try:
            value = _value(page.formenv, field)
            name = _string(pdfium.FPDFAnnot_GetFormFieldAlternateName, page.formenv, field)
            name = name or _string(pdfium.FPDFAnnot_GetFormFieldName, page.formenv, field)
        finally:
            pdfium.FPDFPage_CloseAnnot(field)
        if value:
            yield name or "field", value


def _value(form: Any, field: Any) -> str:
    kind = pdfium.FPDFAnnot_GetFormFieldType(form, field)
    if kind in TEXTS:
        return _string(pdfium.FPDFAnnot_GetFormFieldValue, form, field)
    if kind in CHOICES and pdfium.FPDFAnnot_IsChecked(form, field):
        chosen = _string(pdfium.FPDFAnnot_GetFormFieldExportValue, form, field)
        return "yes" if chosen in ("", "On") else chosen
    return ""


def _string(ask: Callable[..., int], form: Any, field: Any) -> str:
    """Call a pdfium getter, which writes NUL-terminated UTF-16, and return one line."""
    size = min(ask(form, field, None, 0), LONGEST_VALUE)
    if size <= 2:
        return ""
    buffer = (ctypes.c_ushort * ((size + 1) // 2))()
    if ask(form, field, buffer, ctypes.sizeof(buffer)) > ctypes.sizeof(buffer):
        return ""
    return " ".join(bytes(buffer).decode("utf-16-le", "replace").rstrip("\0").split())
