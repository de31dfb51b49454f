"""Helion's plug, with a package of Helion's shape: python/frameworks tests the real one, which needs torch."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Spawn, stand_in

HELION = {
    "__init__.py": "",
    "autotuner/__init__.py": "",
    "autotuner/remote_cache.py": """
        import abc
        class RemoteCacheBackend(abc.ABC):
            @abc.abstractmethod
            def get(self, key): ...
            @abc.abstractmethod
            def put(self, key, data): ...
            def list(self, max_results=None): return ()
    """,
    "autotuner/base_cache.py": """
        import importlib, os
        class AutotuneCacheBase:
            def __init__(self, key):
                module, name = os.environ["HELION_REMOTE_CACHE_BACKEND"].rsplit(".", 1)
                self.key, self.backend = key, getattr(importlib.import_module(module), name)()
            def autotune(self, tune):
                found = self.backend.get(self.key)
                if found is None:
                    assert os.environ.get("HELION_ASSERT_CACHE_HIT") != "1", "a miss"
                    found = tune()
                    self.backend.put(self.key, found)
                return found
    """,
}

TUNE = """
    import os, sys
    import helion
    from helion.autotuner.base_cache import AutotuneCacheBase
    seen = []
    for key in ["failed", *map(str, range(8))]:
        try:
            AutotuneCacheBase(key).autotune(lambda: seen.append(key) or [sys.argv[1] + key][key == "failed"])
        except IndexError:
            pass
    print(len(seen), os.environ["HELION_AUTOTUNE_CACHE"], " ".join(AutotuneCacheBase("").backend.list(3)))
"""


def test_processes_tune_each_kernel_once(spawn: Spawn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", stand_in(tmp_path, "helion", HELION), prepend=":")
    processes = [spawn(TUNE, name, INGOT_PYTHON="helion") for name in "abc"]
    outputs = [each.communicate()[0].split() for each in processes]
    assert sum(int(each[0]) for each in outputs) == 8 + len(processes), "and what fails, in each"
    assert all(each[1] == "RemoteAutotuneCache" for each in outputs)
    last = spawn(TUNE, "last", INGOT_PYTHON="all").communicate()[0].split()
    assert last[0] == "1" and {each[-1] for each in last[2:]} <= set("01234567") and len(last) == 5
    missing = spawn(TUNE, "d", INGOT_PYTHON="all", INGOT_PERSIST_DIR="", INGOT_ON_MISS="fail")
    missing.communicate()
    assert missing.returncode == 1
