"""Files of the cache: named blocks of bytes, private to the user, read and written by any number of processes.

A file is written under a name of its own and renamed, so that it is there as a whole or not at all, and says by a digest
whether it is what was written. Files and folders that another user owns or may write to are not read: what is kept are
programs. Where something cannot be written, the process goes on without; it says so once.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import sys
import tempfile
from pathlib import Path

from ...config import config
from ..reports.messages import Topic, tell
from ..reports.warnings import CacheWarning, warn

_MAGIC = b"pystage cache 1\n"
_MOST = 1 << 28
"""Bytes of a file that is read or written."""
_warned: set[str] = set()


def folder() -> Path | None:
    """The user's cache folder, if it exists and is safe; None where nothing is kept."""
    chosen = config.cache_dir
    if chosen is None:
        return None
    path = _users_own() if chosen == "auto" else Path(chosen).expanduser()
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _is_safe(os.stat(path)):
            _warn(f"{path} belongs to another user, or others may write to it")
            return None
    except OSError as error:
        _warn(f"{path}: {error}")
        return None
    return path


def _users_own() -> Path:
    """The system's place for a user's caches."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or str(Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = str(Path.home() / "Library" / "Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "pystage"


def _is_safe(found: os.stat_result) -> bool:
    """True for a folder of this user, or of root, that nobody else may change."""
    if not hasattr(os, "getuid"):
        return True
    return found.st_uid in (os.getuid(), 0) and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _warn(why: str) -> None:
    """Warns once in a process, whatever happens."""
    tell(Topic.CACHE, f"the cache is not used: {why}")
    if not _warned:
        _warned.add(why)
        warn(f"pystage's cache cannot be used: {why}", CacheWarning)


def sealed(magic: bytes, data: bytes) -> bytes:
    """Data with a header that identifies it, and a digest that `unsealed` checks."""
    return magic + hashlib.sha256(data).digest() + data


def unsealed(magic: bytes, data: bytes) -> bytes | None:
    """The sealed data; None for damaged or other data."""
    start = len(magic) + 32
    if not data.startswith(magic) or hashlib.sha256(data[start:]).digest() != data[len(magic) : start]:
        return None
    return data[start:]


def names(where: Path, prefix: str) -> list[str]:
    """The names in a folder with this beginning, the latest first."""
    found: list[tuple[float, str]] = []
    with contextlib.suppress(OSError), os.scandir(where) as entries:
        for entry in entries:
            if entry.name.startswith(prefix):
                with contextlib.suppress(OSError):
                    found.append((entry.stat().st_mtime, entry.name))
    return [name for _, name in sorted(found, reverse=True)]


def read(path: Path) -> bytes | None:
    """The data written under a name; None where it is missing or invalid."""
    try:
        with open(
            os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)), "rb"
        ) as file:
            found = os.fstat(file.fileno())
            if not _is_safe(found) or not stat.S_ISREG(found.st_mode) or found.st_size > _MOST:
                tell(
                    Topic.CACHE, f"{path} is not read: it belongs to another user, or others may write to it"
                )
                return None
            data = file.read()
    except OSError:
        return None
    found_data = unsealed(_MAGIC, data)
    if found_data is None:
        tell(Topic.CACHE, f"{path} is not what was written, and is left aside")
    return found_data


def write(path: Path, data: bytes) -> bool:
    """Writes data under a name; False where that is impossible."""
    if len(data) > _MOST:
        return False
    temporary = None
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=".", dir=path.parent)
        with open(handle, "wb") as file:
            file.write(sealed(_MAGIC, data))
        os.replace(temporary, path)
    except OSError as error:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        _warn(str(error))
        return False
    return True


def remove(path: Path) -> None:
    """Removes a file, if it is there and can be removed."""
    with contextlib.suppress(OSError):
        os.unlink(path)
