from tests.write.committing import Committing


class TestOnPostgres(Committing):
    """As on SQLite."""
