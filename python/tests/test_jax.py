"""JAX's plug, with JAX on the CPU. Each test has its own process, because JAX keeps what it compiled."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from conftest import Spawn, together

from ingot_cache import Cache, Miss
from ingot_cache import jax as plug

COMPILE = """
    import os, sys, warnings
    import jax, jax.numpy as jnp
    from jax._src import monitoring
    events = []
    monitoring.register_event_listener(lambda name, **named: events.append(name))
    sys.stdin.readline()
    results = [float(jax.jit(lambda x, n=n: jnp.sin(x @ x + n).sum())(jnp.ones((8, 8)))) for n in range(2)]
    misses = events.count("/jax/compilation_cache/cache_misses")
    hits = events.count("/jax/compilation_cache/cache_hits")
    print(misses, hits, results, flush=True)
"""


def test_programs_come_from_the_store(spawn: Spawn, tmp_path: Path) -> None:
    one, _ = spawn(COMPILE, INGOT_PYTHON="jax").communicate("go\n")
    two, _ = spawn(COMPILE, INGOT_PYTHON="jax").communicate("go\n")
    (made, _, first), (again, found, second) = one.split(" ", 2), two.split(" ", 2)
    assert int(made) >= 2
    assert (int(again), int(found)) == (0, int(made))
    assert first == second


def test_jax_s_own_directory_does_not_matter(spawn: Spawn, tmp_path: Path) -> None:
    for misses in (True, False):
        output, _ = spawn(
            COMPILE, INGOT_PYTHON="jax", JAX_COMPILATION_CACHE_DIR=str(tmp_path / str(misses))
        ).communicate("go\n")
        assert output.startswith("0 ") != misses


def test_one_process_compiles_a_program(spawn: Spawn) -> None:
    alone, _ = spawn(COMPILE, INGOT_PYTHON="jax", INGOT_PERSIST_NAMESPACE="alone").communicate("go\n")
    processes = [spawn(COMPILE, INGOT_PYTHON="all") for _ in range(4)]
    assert sum(int(said.split()[0]) for said in together(processes)) == int(alone.split()[0])


def test_a_server_without_seals_gives_no_code(spawn: Spawn) -> None:
    program = """
        import warnings
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            import jax
        from jax._src import compilation_cache
        print(hasattr(compilation_cache, "_ingot"), *(each.message for each in caught))
    """
    output, _ = spawn(program, INGOT_PYTHON="jax", INGOT_PERSIST_REMOTE="redis://localhost").communicate()
    assert output.startswith("False ")
    assert "INGOT_PERSIST_TRUST=require" in output


def test_tells_when_the_hook_has_changed(spawn: Spawn, tmp_path: Path) -> None:
    program = """
        import abc, warnings
        from unittest.mock import patch
        import jax
        from jax._src import compilation_cache, compilation_cache_interface, compiler, distributed, lib, xla_bridge
        import ingot_cache.jax
        from ingot_cache import _plug

        class Other(compilation_cache_interface.CacheInterface):
            @abc.abstractmethod
            def evict(self, key): ...

        def other_path(path, size): ...

        for module, name, new in (
            (compilation_cache, "get_file_cache", None),
            (compilation_cache, "get_file_cache", other_path),
            (compilation_cache_interface, "CacheInterface", Other),
            (compiler, "compile_or_get_cached", None),
            (compilation_cache, "reset_cache", None),
            (distributed, "global_state", None),
            (lib, "_jax" if hasattr(lib, "_jax") else "xla_extension", None),
            (xla_bridge, "get_backend", None),
        ):
            _plug._told.clear()
            with patch.object(module, name, new), warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                if new is None:
                    delattr(module, name)
                ingot_cache.jax.install()
            assert len(caught) == 1 and "JAX keeps its own cache" in str(caught[0].message), (name, new, caught)
        jax.jit(lambda x: x + 1)(1)
        print(type(compilation_cache._get_cache(jax.devices()[0].client)).__name__)
    """
    own = {"JAX_COMPILATION_CACHE_DIR": str(tmp_path / "jax"), "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0"}
    output, _ = spawn(program, **own).communicate()
    assert output == "LRUCache\n"
    assert any((tmp_path / "jax").iterdir())


def test_a_server_that_is_named_later_gives_no_code_either(spawn: Spawn) -> None:
    program = """
        import warnings
        import jax
        import ingot_cache
        from ingot_cache import _plug
        from jax._src import compilation_cache
        assert compilation_cache._ingot
        cache = ingot_cache.Cache(remote="redis://127.0.0.1:1")
        _plug.set_cache(cache)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            jax.jit(lambda x: x + 1)(1)
        print(cache.stats()["missed"], *(each.message for each in caught))
    """
    output, _ = spawn(program, INGOT_PYTHON="jax").communicate()
    assert output.startswith("0 ")
    assert "INGOT_PERSIST_TRUST=require" in output


def test_compiles_nothing_if_a_miss_must_fail(spawn: Spawn) -> None:
    filled, _ = spawn(COMPILE, INGOT_PYTHON="jax").communicate("go\n")
    warm, _ = spawn(COMPILE, INGOT_PYTHON="jax", INGOT_ON_MISS="fail").communicate("go\n")
    assert warm.split(" ", 2)[2] == filled.split(" ", 2)[2]
    define = """
        import sys, ingot_cache, jax
        def {name}(x):
            return x * {factor}
        try:
            jax.jit({name})(1.0)
        except ingot_cache.Miss as miss:
            print(miss)
    """
    for name in ("alpha", "beta", "gamma"):
        spawn(define.format(name=name, factor=2), INGOT_PYTHON="jax").communicate("")
    for name in ("alpha", "beta", "gamma"):  # the nearest one is the same function's
        output, _ = spawn(define.format(name=name, factor=3), INGOT_PYTHON="jax", INGOT_ON_MISS="fail").communicate("")
        assert output.startswith("miss: nearest is ") and f'stored "jit_{name}-' in output


def test_the_same_program_before_an_upgrade_explains_a_miss(
    cache: Cache, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for version, name in (("1", "jit_f-1"), ("2", "jit_g-2")):
        monkeypatch.setattr(plug, "_toolchain", lambda version=version: {"jax": version, "jaxlib": version})
        cache.put(plug._key(name), b"executable")
    with pytest.raises(Miss, match=r'key\.jax: wanted "2", stored "1"'):
        Cache(on_miss="fail").begin(plug._key("jit_f-3"))
    cache.put(plug._key("jit_f-3"), b"executable")
    command = ["ingot", "explain", "--last", "1", "--json", "--dir", str(store)]
    (told,) = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    assert {each["field"] for each in told["differences"]} == {"key.key", "key.jax", "key.jaxlib"}
