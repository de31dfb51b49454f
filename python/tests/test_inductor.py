"""Inductor's plugs, with a package of torch's shape, since torch takes 6 GB: python/frameworks tests the real one."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Spawn, stand_in, together

#: The modules of the stand-in, which import each other as torch's do, and have what the plugs need.
TORCH = {
    "__init__.py": """
        __version__ = "2.15.0"
        from . import version
        class cuda:
            is_available = staticmethod(lambda: False)
    """,
    "version.py": "git_version, cuda = 'abc', None",
    "_functorch/__init__.py": "",
    "_functorch/config.py": "enable_remote_autograd_cache = None",
    "_inductor/__init__.py": "",
    "_inductor/config.py": "fx_graph_remote_cache = autotune_remote_cache = None",
    "_inductor/remote_cache.py": """
        class RemoteCacheBackend:
            def _get(self, key): ...
            def _put(self, key, data): ...
        class RemoteCache:
            backend_override_cls = None
        class RemoteFxGraphCache(RemoteCache): ...
        class RemoteAOTAutogradCache(RemoteCache): ...
        class RemoteAutotuneCache(RemoteCache): ...
        class RemoteBundledAutotuneCache(RemoteCache): ...
        class RemoteDynamoPGOCache(RemoteCache): ...
    """,
    "_inductor/cpp_builder.py": """
        class CppBuilder:
            def build(self): ...
            def get_command_line(self): ...
            def get_target_file_path(self): ...
    """,
    "_inductor/compile_fx.py": """
        from torch._inductor import remote_cache
        def _compile_fx_inner(name, make):
            backend = remote_cache.RemoteFxGraphCache.backend_override_cls()
            graph = backend._get(f"fx-graph-{name}")
            if graph is None:
                graph = make(name)
                backend._put(f"fx-graph-{name}", graph)
            return graph
        def compile_fx(name, make):
            return _compile_fx_inner(name, make)
    """,
}

COMPILE = """
    import sys
    import torch
    import ingot_cache
    if sys.argv[1] == "install":
        import ingot_cache.inductor
        ingot_cache.inductor.install()
    from torch._inductor.compile_fx import compile_fx
    made = []
    def make(name):
        from ingot_cache import _plug, inductor
        made.append(name)
        try:
            _plug.cache().begin(inductor._key(f"fx-graph-{name}"), wait=0)
            print("nobody would wait")
        except ingot_cache.Busy:
            return name.encode()
    sys.stdin.readline()
    print(*(compile_fx(name, make).decode() for name in "abc"), len(made))
"""


@pytest.fixture
def torch(tmp_path: Path) -> dict[str, str]:
    """The environment of processes that use the stand-in."""
    return {"PYTHONPATH": stand_in(tmp_path, "torch", TORCH)}


@pytest.mark.parametrize("how", ["variable", "install"])
def test_one_process_makes_a_graph(spawn: Spawn, torch: dict[str, str], how: str) -> None:
    if how == "variable":
        torch["INGOT_PYTHON"] = "all"
    processes = [spawn(COMPILE, how, **torch) for _ in range(8)]
    said = [words.split() for words in together(processes)]
    assert all(words[:3] == ["a", "b", "c"] for words in said)
    assert sum(int(words[3]) for words in said) == 3


def test_a_plug_that_cannot_be_installed_says_so_and_replaces_nothing(spawn: Spawn, torch: dict[str, str]) -> None:
    program = """
        import warnings
        from unittest.mock import patch
        from torch._functorch import config
        from torch._inductor import compile_fx, config as inductor_config, cpp_builder, remote_cache
        from ingot_cache import _plug, inductor

        def state():
            return remote_cache.RemoteFxGraphCache.backend_override_cls, cpp_builder.CppBuilder.build
        before = state()
        for owner, name, changed in (
            (remote_cache, "RemoteDynamoPGOCache", "backend_override_cls"),
            (remote_cache.RemoteCacheBackend, "_put", "backend_override_cls"),
            (remote_cache, "RemoteCacheBackend", "backend_override_cls"),
            (cpp_builder, "CppBuilder", "CppBuilder.build"),
            (cpp_builder.CppBuilder, "build", "CppBuilder.build"),
            (cpp_builder.CppBuilder, "get_command_line", "CppBuilder.build"),
            (compile_fx, "_compile_fx_inner", "_compile_fx_inner"),
        ):
            _plug._told.clear()
            with patch.object(owner, name), warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                delattr(owner, name)
                function = inductor.install_scope if owner is compile_fx else inductor._install_graphs
                (inductor._install_builder if "CppBuilder" in changed else function)()
            (said,) = (str(each.message) for each in caught)
            assert changed in said and "Inductor" in said, (name, said)
        assert state() == before
        print("told")
    """
    assert spawn(program, **torch).communicate()[0] == "told\n"
