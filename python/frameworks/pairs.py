"""What the package costs a single process, as the ratio of neighboring runs: pairs.py [--pairs N] WHAT...

WHAT is a framework (triton, jax, cuda_core, torch): a warm process with Ingot, compared with the framework's own cache;
only the time of its compilations counts. Or it is import:MODULE: the import in an interpreter with the wheel and in one
without, neither with INGOT_PYTHON. --wheel names the wheel. If other work occupies the machine, --processor compares
the time of the processor instead of the time that passes.

A line has the median of the ratios with Ingot over without, the middle half of the ratios, and both medians.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
import venv
from collections.abc import Callable
from pathlib import Path

from table import HERE, environment

#: A kind of run: returns its seconds.
Run = Callable[[], float]


def warm(framework: str, mode: str, folder: Path, clock: str) -> Run:
    """Returns a run of a process whose programs are all in the cache."""
    folder.mkdir()
    variables = environment(framework, mode, folder, 0, {})

    def run() -> float:
        child = subprocess.run(
            [sys.executable, str(HERE / "workloads.py"), framework, str(folder)],
            input="go\nend\n",
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            cwd=folder,
            env=variables,
        )
        result = json.loads(child.stdout.splitlines()[-1])
        if run.is_warm and result["compiled"]:  # type: ignore[attr-defined]
            raise RuntimeError(f"{framework} compiled {result['compiled']} programs again: {mode}")
        return float(result[clock])

    run.is_warm = False  # type: ignore[attr-defined]
    run()
    run.is_warm = True  # type: ignore[attr-defined]
    return run


def importing(module: str, wheel: str | None, folder: Path, clock: str) -> Run:
    """Returns a run of an interpreter that imports a module of this environment."""
    venv.create(folder, symlinks=True)
    site = folder / Path(sysconfig.get_path("purelib")).relative_to(sys.prefix)
    if wheel:
        subprocess.run(
            [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--target", str(site), wheel], check=True
        )
    frameworks = [path for path in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}]
    (site / "frameworks.pth").write_text("\n".join(f"import sys; sys.path.append({path!r})" for path in frameworks))
    variables = {name: value for name, value in os.environ.items() if not name.startswith("INGOT_")}
    program = f"import {module}"
    if wheel:
        check = f"{program}, importlib.metadata, sys; importlib.metadata.version('ingot-cache'); assert not any("
        check += "name.startswith('ingot_cache._') and not name.endswith('_startup') for name in sys.modules)"
        subprocess.run([str(folder / "bin/python"), "-c", check], check=True, env=variables)

    def run() -> float:
        begun, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([str(folder / "bin/python"), "-c", program], check=True, env=variables)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if clock == "processor":
            return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return time.perf_counter() - begun

    run()
    return run


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--wheel")
    parser.add_argument("--processor", dest="clock", action="store_const", const="processor", default="seconds")
    parser.add_argument("what", nargs="+")
    chosen = parser.parse_args()
    for what in chosen.what:
        with tempfile.TemporaryDirectory(prefix="ingot-pairs.") as name:
            plain, ingot = Path(name, "plain"), Path(name, "ingot")
            if what.startswith("import:"):
                module = what.partition(":")[2]
                one = importing(module, None, plain, chosen.clock)
                other = importing(module, os.path.abspath(chosen.wheel), ingot, chosen.clock)
            else:
                one = warm(what, "own cache, shared", plain, chosen.clock)
                other = warm(what, "Ingot, shared", ingot, chosen.clock)
            times: tuple[list[float], list[float]] = ([], [])
            for number in range(chosen.pairs):  # in turn, each begins every other pair
                for which in (0, 1) if number % 2 == 0 else (1, 0):
                    times[which].append((one, other)[which]())
        ratios = [b / a for a, b in zip(*times, strict=True)]
        low, middle, high = statistics.quantiles(ratios, n=4)
        print(
            f"{what}: {middle:.3f} ({low:.3f} to {high:.3f}), {statistics.median(times[1]):.3f} s with Ingot, "
            f"{statistics.median(times[0]):.3f} s without, {chosen.pairs} pairs",
            flush=True,
        )


if __name__ == "__main__":
    main()
