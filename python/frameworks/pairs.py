"""What the package costs and saves, as the ratio of neighboring runs: pairs.py [--pairs N] WHAT...

WHAT is one of these, where FRAMEWORK is one of workloads.py:

- FRAMEWORK: a warm process with Ingot, over one with the framework's own cache
- together:FRAMEWORK: the slowest of eight processes that start at once on an empty store, over one process alone that
  does; --processes changes their number
- machine:FRAMEWORK: the first process on another machine, over the one that compiled for both. A machine is a home, a
  store, and the same Redis, which this program starts. --tool names the tool `ingot`, which makes the key.

A line has the median of the ratios, the middle half of the ratios, and both medians: first of the time of compilations
and runs, without imports and the opening of the device, then of whole processes. If other work occupies the machine,
--processor compares the time of the processor instead of the time that passes.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from table import run_in, start_redis

#: A kind of run: returns the seconds of its work, and those of its whole processes.
Run = Callable[[], tuple[float, float]]
OWN, INGOT, MACHINES = "own cache, shared", "Ingot, shared", "Ingot, own stores and Redis"


class Bench:
    def __init__(self, chosen: argparse.Namespace, scratch: Path):
        self.chosen, self.scratch, self.server = chosen, scratch, dict[str, str]()
        self.notes: list[str] = []

    def once(
        self, framework: str, mode: str, folder: Path, numbers: range, compiled: bool
    ) -> tuple[tuple[float, float], set[str]]:
        """Runs processes at once, which together must compile each key once, or nothing. Returns their seconds."""
        folder.mkdir(exist_ok=True)
        begun = self.now()
        result = run_in(folder, framework, mode, numbers, self.chosen.tool, self.server)
        if result["compiled"] < result["keys"] if compiled else result["compiled"]:
            raise RuntimeError(f"{framework}: compiled {result['compiled']} of {result['keys']}: {mode}")
        if len(numbers) > 1 and (result["compiled"] != result["keys"] or not result["same"]):
            self.note(f"compiled {result['compiled']} of {result['keys']}, {len(result['digests'])} different results")
        work = float(result["processor" if self.chosen.processor else "slowest"])
        return (work, self.now() - begun), result["digests"]

    def now(self) -> float:
        """Returns the time, or the time of the processor that all children took which have ended."""
        if not self.chosen.processor:
            return time.perf_counter()
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    def note(self, words: str) -> None:
        self.notes.append(words)

    def warm(self, framework: str) -> tuple[Run, Run]:
        """Returns a warm process with the framework's own cache, and one with Ingot."""

        def runs(mode: str, folder: Path) -> Run:
            cold, expected = self.once(framework, mode, folder, range(1), True)
            self.note(f"cold {cold[0]:.3f} s ({mode})")

            def run() -> tuple[float, float]:
                seconds, found = self.once(framework, mode, folder, range(1), False)
                if found != expected:
                    self.note(f"a warm result differs from the cold one ({mode})")
                return seconds

            run()
            return run

        return runs(OWN, self.scratch / "own"), runs(INGOT, self.scratch / "ingot")

    def together(self, framework: str) -> tuple[Run, Run]:
        """Returns a process alone, and several, each time on an empty store."""

        def run(processes: int) -> tuple[float, float]:
            with tempfile.TemporaryDirectory(prefix="ingot-pairs.") as name:
                return self.once(framework, INGOT, Path(name), range(processes), True)[0]

        run(1)
        return lambda: run(1), lambda: run(self.chosen.processes)

    def machines(self, framework: str) -> tuple[Run, Run]:
        """Returns a process that compiles, and the first process on another machine."""
        folder = self.scratch / "machines"
        numbers = iter(range(1_000_000))
        expected: set[str] = set()

        def first() -> tuple[float, float]:
            port = self.server["INGOT_PERSIST_REMOTE"].rpartition(":")[2]
            subprocess.run(["redis-cli", "-p", port, "flushall"], check=True, stdout=subprocess.DEVNULL)
            number = next(numbers)
            seconds, digests = self.once(framework, MACHINES, folder, range(number, number + 1), True)
            expected.clear()
            expected.update(digests)
            return seconds

        def second() -> tuple[float, float]:
            number = next(numbers)
            seconds, digests = self.once(framework, MACHINES, folder, range(number, number + 1), False)
            if digests != expected:
                self.note("the other machine's result differs")
            return seconds

        return first, second

    def runs_of(self, what: str) -> tuple[Run, Run]:
        """Returns the two kinds of runs that WHAT compares."""
        kind, colon, name = what.partition(":")
        if not colon:
            return self.warm(what)
        return {"together": self.together, "machine": self.machines}[kind](name)

    def compare(self, what: str) -> None:
        one, other = self.runs_of(what)
        times: tuple[list[tuple[float, float]], list[tuple[float, float]]] = ([], [])
        keeps_order = what.startswith("machine:")  # the second machine needs the first
        for number in range(self.chosen.pairs):  # in turn, each begins every other pair
            for which in (0, 1) if keeps_order or number % 2 == 0 else (1, 0):
                times[which].append((one, other)[which]())
        names = {
            "together": ("one alone", f"the slowest of {self.chosen.processes}"),
            "machine": ("the first machine", "another machine"),
        }.get(what.partition(":")[0], ("without", "with Ingot"))
        parts = [self.summary(names, *([pair[each] for pair in runs] for runs in times)) for each in (0, 1)]
        parts[1] = f"whole processes {parts[1]}"
        print(f"{what}, {self.chosen.pairs} pairs: " + "; ".join(parts + self.notes), flush=True)

    @staticmethod
    def summary(names: tuple[str, str], one: list[float], other: list[float]) -> str:
        low, middle, high = statistics.quantiles([b / a for a, b in zip(one, other, strict=True)], n=4)
        return (
            f"{middle:.3f} ({low:.3f} to {high:.3f}), {statistics.median(other):.4f} s {names[1]}, "
            f"{statistics.median(one):.4f} s {names[0]}"
        )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--tool", default="ingot")
    parser.add_argument("--processor", action="store_true")
    parser.add_argument("what", nargs="+")
    chosen = parser.parse_args()
    for what in chosen.what:
        scratch, server = Path(tempfile.mkdtemp(prefix="ingot-pairs.")), None
        try:
            bench = Bench(chosen, scratch)
            if what.startswith("machine:"):
                server, bench.server = start_redis(scratch, chosen.tool)
            bench.compare(what)
        finally:
            if server is not None:
                server.terminate()
                server.wait()
            shutil.rmtree(scratch)


if __name__ == "__main__":
    main()
