"""PyOpenCL, which needs no plug: `ingot run` puts Ingot's OpenCL layer into the process."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

#: Runs the program with a store, and returns how many programs PoCL compiled.
Run = Callable[..., int]

PROGRAM = """
    import numpy as np
    import pyopencl as cl
    device = next(each for p in cl.get_platforms() if "Portable" in p.name for each in p.get_devices())
    context = cl.Context([device])
    queue = cl.CommandQueue(context)
    program = cl.Program(context, "kernel void twice(global int *a) { a[get_global_id(0)] *= 2; }").build()
    values = np.arange(4, dtype=np.int32)
    buffer = cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=values)
    program.twice(queue, values.shape, None, buffer)
    cl.enqueue_copy(queue, values, buffer)
    print(values.tolist())
"""


@pytest.fixture
def run(tmp_path: Path) -> Run:
    def start(store: str, **environment: str) -> int:
        stats = tmp_path / "stats"
        stats.unlink(missing_ok=True)
        variables = {
            "INGOT_PERSIST_DIR": str(tmp_path / store),
            "INGOT_LAYER_STATS": str(stats),
            "POCL_CACHE_DIR": str(tmp_path / "pocl"),
            "PYOPENCL_NO_CACHE": "1",
            **environment,
        }
        # `env` sets variables that the tool itself must not see.
        command = ["ingot", "run", "--now", "--", "env", *(f"{name}={value}" for name, value in variables.items())]
        output = subprocess.run(
            [*command, sys.executable, "-c", textwrap.dedent(PROGRAM)],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            cwd=tmp_path,
            env={**os.environ, "INGOT_PERSIST_DIR": str(tmp_path / store)},
        ).stdout
        assert output.endswith("[0, 2, 4, 6]\n")
        lines = stats.read_text().splitlines()
        return sum(int(line.partition("=")[2]) for line in lines if line.startswith("builds="))

    return start


def test_a_program_comes_from_the_store(run: Run) -> None:
    assert run("store") == 1
    assert run("store") == 0


def test_without_the_word_nothing_is_stored_and_the_statistics_name_it(run: Run, tmp_path: Path) -> None:
    child = subprocess.run(
        ["ingot", "run", "--stats", "--", sys.executable, "-c", textwrap.dedent(PROGRAM)],
        capture_output=True,
        text=True,
        env={
            **os.environ,
            "INGOT_PERSIST_DIR": str(tmp_path / "store"),
            "POCL_CACHE_DIR": str(tmp_path / "pocl"),
            "PYOPENCL_NO_CACHE": "1",
        },
    )
    assert child.stdout == "[0, 2, 4, 6]\n"
    assert "--now" in child.stderr
    assert run("store") == 1


def test_a_program_comes_from_a_server(run: Run, redis: str) -> None:
    assert run("first", INGOT_PERSIST_REMOTE=redis) == 1
    assert run("second", INGOT_PERSIST_REMOTE=redis) == 0
    assert run("third") == 1


def test_without_libcurl_the_store_works_alone(run: Run, tmp_path: Path) -> None:
    hidden, trace = tmp_path / "without-curl", tmp_path / "trace"
    hidden.mkdir()
    (hidden / "libcurl.so.4").touch()  # an empty file is not a library, so it hides the system's
    variables = {
        "INGOT_PERSIST_REMOTE": "redis://127.0.0.1:9",
        "LD_LIBRARY_PATH": str(hidden),
        "INGOT_TRACE": str(trace),
    }
    for expected in (1, 0):
        trace.unlink(missing_ok=True)
        assert run("store", **variables) == expected
        (line,) = (each for each in trace.read_text().splitlines() if "INGOT_PERSIST_REMOTE" in each)
        assert "libcurl.so.4" in line
