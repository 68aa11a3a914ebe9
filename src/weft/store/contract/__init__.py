"""The behaviour that every store must have, as a test class to inherit.

A store's own tests need only this::

    class TestMyStore(StoreContract):
        @pytest.fixture
        def store(self, tmp_path):
            return MyStore(...)
"""

from __future__ import annotations

from weft.store.contract.access import AccessContract
from weft.store.contract.claims import ClaimsContract
from weft.store.contract.dates import DatesContract
from weft.store.contract.history import HistoryContract
from weft.store.contract.marks import MarksContract
from weft.store.contract.pages import PagesContract
from weft.store.contract.search import SearchContract
from weft.store.contract.service import ServiceContract
from weft.store.contract.structure import StructureContract
from weft.store.contract.validity import ValidityContract
from weft.store.contract.writing import WritingContract

__all__ = ["StoreContract"]


class StoreContract(
    WritingContract,
    AccessContract,
    StructureContract,
    SearchContract,
    DatesContract,
    HistoryContract,
    ValidityContract,
    PagesContract,
    MarksContract,
    ClaimsContract,
    ServiceContract,
):
    """All of it; the `store` fixture gives an empty store."""
