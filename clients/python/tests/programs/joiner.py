"""Joins a fleet with a keeper that takes its time to start, and says how that was cut: joiner.py FLEET POD SCRIPT."""

from __future__ import annotations

import sys
from pathlib import Path

from lines import say

from fleetgate import Client


def slow_python(path: Path) -> str:
    """An interpreter that starts a second late."""
    late = "import os, sys, time; time.sleep(1); os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
    path.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S -c \'{late}\' "$@"\n')
    path.chmod(0o700)
    return str(path)


def main() -> None:
    fleet, name, script = sys.argv[1:4]
    sys.executable = slow_python(Path(script))
    try:
        Client().fleet(fleet).join("eu", name)
    except KeyboardInterrupt:
        say("cut")
    sys.stdin.readline()


if __name__ == "__main__":
    main()
