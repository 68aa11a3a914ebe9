from __future__ import annotations

from weft.render.citations import citation_id, citations_of
from weft.render.explain import explain
from weft.render.items import ItemRenderer
from weft.render.jsonform import to_dict, to_json
from weft.render.layout import lay_out, overhead, pieces_of, stable_prefix
from weft.render.registry import Templates, get_template
from weft.render.templates import Template
from weft.render.values import FieldChoice

__all__ = [
    "FieldChoice",
    "ItemRenderer",
    "Template",
    "Templates",
    "citation_id",
    "citations_of",
    "explain",
    "get_template",
    "lay_out",
    "overhead",
    "pieces_of",
    "stable_prefix",
    "to_dict",
    "to_json",
]
