"""CuPy's plug, with CuPy and NVRTC. Code for linking (LTO IR) needs no driver; CuPy loads other code at once."""

from __future__ import annotations

from conftest import Spawn, together

COMPILE = """
    import hashlib, sys, warnings
    from cupy.cuda import compiler
    made = []
    plain = compiler._compile_using_nvrtc_no_warning
    def count(*arguments, **named):
        made.append(1)
        return plain(*arguments, **named)
    compiler._compile_using_nvrtc_no_warning = count
    compiler._get_arch_for_options_for_nvrtc = lambda arch: ("-arch=compute_" + arch, "ptx")  # asks the device
    sys.stdin.readline()
    digest = hashlib.sha256()
    for number in range(2):
        source = 'extern "C" __global__ void set(int *a) { *a = %d; }' % number
        digest.update(compiler._compile_with_cache_cuda(source, (), "90", to_ltoir=True))
    try:
        compiler._compile_with_cache_cuda("no code", (), "90", to_ltoir=True)
    except compiler.CompileException:
        print(len(made), digest.hexdigest(), flush=True)
"""


def test_kernels_come_from_the_store(spawn: Spawn) -> None:
    one, _ = spawn(COMPILE, INGOT_PYTHON="cupy").communicate("go\n")
    two, _ = spawn(COMPILE, INGOT_PYTHON="cupy").communicate("go\n")
    assert one.startswith("3 ")  # one of them does not compile, and is not stored
    assert two == "1 " + one[2:]


def test_one_process_compiles_a_kernel(spawn: Spawn) -> None:
    processes = [spawn(COMPILE, INGOT_PYTHON="all") for _ in range(4)]
    said = [words.split() for words in together(processes)]
    assert sum(int(count) for count, _ in said) == 2 + len(processes)  # each tries the one that does not compile
    assert len({digest for _, digest in said}) == 1


def test_cupy_s_own_directory_stays_empty(spawn: Spawn, tmp_path: object) -> None:
    spawn(COMPILE, INGOT_PYTHON="cupy", CUPY_CACHE_DIR=f"{tmp_path}/cupy").communicate("go\n")
    output, _ = spawn(COMPILE, CUPY_CACHE_DIR=f"{tmp_path}/cupy").communicate("go\n")
    assert output.startswith("3 ")


def test_tells_when_the_hook_has_changed(spawn: Spawn) -> None:
    program = """
        import warnings
        from unittest.mock import patch
        from cupy.cuda import _compiler_cache, compiler
        import ingot_cache.cupy
        from ingot_cache import _plug
        for owner, name in (
            (compiler, "_set_kernel_cache_backend"),
            (compiler, "_compile_with_cache_cuda"),
            (_compiler_cache, "KernelCacheBackend"),
            (_compiler_cache.KernelCacheBackend, "load"),
        ):
            _plug._told.clear()
            with patch.object(owner, name), warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                delattr(owner, name)
                ingot_cache.cupy.install()
            assert len(caught) == 1 and "CuPy keeps its own cache" in str(caught[0].message), (name, caught)
        print(type(compiler._kernel_cache_backend).__name__)
    """
    output, _ = spawn(program).communicate()
    assert output == "DiskKernelCacheBackend\n"
