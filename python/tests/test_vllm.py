"""vLLM's entry point. vLLM itself is not needed: each of its workers calls register() before it compiles."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import Spawn

PROJECT = Path(__file__).parents[1] / "pyproject.toml"


def test_the_entry_point_is_the_function() -> None:
    text = PROJECT.read_text()
    found = re.search(r'\[project\.entry-points\."vllm\.general_plugins"\]\ningot = "([\w.]+):(\w+)"', text)
    assert found
    module, function = found.groups()
    assert callable(getattr(__import__(module, fromlist=[function]), function))


@pytest.mark.parametrize(
    ("variable", "manager"), [("vllm", "CacheManager"), ("all", "CacheManager"), ("0", "NoneType")]
)
def test_a_worker_uses_triton_s_plug(spawn: Spawn, variable: str, manager: str) -> None:
    """Even if the interpreter did not read the file that starts the package, and imported Triton before."""
    program = """
        import os, sys
        import triton
        os.environ["INGOT_PYTHON"] = sys.argv[1]
        from ingot_cache import vllm
        vllm.register()
        vllm.register()
        manager = triton.knobs.cache.manager_class
        print(getattr(manager, "__name__", type(manager).__name__))
    """
    output, _ = spawn(program, variable).communicate()
    assert output == f"{manager}\n"
