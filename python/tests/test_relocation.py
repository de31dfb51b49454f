"""Programs are found with sources, working directory, home, temporary directory and virtual environment elsewhere."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

TRITON = """
import triton
import triton.language as tl
from triton import knobs
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

hits = []
knobs.compilation.listener = lambda **named: hits.append(named["cache_hit"])


@triton.jit
def fill(out, BLOCK: tl.constexpr):
    tl.store(out + tl.arange(0, BLOCK), 7)


source = ASTSource(fill, {"out": "*i32", "BLOCK": "constexpr"}, {"BLOCK": 64})
triton.compile(source, target=GPUTarget("cuda", 90, 32))
print(triton.__file__, hits.count(False), hits.count(True), sep="|")
"""

JAX = """
import jax
import jax.numpy as jnp
from jax._src import monitoring

events = []
monitoring.register_event_listener(lambda name, **named: events.append(name))


def model(x):
    return jnp.sin(x @ x).sum()


jax.jit(model)(jnp.ones((8, 8)))
names = ("/jax/compilation_cache/cache_misses", "/jax/compilation_cache/cache_hits")
print(jax.__file__, *(events.count(name) for name in names), sep="|")
"""


def run_at(place: Path, framework: str, program: str) -> tuple[int, int]:
    """Runs the program as if all that it uses was installed here. Returns how much it compiled and found."""
    packages = place / "environment"
    packages.mkdir(parents=True)
    for item in Path(sysconfig.get_path("purelib")).iterdir():
        if item.suffix != ".pth":
            (packages / item.name).symlink_to(item)
    (place / "application.py").write_text(program)
    moved = {name: str(place / name.lower()) for name in ("HOME", "XDG_CACHE_HOME", "TRITON_HOME", "TMPDIR")}
    for directory in moved.values():
        Path(directory).mkdir()
    done = subprocess.run(
        [sys.executable, "application.py"],
        cwd=place,
        env={
            **os.environ,
            **moved,
            "INGOT_PYTHON": framework,
            "PYTHONPATH": str(packages),
            "TRITON_CACHE_DIR": str(place / "triton"),
            "JAX_COMPILATION_CACHE_DIR": str(place / "jax"),
            "VIRTUAL_ENV": str(packages),
        },
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    origin, made, found = done.stdout.strip().split("|")
    assert origin.startswith(str(packages))
    return int(made), int(found)


@pytest.mark.parametrize(("framework", "program"), [("triton", TRITON), ("jax", JAX)])
def test_programs_are_found_elsewhere(framework: str, program: str, tmp_path: Path) -> None:
    made, _ = run_at(tmp_path / "first", framework, program)
    assert made > 0
    assert run_at(tmp_path / "home of another" / "deeper" / "second", framework, program) == (0, made)
