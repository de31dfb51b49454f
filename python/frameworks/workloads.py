"""What one process compiles: workloads.py FRAMEWORK FOLDER

Prints "ready" once the framework is imported and its device is open, waits for a line, compiles, and prints a line of
JSON: how many keys it asked for, how many it compiled, the seconds that it took, those of the processor, and a digest
of the results. On a machine with a GPU, Triton, JAX, CuPy and torch also run there what they compiled.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Work = Callable[[], tuple[int, int, list[bytes]]]


@functools.cache
def has_gpu() -> bool:
    """True if torch is installed and can use a GPU of NVIDIA."""
    try:
        import torch

        return bool(torch.cuda.is_available())
    except ImportError:
        return False


def triton(folder: Path) -> Work:
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    import kernels
    from triton import knobs

    hits: list[bool] = []
    knobs.compilation.listener = lambda **named: hits.append(named["cache_hit"])
    if has_gpu():
        import torch

        x = torch.linspace(0, 1, 4096, device="cuda")

    def work() -> tuple[int, int, list[bytes]]:
        outputs = []
        for block in (32 << number for number in range(6)):
            if not has_gpu():
                outputs.append(kernels.compile_add(block).asm["cubin"])
                continue
            out = torch.empty_like(x)
            kernels.add[(4096 // block,)](x, x, out, 4096, BLOCK=block)
            outputs.append(out.cpu().numpy().tobytes())
        return 6, hits.count(False), outputs

    return work


def jax(folder: Path) -> Work:
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax._src import monitoring

    events: list[str] = []
    monitoring.register_event_listener(lambda name, **named: events.append(name))
    value = jnp.asarray(np.ones((64, 64), np.float32)).block_until_ready()

    def program(depth: int) -> Callable[[Any], Any]:
        def run(x: Any) -> Any:
            for step in range(depth):
                x = jnp.sin(x @ x + step) - jnp.cumsum(x, axis=1)
            return x

        return run

    def work() -> tuple[int, int, list[bytes]]:
        events.clear()  # those of the array above
        results = [np.asarray(jax.jit(program(depth))(value)).tobytes() for depth in (4, 8, 12)]
        return 3, events.count("/jax/compilation_cache/cache_misses"), results

    return work


def cuda_core(folder: Path) -> Work:
    from cuda.core import Program, ProgramOptions, _program

    cache: Any
    if os.environ.get("INGOT_PERSIST_DIR"):
        from ingot_cache.cuda_core import ProgramCache

        cache = ProgramCache()
    else:
        from cuda.core.utils import FileStreamProgramCache

        cache = FileStreamProgramCache(folder / "cuda.core")
    seen: list[int] = []
    plain = _program._program_compile_uncached
    _program._program_compile_uncached = lambda *arguments: seen.append(1) or plain(*arguments)
    lines = "".join(f"x = sinf(x) * powf(x, {n}.5f) + erff(x - {n});\n" for n in range(30))
    source = f'extern "C" __global__ void run(float *a) {{ float x = a[threadIdx.x];\n{lines} a[threadIdx.x] = x; }}'

    def work() -> tuple[int, int, list[bytes]]:
        code = Program(source, "c++", ProgramOptions(arch="sm_90")).compile("cubin", cache=cache).code
        return 1, len(seen), [bytes(code)]

    return work


def cupy(folder: Path) -> Work:
    import cupy
    import numpy as np
    from cupy.cuda import compiler

    seen: list[int] = []
    plain = compiler._compile_using_nvrtc_no_warning
    compiler._compile_using_nvrtc_no_warning = lambda *given, **named: seen.append(1) or plain(*given, **named)
    value = cupy.asarray(np.linspace(0, 1, 64, dtype=np.float32))

    def work() -> tuple[int, int, list[bytes]]:
        outputs = []
        for depth in (10, 20, 30):
            lines = "".join(f"x = sinf(x) * powf(x, {n}.5f) + erff(x - {n});\n" for n in range(depth))
            source = f'extern "C" __global__ void run(const float *a, float *b) {{ float x = a[threadIdx.x];\n{lines}'
            out = cupy.empty_like(value)
            cupy.RawKernel(source + " b[threadIdx.x] = x; }", "run")((1,), (64,), (value, out))
            outputs.append(out.get().tobytes())
        return 3, len(seen), outputs

    return work


def pyopencl(folder: Path) -> Work:
    import numpy as np
    import pyopencl as cl

    device = next(each for p in cl.get_platforms() if "Portable" in p.name for each in p.get_devices())
    context = cl.Context([device])
    queue = cl.CommandQueue(context)
    lines = "".join(f"x = sin(x) * pow(x, {n}.5f) + erf(x - {n});\n" for n in range(20))
    source = f"kernel void run(global float *a) {{ float x = a[get_global_id(0)];\n{lines} a[get_global_id(0)] = x; }}"

    def work() -> tuple[int, int, list[bytes]]:
        program = cl.Program(context, source).build()
        values = np.linspace(0, 1, 64, dtype=np.float32)
        buffer = cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=values)
        program.run(queue, values.shape, None, buffer)
        cl.enqueue_copy(queue, values, buffer)
        return 1, -1, [values.tobytes()]  # the layer counts the compilations

    return work


def torch(folder: Path) -> Work:
    import subprocess

    import torch
    from torch._dynamo.utils import counters

    compiler_runs: list[int] = []
    run = subprocess.run

    def count(command: Any, *arguments: Any, **named: Any) -> Any:
        words = command if isinstance(command, list) else str(command).split()
        if words and os.path.basename(words[0]).startswith(("g++", "c++")) and "-shared" in words:
            compiler_runs.append(1)
        return run(command, *arguments, **named)

    from torch._inductor import cpp_builder

    cpp_builder.subprocess.run = count  # type: ignore[attr-defined]
    torch._inductor.config.compile_threads = 1
    device = "cuda" if has_gpu() else "cpu"
    value = torch.linspace(0, 1, 64 * 64, device=device).reshape(64, 64)
    kernels: list[bool] = []
    if device == "cuda":
        from triton import knobs

        knobs.compilation.listener = lambda **named: kernels.append(named["cache_hit"])

    def graph(depth: int) -> Callable[[Any], Any]:
        def run(x: Any) -> Any:
            for step in range(depth):
                x = torch.sin(x + step) * torch.cos(x) - x.sum(1, keepdim=True)
            return x

        return run

    def work() -> tuple[int, int, list[bytes]]:
        results = []
        for depth in (1, 2, 3):
            torch._dynamo.reset()
            results.append(torch.compile(graph(depth))(value).cpu().numpy().tobytes())
        print(f"g++ runs: {len(compiler_runs)}, torch: {os.path.dirname(torch.__file__)}", file=sys.stderr)
        print(
            f"{device}, Triton kernels: {kernels.count(False)} compiled, {kernels.count(True)} found", file=sys.stderr
        )
        graphs = int(counters["inductor"]["fxgraph_cache_miss"])
        return 3, graphs or kernels.count(False), results

    return work


FRAMEWORKS = {
    "triton": triton,
    "jax": jax,
    "cuda_core": cuda_core,
    "cupy": cupy,
    "pyopencl": pyopencl,
    "torch": torch,
}

if __name__ == "__main__":
    do = FRAMEWORKS[sys.argv[1]](Path(sys.argv[2]))
    print("ready", flush=True)
    sys.stdin.readline()
    begun, worked = time.perf_counter(), time.process_time()
    keys, compiled, outputs = do()
    seconds, processor = time.perf_counter() - begun, time.process_time() - worked
    digest = hashlib.sha256(b"".join(outputs)).hexdigest()
    result = {"keys": keys, "compiled": compiled, "seconds": seconds, "processor": processor, "digest": digest}
    print(json.dumps(result), flush=True)
    sys.stdin.readline()  # the process does not end before all others have compiled
