"""What a process that serves a parent knows of it. Linux tells more than other systems."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

_PR_SET_PDEATHSIG = 1


def deaf_to_signals() -> None:
    """The parent ends us; a signal to the whole group, or Ctrl-C, must reach its work and not its helper."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)


def die_with(parent: int) -> None:
    """The system kills this process when its parent dies."""
    if sys.platform == "linux":
        try:
            import ctypes

            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        except (ImportError, OSError, AttributeError):
            pass
    # It may have died before that took hold.
    end_without(parent)


def end_without(parent: int) -> None:
    """Ends this process at once if its parent is gone."""
    if os.getppid() != parent:
        os._exit(0)


def is_stopped(pid: int) -> bool:
    """Whether a process is stopped (SIGSTOP)."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] == "T"
