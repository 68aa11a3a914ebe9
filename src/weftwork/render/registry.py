from __future__ import annotations

from collections.abc import Iterable

from weftwork.errors import UnknownName
from weftwork.render.builtin import BUILTIN
from weftwork.render.templates import Template


class Templates:
    """The registry of templates by name: built-in and registered ones."""

    def __init__(self, more: Iterable[Template] = ()) -> None:
        self._by_name = dict(BUILTIN)
        for template in more:
            self.register(template)

    def register(self, template: Template) -> None:
        """Make a template known; one of the same name is replaced."""
        self._by_name[template.name] = template.check()

    def get(self, template: str | Template) -> Template:
        """The template of this name; a template itself is checked and handed back."""
        if isinstance(template, Template):
            return template.check()
        if template not in self._by_name:
            raise UnknownName("template", template, self._by_name)
        return self._by_name[template]

    def names(self) -> tuple[str, ...]:
        """The names of all templates, sorted."""
        return tuple(sorted(self._by_name))


def get_template(template: str | Template) -> Template:
    """A built-in template by its name, or the given template, checked."""
    return Templates().get(template)
