"""Translation of PostgreSQL's errors."""

from __future__ import annotations

import psycopg
from psycopg import errors
from psycopg_pool import PoolClosed, PoolTimeout, TooManyRequests

from weftwork.errors import InvalidInput, StoreBusy, StoreError, StoreUnavailable, WeftError

EXPLAINED = (psycopg.Error, PoolTimeout, PoolClosed, TooManyRequests, UnicodeEncodeError)
AGAIN = (errors.SerializationFailure, errors.DeadlockDetected, errors.LockNotAvailable, errors.UniqueViolation)
"""Conflicts with a concurrent writer; unique violations too, since we look keys up before inserting."""
GONE = (psycopg.OperationalError, psycopg.InterfaceError)
TOO_LONG = ("25P03", "25P04")
"""SQLSTATEs of idle_in_transaction_session_timeout and transaction_timeout."""


def is_of_a_shard(error: BaseException) -> bool:
    """True if the coordinator cannot reach the worker that has the rows."""
    return isinstance(error, (errors.SqlclientUnableToEstablishSqlconnection, errors.ConnectionFailure))


def is_gone(error: BaseException) -> bool:
    """True if the connection was lost, so that another one may work."""
    if is_of_a_shard(error) or isinstance(error, (PoolTimeout, *AGAIN, errors.QueryCanceled)):
        return False
    return isinstance(error, GONE) or (isinstance(error, psycopg.Error) and error.sqlstate in TOO_LONG)


def explained(error: BaseException, place: str) -> WeftError:
    """The corresponding error of Weftwork, with the remedy."""
    if isinstance(error, UnicodeEncodeError):
        return InvalidInput(f"{error.object!r} is not text that can be kept ({error.reason}): correct its characters")
    if isinstance(error, AGAIN):
        return StoreBusy(f"{place}: another write was in the way ({_first(error)}): try again")
    if is_of_a_shard(error):
        return StoreUnavailable(
            f"{place}: a worker does not answer ({_first(error)}): its workspaces can be used again when it runs, "
            "all others can now"
        )
    for kinds, answer, text in _REASONS:
        if isinstance(error, kinds):
            return answer(f"{place} {text.format(error=_first(error))}")
    if is_gone(error):
        return StoreUnavailable(f"{place} does not answer ({_first(error)}): check that the server runs and try again")
    return StoreError(f"{place}: {_first(error)}")


_REASONS: tuple[tuple[tuple[type[BaseException], ...], type[WeftError], str], ...] = (
    ((PoolClosed,), StoreError, "was closed: open it again"),
    (
        (PoolTimeout, TooManyRequests),
        StoreUnavailable,
        "gave no connection ({error}): check that the server runs, or raise weftwork_pool in the address",
    ),
    (
        (errors.QueryCanceled,),
        StoreBusy,
        "took too long ({error}): ask for less, or raise weftwork_timeout in the address",
    ),
    (
        (errors.InsufficientPrivilege,),
        StoreError,
        "refuses ({error}): grant the role its rights, see docs/postgres.md",
    ),
    (
        (errors.InvalidSqlStatementName, errors.DuplicatePreparedStatement),
        StoreError,
        "loses prepared statements ({error}): behind a pooler such as PgBouncer, add  weftwork_pooler=transaction  "
        "to the address",
    ),
    ((errors.DiskFull,), StoreError, "cannot be written ({error}): free some space on the server"),
    (
        (errors.ProgramLimitExceeded,),
        InvalidInput,
        "cannot keep what is so long ({error}): ids, tags, labels and names have up to 2,600 bytes, "
        "vectors 16,000 numbers",
    ),
    ((errors.ReadOnlySqlTransaction,), StoreUnavailable, "is read-only ({error}): write to the primary server"),
    ((errors.DataError,), InvalidInput, "cannot keep a value ({error}): correct it"),
)


def _first(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
