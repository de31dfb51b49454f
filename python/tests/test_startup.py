"""INGOT_PYTHON, the entry points and the file that the interpreter reads when it starts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import Spawn

from ingot_cache import _plug, _startup

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("all", {"triton", "jax", "torch", "cuda_core", "cupy", "vllm", "helion"}),
        ("1", {"triton", "jax", "torch", "cuda_core", "cupy", "vllm", "helion"}),
        ("jax, triton", {"jax", "triton"}),
        ("Inductor,cuda.core", {"torch", "cuda_core"}),
        ("vllm", {"vllm", "torch", "triton"}),
        ("0", set()),
        ("off", set()),
    ],
)
def test_reads_names(text: str, names: set[str]) -> None:
    assert _startup.wanted(text) == names


def test_tells_an_unknown_name() -> None:
    with pytest.warns(_plug.PlugWarning, match="numpy is not one of"):
        assert _startup.wanted("numpy,jax") == {"jax"}


def test_without_the_variable_nothing_is_imported(spawn: Spawn) -> None:
    output, _ = spawn('import sys; print([name for name in sys.modules if "ingot" in name])').communicate()
    assert output == "[]\n"


def test_the_library_missing_is_one_warning(spawn: Spawn, tmp_path: Path) -> None:
    program = """
        import sys, warnings
        caught = []
        warnings.showwarning = lambda message, *rest: caught.append(str(message))
        sys.path.insert(0, sys.argv[1])
        import kernels
        kernels.compile_add(64)
        kernels.compile_add(128)
        print(len([each for each in caught if "LibraryMissing" in each]))
    """
    here = str(Path(__file__).parent)
    output, _ = spawn(program, here, INGOT_PYTHON="all", INGOT_CACHE_LIBRARY="/nonexistent").communicate()
    assert output == "2\n"  # one for looking and one for storing


def test_a_warning_that_is_an_exception_does_not_reach_the_framework(spawn: Spawn) -> None:
    program = """
        import sys
        sys.path.insert(0, sys.argv[1])
        import kernels
        from ingot_cache import _plug
        import warnings
        warnings.simplefilter("error", _plug.PlugWarning)
        kernels.compile_add(64)
        print("compiled")
    """
    here = str(Path(__file__).parent)
    output, _ = spawn(program, here, INGOT_PYTHON="triton", INGOT_CACHE_LIBRARY="/nonexistent").communicate()
    assert output == "compiled\n"


def test_an_error_in_a_plug_does_not_reach_the_application(spawn: Spawn) -> None:
    program = """
        import sys, types
        sys.modules["ingot_cache.triton"] = types.ModuleType("ingot_cache.triton")
        import triton
        print(triton.knobs.cache.manager_class)
    """
    output, _ = spawn(program, INGOT_PYTHON="triton", PYTHONWARNINGS="error").communicate()
    assert output == "None\n"


def test_the_tool_sets_what_the_package_reads() -> None:
    names = (ROOT / "src/util/environment.h").read_text()
    assert f'"{_startup.VARIABLE}"' in names
    assert f'"{_startup.VARIABLE}"' in (ROOT / "src/cli/commands/run.c").read_text()
    assert re.search(rf"`{_startup.VARIABLE}`", (ROOT / "doc/environment.md").read_text())
