"""What a test's program says."""

from __future__ import annotations

import os


def say(*words: object) -> None:
    """A line in one write: those of several threads or processes must not mix."""
    os.write(1, (" ".join(map(str, words)) + "\n").encode())
