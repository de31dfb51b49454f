"""The command ``ingot``: becomes the tool that is inside the package."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Executes the tool in place of this process."""
    file = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "ingot")
    try:
        os.execv(file, ["ingot", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"ingot: {file}: {error.strerror}")
