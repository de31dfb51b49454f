"""vLLM: the entry point of the group vllm.general_plugins, which vLLM calls in each worker.

vLLM compiles with torch and Triton, so these two plugs are all that it needs.
"""

from __future__ import annotations


def register() -> None:
    """Does what INGOT_PYTHON asks for, in this worker."""
    from . import _startup

    _startup.start()
