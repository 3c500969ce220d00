"""What happens to files: torn, foreign, outdated and read-only ones, a full disk, many processes at once."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pystage
from pystage.runtime.cache import keys, store


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder of its own."""
    monkeypatch.setattr(store, "_warned", set())
    monkeypatch.setattr(pystage.config, "_cache_dir", str(tmp_path / "cache"))
    return tmp_path / "cache"


def doubled(x: Any) -> Any:
    return x + x


def run() -> None:
    made = pystage.compile(doubled, fallback="error")(np.arange(3.0))
    assert made.tolist() == [0.0, 2.0, 4.0]


def kept(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize(
    "harm",
    [
        lambda path: path.write_bytes(path.read_bytes()[:-7]),
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(b"something else"),
        flip,
        lambda path: path.chmod(0o666),
        lambda path: store.write(path, b"not what is expected here"),
        lambda path: store.write(path, b"x\x9c\x03\x00\x00\x00\x00\x01"),
    ],
)
def test_a_file_that_is_not_what_was_written_is_left_aside(harm: Callable[[Path], Any], folder: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run()
        assert kept(folder)
        for path in kept(folder):
            if path.parent.name == "programs":
                harm(path)
        run()
        run()


def test_a_file_of_another_user_is_not_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = folder / "a"
    assert store.write(path, b"data")
    assert store.read(path) == b"data"
    link = folder / "link"
    link.symlink_to(path)
    assert store.read(link) is None
    if os.getuid() == 0:
        os.chown(path, 12345, 12345)
    else:
        monkeypatch.setattr(os, "getuid", lambda: 12345)
    assert store.read(path) is None


def test_a_folder_that_others_may_write_to_is_not_used(folder: Path) -> None:
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.warns(pystage.CacheWarning, match="others may write to it") as caught:
        run()
        run()
    assert len(caught) == 1
    assert not kept(folder)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES])
def test_what_cannot_be_written_is_told_once(
    number: int, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(
        store.os if number == errno.ENOSPC else store.tempfile,
        "replace" if number == errno.ENOSPC else "mkstemp",
        refuse,
    )
    with pytest.warns(pystage.CacheWarning, match="cache cannot be used") as caught:
        run()
        run()
    assert len(caught) == 1
    assert not kept(folder)


def test_a_full_disk_leaves_no_part_of_a_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        def __init__(self, handle: int, mode: str) -> None:
            self.handle = handle

        def __enter__(self) -> Full:
            return self

        def __exit__(self, *exception: object) -> None:
            os.close(self.handle)

        def write(self, data: bytes) -> None:
            os.write(self.handle, data[:10])
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(store, "open", Full, raising=False)
    with pytest.warns(pystage.CacheWarning, match="No space left"):
        assert not store.write(folder / "a", b"data")
    monkeypatch.undo()
    assert not kept(folder)


def test_a_folder_that_cannot_be_made(folder: Path) -> None:
    folder.parent.joinpath("cache").write_text("a file")
    with pytest.warns(pystage.CacheWarning):
        run()


def test_files_of_another_version_are_not_looked_at(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run()
    monkeypatch.setattr(keys, "source_digest", lambda: "edited")
    keys.process_key.cache_clear()
    try:
        run()
    finally:
        keys.process_key.cache_clear()
    assert len(list(folder.iterdir())) == 2


PROCESSES = """
import os, sys
from pathlib import Path
from pystage.runtime.cache import store
path, data = Path(sys.argv[1]) / "inner" / "a", [bytes([65 + i]) * (1 << 16) for i in range(20)]
children = []
for i in range(20):
    child = os.fork()
    if not child:
        try:
            for _ in range(30):
                assert store.write(path, data[i])
                assert store.read(path) in data
            os._exit(0)
        except BaseException as error:
            print(repr(error), file=sys.stderr, flush=True)
            os._exit(1)
    children.append(child)
assert all(os.waitpid(child, 0)[1] == 0 for child in children)
assert [p.name for p in path.parent.iterdir()] == ["a"]
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_twenty_processes_at_once(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROCESSES, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
