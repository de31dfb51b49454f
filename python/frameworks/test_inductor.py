"""Inductor's plugs when they may not be used, with torch itself: scripts/test-frameworks torch runs these tests.

They are not among python/tests, because torch takes 6 GB.
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest


def test_tells_when_a_hook_has_changed(tmp_path: Path) -> None:
    program = """
        import warnings
        from unittest.mock import patch
        from torch._inductor import compile_fx, cpp_builder, remote_cache
        from ingot_cache import _plug, inductor

        for owner, name, changed in (
            (remote_cache, "RemoteCacheBackend", "backend_override_cls"),
            (remote_cache, "RemoteFxGraphCache", "backend_override_cls"),
            (remote_cache.RemoteCacheBackend, "_put", "backend_override_cls"),
            (cpp_builder, "CppBuilder", "CppBuilder.build"),
            (cpp_builder.CppBuilder, "build", "CppBuilder.build"),
            (cpp_builder.CppBuilder, "get_command_line", "CppBuilder.build"),
            (compile_fx, "_compile_fx_inner", "_compile_fx_inner"),
        ):
            _plug._told.clear()
            with patch.object(owner, name), warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                delattr(owner, name)
                inductor.install()
            (said,) = (str(each.message) for each in caught if issubclass(each.category, _plug.PlugWarning))
            assert changed in said and "Inductor" in said, (name, said)
        print("told")
    """
    child = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "INGOT_PERSIST_DIR": str(tmp_path / "store")},
    )
    assert child.stdout == "told\n"


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
