"""All errors that Weftwork raises on purpose.

::

    WeftError
    ├── InvalidInput            a value that cannot be used; the message names the fix
    │   ├── UnknownName         a template, packer, recipe, lens … that is not registered
    │   ├── Ambiguous           a name that several nodes have; it carries them
    │   ├── BudgetError         a budget that is not a positive whole number
    │   ├── DimensionError      a vector whose length is not the model's
    │   ├── CycleError          a parent that would make a node its own ancestor
    │   └── NotPermitted        a change that is for a node's owner, or for an admin key, to make
    ├── NotFound                a workspace, user, thread or node that is absent or hidden
    ├── StoreError              the file is damaged, locked for too long, or from a newer Weftwork
    │   ├── StoreUnavailable    the server does not answer; what was not acknowledged may be tried again
    │   └── StoreBusy           others are in the way, or it takes too long: try again, or ask for less
    ├── EmbeddingError          a provider failed or answered nonsense
    ├── ModelError              a language model failed or answered nonsense
    ├── AccessDenied            a server wants a key, or another one, for this
    ├── RemoteError             a server could not be reached, or failed
    └── MissingExtra            an optional part is not installed; the message has the pip command

A node that a user may not see is reported exactly like one that does not exist.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping


class WeftError(Exception):
    """The root of all errors that Weftwork raises on purpose."""


class InvalidInput(WeftError, ValueError):
    """A value that cannot be used."""


class UnknownName(InvalidInput):
    """A name that is not registered; carries the names that are."""

    def __init__(self, kind: str, name: str, available: Iterable[str]) -> None:
        self.kind = kind
        self.name = name
        self.available = tuple(sorted(available))
        super().__init__(f"unknown {kind} {name!r}: use one of {', '.join(self.available) or '(none registered)'}")


class Ambiguous(InvalidInput):
    """A name that several nodes have; carries the reference of each, and how to tell it from the others."""

    def __init__(self, message: str, meanings: Mapping[str, str]) -> None:
        self.meanings = dict(meanings)
        super().__init__(message)


class BudgetError(InvalidInput):
    """A budget that is not a positive whole number."""


class DimensionError(InvalidInput):
    """A vector whose length is not the model's."""


class CycleError(InvalidInput):
    """A parent that would make a node its own ancestor."""


class NotPermitted(InvalidInput):
    """A change that is for the owner of a node, or for an admin key, to make."""


class NotFound(WeftError, LookupError):
    """Something that is absent, or that this user may not see: the two look the same."""


class StoreError(WeftError):
    """The store cannot be opened, read or written."""


class StoreUnavailable(StoreError):
    """The server does not answer, or a connection to it was lost."""


class StoreBusy(StoreError):
    """Other writes are in the way, or a statement takes too long."""


class EmbeddingError(WeftError):
    """An embedding provider failed or answered something unusable."""


class ModelError(WeftError):
    """A language model could not be asked, or answered something unusable."""


class AccessDenied(WeftError):
    """A server wants a key that it knows, or one that allows more."""


class RemoteError(WeftError):
    """A server could not be reached, or failed to answer."""


class MissingExtra(WeftError, ImportError):
    """An optional part is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} is not installed: run  pip install 'weftwork[{extra}]'")
