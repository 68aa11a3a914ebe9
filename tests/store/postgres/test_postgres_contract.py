from weftwork.store.contract import StoreContract


class TestPostgresStore(StoreContract):
    """The `store` fixture of this folder gives an empty store."""
