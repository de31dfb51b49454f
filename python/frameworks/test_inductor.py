"""Inductor's two plugs, with torch on the CPU and a real C++ compiler: scripts/test-frameworks torch runs these tests.

They are not among python/tests, because torch takes 6 GB.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

WORKLOADS = Path(__file__).with_name("workloads.py")


def torch_folder() -> str:
    found = importlib.util.find_spec("torch")
    assert found and found.origin
    return os.path.dirname(found.origin)


def start(folder: Path, number: int, **environment: str) -> subprocess.Popen[str]:
    """Starts a process with a home and an Inductor directory of its own, and the store of the test."""
    mine = folder / str(number)
    mine.mkdir(exist_ok=True)
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("INGOT_P", "TORCHINDUCTOR_", "TRITON_"))}
    kept.update(
        HOME=str(mine),
        TORCHINDUCTOR_CACHE_DIR=str(mine / "inductor"),
        CUDA_VISIBLE_DEVICES="",
        INGOT_PERSIST_DIR=str(folder / "store"),
        INGOT_PYTHON="torch",
        **environment,
    )
    return subprocess.Popen(
        [sys.executable, str(WORKLOADS), "torch", str(mine)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=mine,
        env=kept,
    )


def result(child: subprocess.Popen[str]) -> dict[str, Any]:
    """Returns what a process printed, with its runs of the C++ compiler for kernels."""
    output, errors = child.communicate("go\nend\n")
    assert child.returncode == 0 and "PlugWarning" not in errors, errors
    found = re.search(r"g\+\+ runs: (\d+), torch: (.*)", errors)
    assert found
    return {**json.loads(output.splitlines()[-1]), "runs": int(found[1]), "torch": found[2]}


def test_graphs_and_libraries_come_from_the_store(tmp_path: Path) -> None:
    made = result(start(tmp_path, 1))
    found = result(start(tmp_path, 2))
    assert made["compiled"] == made["keys"] == 3
    assert made["runs"] >= 3
    assert (found["compiled"], found["runs"]) == (0, 0)
    assert found["digest"] == made["digest"]


def test_libraries_come_from_the_store_without_graphs(tmp_path: Path) -> None:
    """CppBuilder.build alone: the remote caches are off."""
    off = {"TORCHINDUCTOR_FX_GRAPH_REMOTE_CACHE": "0", "TORCHINDUCTOR_AUTOGRAD_REMOTE_CACHE": "0"}
    made = result(start(tmp_path, 1, **off))
    found = result(start(tmp_path, 2, **off))
    assert made["runs"] >= 3
    assert (found["compiled"], found["runs"]) == (3, 0)
    assert found["digest"] == made["digest"]


def test_libraries_are_found_by_torch_at_another_path(tmp_path: Path) -> None:
    """Its directories are in the compiler's command, as -I and -L."""
    off = {"TORCHINDUCTOR_FX_GRAPH_REMOTE_CACHE": "0", "TORCHINDUCTOR_AUTOGRAD_REMOTE_CACHE": "0"}
    packages = Path(torch_folder()).parent
    results = []
    for number in (1, 2):
        place = tmp_path / f"environment-{number}"
        place.mkdir()
        for item in packages.iterdir():
            if item.suffix != ".pth":
                (place / item.name).symlink_to(item)
        results.append(result(start(tmp_path, number, PYTHONPATH=f"{place}:{os.environ.get('PYTHONPATH', '')}", **off)))
        assert results[-1]["torch"] == str(place / "torch")
    made, found = results
    assert made["runs"] >= 3
    assert (found["compiled"], found["runs"]) == (3, 0)
    assert found["digest"] == made["digest"]


def test_the_command_keeps_paths_that_the_result_contains() -> None:
    program = """
        from ingot_cache.inductor import _inputs
        places = {"/venv/torch": "TORCH"}
        command = "g++ -O2 -I/venv/torch/include -L/venv/torch -I/venv/torchvision -Wl,-rpath,/venv/torch".split()
        print(_inputs(command, "/t", places)["command"])
        print(_inputs([*command, "-g1"], "/t", places)["command"])
    """
    child = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], stdout=subprocess.PIPE, text=True)
    assert child.stdout.splitlines() == [
        "g++ -O2 -ITORCH/include -LTORCH -I/venv/torchvision -Wl,-rpath,/venv/torch",
        "g++ -O2 -I/venv/torch/include -L/venv/torch -I/venv/torchvision -Wl,-rpath,/venv/torch -g1",
    ]


@pytest.mark.parametrize("later", [False, True])
def test_a_server_without_seals_gives_no_pickles(tmp_path: Path, later: bool) -> None:
    """Whether the environment names it, or the application does when the plug is installed."""
    program = """
        import sys, warnings
        import ingot_cache
        from ingot_cache import _plug, inductor
        from torch._inductor import remote_cache
        cache = ingot_cache.Cache(remote="redis://127.0.0.1:1")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            if sys.argv[1] == "True":
                inductor.install()
            _plug.set_cache(cache)
            inductor.install()
            backend = remote_cache.RemoteFxGraphCache.backend_override_cls
            print(backend is None or backend()._get("key"), cache.stats()["missed"])
        assert any("INGOT_PERSIST_TRUST=require" in str(each.message) for each in caught)
    """
    child = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program), str(later)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "INGOT_PERSIST_DIR": str(tmp_path / "store")},
    )
    assert child.stdout == ("None 0\n" if later else "True 0\n")
