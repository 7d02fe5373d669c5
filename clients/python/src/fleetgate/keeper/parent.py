"""What a process that serves a parent knows of it. Linux tells more than other systems."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2")
_UNHEARD = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]


@contextlib.contextmanager
def born_deaf(*numbers: int) -> Iterator[None]:
    """A process that this thread starts inside has these signals blocked from its first moment on.

    By default those that `deaf_to_signals()` names.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, numbers or _UNHEARD)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def deaf_to_signals() -> None:
    """The parent ends us; a signal to the whole group, or Ctrl-C, must reach its work and not its helper."""
    for number in _UNHEARD:
        signal.signal(number, signal.SIG_IGN)


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
