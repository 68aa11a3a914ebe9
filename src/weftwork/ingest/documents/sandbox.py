"""Shutting the parsing process in: no network, and no files but the document and the program itself.

On Linux a process may do this to itself without any right: a network namespace of its own has no way out, and Landlock
(https://docs.kernel.org/userspace-api/landlock.html) opens nothing but what it is told. Where a kernel has neither, the
process still has an empty environment, and limits of time and memory.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from collections.abc import Iterable
from pathlib import Path

GIVEN, OWN = "given", "own"
"""Folders in the room of the process: documents that it reads, and what it writes."""
PROGRAM = ("/usr", "/lib", "/lib64", "/bin", "/sbin", "/opt", "/nix", "/proc/self", "/proc/cpuinfo", "/proc/meminfo",
           "/sys/devices/system/cpu", "/dev/null", "/dev/zero", "/dev/urandom", "/dev/random", "/etc/fonts",
           "/etc/ld.so.cache", "/etc/localtime", "/etc/mime.types", "/etc/libreoffice")  # fmt: skip
"""What programs and libraries read; neither users' files nor settings with secrets."""
KEPT = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH", "OMP_NUM_THREADS", "SYSTEMROOT", "PYTHONPATH")
"""Variables of the environment that programs need to start; no other is handed on."""

_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000
_NO_NEW_PRIVILEGES = 38
_CREATE, _ADD, _RESTRICT = 444, 445, 446
"""Numbers of Landlock's system calls, on every architecture."""
_READ = 0b1101
"""Execute, read a file, list a folder."""
_ON_FILES = 0b1100000000000111
_ALL = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
"""Every access to files that a version of Landlock knows of."""
_TCP = 0b11


def environment(room: Path) -> dict[str, str]:
    """The environment of a process that works in a folder of its own."""
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    return {**kept, "HOME": str(room), "TMPDIR": str(room), "PYTHONDONTWRITEBYTECODE": "1"}


def confine(readable: Iterable[Path], writable: Iterable[Path]) -> frozenset[str]:
    """Give up the network and all other files, as far as this system can; return what was given up.

    Call it before any thread starts.
    """
    if sys.platform != "linux":
        return frozenset()
    libc = ctypes.CDLL(None, use_errno=True)
    given_up = {"network"} if _without_network(libc) else set()
    paths = [
        *map(Path, PROGRAM),
        Path(sys.prefix),
        Path(sys.base_prefix),
        *map(Path, filter(None, sys.path)),
        *readable,
    ]
    if _within(libc, paths, list(writable)):
        given_up.add("files")
    return frozenset(given_up)


def _without_network(libc: ctypes.CDLL) -> bool:
    user, group = os.getuid(), os.getgid()
    if libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET):
        return False
    for name, value in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        try:
            Path("/proc/self", name).write_text(value, encoding="ascii")
        except OSError:  # files are checked by the numbers outside all the same
            break
    return True


def _within(libc: ctypes.CDLL, readable: list[Path], writable: list[Path]) -> bool:
    version = libc.syscall(_CREATE, None, 0, 1)
    if version < 1:
        return False
    handled = _ALL[max(known for known in _ALL if known <= version)]
    attributes = struct.pack("QQ", handled, _TCP) if version >= 4 else struct.pack("Q", handled)
    rules = libc.syscall(_CREATE, attributes, len(attributes), 0)
    if rules < 0:
        return False
    try:
        for paths, access in ((readable, _READ), (writable, handled)):
            for path in {path.resolve() for path in paths if path.exists()}:
                _allow(libc, rules, path, access & handled)
        device = Path("/dev/null")
        if device.exists():
            _allow(libc, rules, device, (_READ | 0b10) & handled)
        return not libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) and not libc.syscall(_RESTRICT, rules, 0)
    finally:
        os.close(rules)


def _allow(libc: ctypes.CDLL, rules: int, path: Path, access: int) -> None:
    try:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        granted = access if path.is_dir() else access & _ON_FILES
        libc.syscall(_ADD, rules, 1, struct.pack("=Qi", granted, handle), 0)
    finally:
        os.close(handle)
