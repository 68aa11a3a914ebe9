from __future__ import annotations

from weftwork.render.citations import citation_id, citations_of
from weftwork.render.excerpts import ExcerptRenderer
from weftwork.render.explain import explain
from weftwork.render.jsonform import to_dict, to_json
from weftwork.render.layout import lay_out, overhead, pieces_of
from weftwork.render.lean import LeanContext, LeanDelta, lean, lean_citations, lean_excerpts
from weftwork.render.registry import Templates, get_template
from weftwork.render.templates import Template, variables
from weftwork.render.values import FieldChoice

__all__ = [
    "ExcerptRenderer",
    "FieldChoice",
    "LeanContext",
    "LeanDelta",
    "Template",
    "Templates",
    "citation_id",
    "citations_of",
    "explain",
    "get_template",
    "lay_out",
    "lean",
    "lean_citations",
    "lean_excerpts",
    "overhead",
    "pieces_of",
    "to_dict",
    "to_json",
    "variables",
]
