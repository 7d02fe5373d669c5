"""Joins a fleet with a keeper that takes its time to start, and says how that was cut: joiner.py FLEET POD SCRIPT."""

from __future__ import annotations

import sys
from pathlib import Path

from lines import say

from fleetgate import Client


def slow_python(path: Path) -> str:
    """An interpreter that starts a second late."""
    path.write_text(f'#!/bin/sh\nsleep 1\nexec "{sys.executable}" "$@"\n')
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


main()
