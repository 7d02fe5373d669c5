"""What a process beside another, which works for it, knows of that one."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

_PR_SET_PDEATHSIG = 1


def ignore_signals() -> None:
    """The parent ends us; a signal to the whole group, or Ctrl-C, must reach its work and not its helper."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)


def die_with(parent: int) -> None:
    """The system kills this process when its parent dies; the end of the pipe says it too, where it reaches us."""
    if sys.platform == "linux":
        try:
            import ctypes

            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        except (ImportError, OSError, AttributeError):
            pass
    # It may have died before that took hold.
    if os.getppid() != parent:
        os._exit(0)


def is_stopped(pid: int) -> bool:
    """Whether a process is stopped (SIGSTOP)."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] == "T"
