"""Triton kernels that compile without a GPU."""

from __future__ import annotations

from typing import Any

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(out + i, tl.load(x + i, mask=mask) + tl.load(y + i, mask=mask), mask=mask)


def compile_add(block: int) -> Any:
    """Compiles the kernel for an H100."""
    types = {"x": "*fp32", "y": "*fp32", "out": "*fp32", "n": "i32", "BLOCK": "constexpr"}
    return triton.compile(ASTSource(add, types, {"BLOCK": block}), target=GPUTarget("cuda", 90, 32))


@triton.jit
def broken(x, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    tl.store(x + tl.arange(0, BLOCK), not_defined)  # noqa: F821


def compile_broken() -> Any:
    return triton.compile(
        ASTSource(broken, {"x": "*fp32", "BLOCK": "constexpr"}, {"BLOCK": 128}), target=GPUTarget("cuda", 90, 32)
    )
