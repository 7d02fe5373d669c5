"""Starts the keeper's process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from .messages import to_line
from .parent import born_deaf

# -I and a path at the end: neither the working folder nor old backports of a project may shadow the standard library.
_BOOT = "import sys; sys.path.append(sys.argv[1]); from fleetgate._keeper import main; main()"
PACKAGES = str(Path(__file__).resolve().parents[2])


def can_spawn() -> bool:
    """Whether this process has an interpreter to start another with."""
    return bool(sys.executable) and not getattr(sys, "frozen", False) and os.name == "posix"


def spawn_keeper(start: dict[str, Any]) -> subprocess.Popen[bytes]:
    """Starts it and hands it what to do; raises OSError. The key travels in the pipe, never in the arguments."""
    with born_deaf():
        process = subprocess.Popen(
            [sys.executable, "-I", "-c", _BOOT, PACKAGES, "fleetgate._keeper"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            cwd="/",
        )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        os.write(process.stdin.fileno(), to_line({**start, "parent": os.getpid()}))
    except OSError:
        process.kill()
        process.wait()
        raise
    os.set_blocking(process.stdin.fileno(), False)
    os.set_blocking(process.stdout.fileno(), False)
    return process
