"""Helion's plug, with Helion and its Pallas backend on the CPU: scripts/test-frameworks helion runs these tests."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

PROGRAM = """
    import sys
    import helion, torch
    import helion.language as hl
    from helion.autotuner import cache_classes
    from helion.autotuner.finite_search import FiniteSearch

    def search(bound, args, **named):
        make = lambda: FiniteSearch(bound, args, configs=[helion.Config(block_sizes=[n, 32]) for n in (16, 32)])
        return cache_classes[bound.settings.autotune_cache](make(), autotuner_factory=make)

    @helion.kernel(backend="pallas", pallas_interpret=True, autotuner_fn=search)
    def add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        out = torch.empty_like(x)
        for tile in hl.tile(x.size()):
            out[tile] = x[tile] + y[tile]
        return out

    x = torch.ones(32, 32)
    sys.stdin.readline()
    assert torch.equal(add(x, x), 2 * x)
    from helion.autotuner.base_cache import counters
    print(counters["autotune"]["cache_miss"], add.bind((x, x))._config.config["block_sizes"])
"""


def start(folder: Path, number: int) -> subprocess.Popen[str]:
    own = {"HELION_CACHE_DIR": str(folder / str(number)), "INGOT_PERSIST_DIR": str(folder / "store")}
    (folder / "program.py").write_text(textwrap.dedent(PROGRAM))
    return subprocess.Popen(
        [sys.executable, str(folder / "program.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **own, "INGOT_PYTHON": "helion"},
    )


def test_one_process_tunes_and_all_use_its_result(tmp_path: Path) -> None:
    """Two at once, and then one more with a directory of its own."""
    first = [start(tmp_path, number) for number in range(2)]
    outputs = [each.communicate("\n")[0] for each in first] + [start(tmp_path, 2).communicate("\n")[0]]
    seen = [each.splitlines()[-1].split(maxsplit=1) for each in outputs]
    assert sorted(count for count, _ in seen) == ["0", "0", "1"]
    assert len({config for _, config in seen}) == 1
