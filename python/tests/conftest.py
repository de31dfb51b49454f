"""Tests use libingot-cache itself (INGOT_CACHE_LIBRARY names it), real processes and real compilers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from ingot_cache import Cache

Spawn = Callable[..., "subprocess.Popen[str]"]

# A shell's background jobs ignore these signals, and so would the processes of the tests.
signal.signal(signal.SIGINT, signal.default_int_handler)
for _number in (signal.SIGHUP, signal.SIGQUIT):
    signal.signal(_number, signal.SIG_DFL)


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty store, which the environment names, and no caches of frameworks."""
    for name in list(os.environ):
        if name.startswith(("INGOT_", "TRITON_", "JAX_")) and name != "INGOT_CACHE_LIBRARY":
            monkeypatch.delenv(name)
    directory = tmp_path / "store"
    monkeypatch.setenv("INGOT_PERSIST_DIR", str(directory))
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "triton"))
    monkeypatch.setenv("TRITON_DEFAULT_FP_FUSION", "1")
    monkeypatch.setenv("CUPY_CACHE_DIR", str(tmp_path / "cupy"))
    return directory


@pytest.fixture
def cache(store: Path) -> Cache:
    return Cache()


@pytest.fixture
def spawn(tmp_path: Path) -> Spawn:
    """Starts Python with a program, and with pipes to and from it."""

    def start(program: str, *arguments: str, **environment: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(program), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            env={**os.environ, **environment},
        )

    return start


def together(processes: Sequence[subprocess.Popen[str]]) -> list[str]:
    """Sends processes a line at the same time, and returns what they print."""
    for process in processes:
        assert process.stdin
        process.stdin.write("go\n")
        process.stdin.flush()
    return [process.communicate()[0] for process in processes]


def stand_in(directory: Path, package: str, files: Mapping[str, str]) -> str:
    """Makes a package of a framework's shape, and returns the directory in which Python finds it."""
    for name, text in files.items():
        file = directory / "stand-in" / package / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(textwrap.dedent(text))
    return str(directory / "stand-in")


@contextmanager
def redis_server(directory: Path) -> Iterator[str]:
    """Runs a server, and returns its URL."""
    socket = directory / "redis"
    server = subprocess.Popen(
        ["redis-server", "--port", "0", "--unixsocket", str(socket), "--save", "", "--dir", str(directory)],
        stdout=subprocess.DEVNULL,
    )
    try:
        while subprocess.run(["redis-cli", "-s", str(socket), "ping"], capture_output=True).returncode != 0:
            assert server.poll() is None
        yield f"redis+unix://{socket}"
    finally:
        server.terminate()
        server.wait()


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[str]:
    """The URL of a server."""
    with redis_server(tmp_path) as url:
        yield url


def entry_files(store: Path) -> list[Path]:
    """The files of the store's entries."""
    return sorted(file for file in store.rglob("*") if file.is_file() and file.stat().st_size > 100)
