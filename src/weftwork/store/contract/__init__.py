"""The behaviour that every store must have, as a test class to inherit.

A store's own tests need only this::

    class TestMyStore(StoreContract):
        @pytest.fixture
        def store(self, tmp_path):
            return MyStore(...)
"""

from __future__ import annotations

from weftwork.store.contract.access import AccessContract
from weftwork.store.contract.dates import DatesContract
from weftwork.store.contract.documents import DocumentsContract
from weftwork.store.contract.embedding_queue import ClaimsContract
from weftwork.store.contract.erasure import ErasureContract
from weftwork.store.contract.history import HistoryContract
from weftwork.store.contract.marks import MarksContract
from weftwork.store.contract.pages import PagesContract
from weftwork.store.contract.receipts import ReceiptsContract
from weftwork.store.contract.search import SearchContract
from weftwork.store.contract.server_state import ServerStateContract
from weftwork.store.contract.structure import StructureContract
from weftwork.store.contract.threads import ThreadsContract
from weftwork.store.contract.validity import ValidityContract
from weftwork.store.contract.writing import WritingContract

__all__ = ["StoreContract"]


class StoreContract(
    WritingContract,
    AccessContract,
    StructureContract,
    DocumentsContract,
    SearchContract,
    DatesContract,
    HistoryContract,
    ValidityContract,
    PagesContract,
    MarksContract,
    ClaimsContract,
    ServerStateContract,
    ReceiptsContract,
    ErasureContract,
    ThreadsContract,
):
    """The whole contract; the `store` fixture gives an empty store."""
