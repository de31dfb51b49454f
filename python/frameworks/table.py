"""Makes the table of doc/python.md: table.py [--trials N] [--processes N] [--tool FILE] [FRAMEWORK...]

Processes start together, on empty caches. Each row is a framework, each column a way to cache: the framework's own
cache in one directory or in one for each process; Ingot in one store, or in one for each process and a Redis that they
share.
A cell has the compilations of all processes, and the slowest process in seconds (medians of the trials).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
MODES = ("own cache, shared", "Ingot, shared", "own caches", "Ingot, own stores and Redis")


def environment(framework: str, mode: str, folder: Path, number: int, server: dict[str, str]) -> dict[str, str]:
    """Returns the environment of a process."""
    mine = folder if "shared" in mode else folder / str(number)
    mine.mkdir(parents=True, exist_ok=True)
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("INGOT_", "TRITON_", "JAX_", "TORCHINDUCTOR_"))}
    kept.update(
        {
            "HOME": str(mine),
            "TRITON_CACHE_DIR": str(mine / "triton"),
            "TRITON_DEFAULT_FP_FUSION": "1",
            "TORCHINDUCTOR_CACHE_DIR": str(mine / "inductor"),
            "JAX_COMPILATION_CACHE_DIR": str(mine / "jax"),
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
            "CUPY_CACHE_DIR": str(mine / "cupy"),
            "XLA_PYTHON_CLIENT_PREALLOCATE": "false",  # several processes share the GPU's memory
            "POCL_CACHE_DIR": str(mine / "pocl"),
            "XDG_CACHE_HOME": str(mine / "cache"),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
    )
    if mode.startswith("Ingot"):
        if "stores" in mode:
            # The framework's files do not matter, but the processes must not share them.
            kept.update(server)
        kept["INGOT_PERSIST_DIR"] = str(mine / "store")
        kept["INGOT_PYTHON"] = "all"
        kept["INGOT_CACHE_LIBRARY"] = os.environ.get("INGOT_CACHE_LIBRARY", "")
        if framework == "pyopencl":
            kept.update({"INGOT_LAYER_STATS": str(mine / "stats"), "PYOPENCL_NO_CACHE": "1"})
            kept["INGOT_PERSIST_STORE_MODE"] = "now"  # otherwise, PoCL's own cache serves its programs
    return kept


def run(framework: str, mode: str, processes: int, tool: str, server: dict[str, str]) -> dict[str, Any]:
    """Runs one trial."""
    with tempfile.TemporaryDirectory(prefix="ingot-table.") as name:
        return run_in(Path(name), framework, mode, range(processes), tool, server)


def run_in(
    folder: Path, framework: str, mode: str, numbers: range, tool: str, server: dict[str, str]
) -> dict[str, Any]:
    """Runs processes at once, with the caches that are in the folder. Processes with another number share no files."""
    command = [sys.executable, str(HERE / "workloads.py"), framework, str(folder)]
    if framework == "pyopencl" and mode.startswith("Ingot"):
        command = [tool, "run", "--", *command]
    children = [
        subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=folder,
            env=environment(framework, mode, folder, number, server),
        )
        for number in numbers
    ]
    pipes = [(child.stdin, child.stdout) for child in children]
    for _, output in pipes:
        if output is None or output.readline() != "ready\n":
            raise RuntimeError(f"{framework} does not start")
    for order, _ in pipes:
        assert order
        order.write("go\n")
        order.flush()
    results = [json.loads(output.readline()) for _, output in pipes if output]
    for child in children:
        child.communicate("end\n")
    if results[0]["compiled"] < 0:
        compiled = layer_builds(folder) if mode.startswith("Ingot") else len(numbers) * results[0]["keys"]
    else:
        compiled = sum(each["compiled"] for each in results)
    return {
        "keys": results[0]["keys"],
        "compiled": compiled,
        "slowest": max(each["seconds"] for each in results),
        "processor": max(each["processor"] for each in results),
        "digests": {each["digest"] for each in results},
        "same": len({each["digest"] for each in results}) == 1,
    }


def layer_builds(folder: Path) -> int:
    """Returns the programs that the OpenCL layer let the driver compile."""
    lines = [line for file in folder.rglob("stats") for line in file.read_text().splitlines()]
    return sum(int(line.partition("=")[2]) for line in lines if line.startswith("builds="))


def start_redis(folder: Path, tool: str) -> tuple[subprocess.Popen[bytes], dict[str, str]]:
    """Starts a server, and returns the variables by which processes use it. A key seals what they share."""
    key = folder / "key"
    subprocess.run([tool, "key", "--secret", str(key)], check=True, stdout=subprocess.DEVNULL)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen(
        ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while subprocess.run(["redis-cli", "-p", str(port), "ping"], capture_output=True).returncode != 0:
        if server.poll() is not None:
            raise RuntimeError("redis-server does not start")
    variables = {
        "INGOT_PERSIST_REMOTE": f"redis://127.0.0.1:{port}",
        "INGOT_PERSIST_TRUST": "require",
        "INGOT_PERSIST_KEYS": str(key),
    }
    return server, variables


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--trials", type=int, default=3)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--mode", type=int, action="append", help="0 to 3; default: all")
    parser.add_argument("frameworks", nargs="*", default=["triton", "jax", "cuda_core", "pyopencl"])
    chosen = parser.parse_args()
    modes = [MODES[number] for number in chosen.mode] if chosen.mode else list(MODES)
    scratch = Path(tempfile.mkdtemp(prefix="ingot-redis."))
    server, variables = start_redis(scratch, chosen.tool) if MODES[3] in modes else (None, {})
    print("| framework, keys | " + " | ".join(modes) + " | exact with Ingot | equal results |")
    print("|---|" + "---:|" * (len(modes) + 2))
    try:
        for framework in chosen.frameworks:
            cells, exact, same, total, keys = [], 0, True, 0, 0
            for mode in modes:
                trials = []
                for _ in range(chosen.trials):
                    if "Redis" in mode:
                        port = variables["INGOT_PERSIST_REMOTE"].rpartition(":")[2]
                        subprocess.run(["redis-cli", "-p", port, "flushall"], check=True, stdout=subprocess.DEVNULL)
                    trials.append(run(framework, mode, chosen.processes, chosen.tool, variables))
                keys = trials[0]["keys"]
                counts = sorted({each["compiled"] for each in trials})
                text = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
                cells.append(f"{text} / {statistics.median(each['slowest'] for each in trials):.1f} s")
                same = same and all(each["same"] for each in trials)
                if mode.startswith("Ingot"):
                    exact += sum(each["compiled"] == keys for each in trials)
                    total += len(trials)
            row = [f"{framework}, {keys}", *cells, f"{exact} of {total}", "yes" if same else "NO"]
            print("| " + " | ".join(row) + " |", flush=True)
    finally:
        if server is not None:
            server.terminate()
            server.wait()
        shutil.rmtree(scratch)


if __name__ == "__main__":
    main()
