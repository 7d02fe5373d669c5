"""A command of the user's: started so that it cannot outlive the slot it runs under, and ended in order."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..keeper.parent import born_deaf
from ..keeper.pod import Pod
from ..waiting import PIECE_S
from .exits import CANNOT_RUN, NOT_FOUND

_LEAVE_S = 3.0
# On Linux the command is told by the system when we are killed: nobody would renew its slot any more. It is set in a
# process of its own, since nothing may run between fork and exec in a program that has threads. Ctrl-C waits there for
# the command itself: Python would tell it with a traceback.
_BOOT = """
import ctypes, os, signal, sys
parent = int(sys.argv[1])
try:
    ctypes.CDLL(None).prctl(1, 15)
except (OSError, AttributeError):
    pass
if os.getppid() != parent:
    sys.exit(143)
if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
try:
    os.execvp(sys.argv[2], sys.argv[2:])
except OSError as error:
    sys.stderr.write(f"fleetgate: cannot run {sys.argv[2]}: {error.strerror}\\n")
    sys.exit(127 if isinstance(error, FileNotFoundError) else 126)
"""


class Command:
    """One running command. It leads a process group of its own unless it shares our terminal."""

    def __init__(
        self,
        line: Sequence[str],
        environment: Mapping[str, str] | None = None,
        **pipes: Any,
    ) -> None:
        self._own_group = not has_terminal()
        boots = sys.platform == "linux" and sys.executable
        if boots:
            line = [sys.executable, "-I", "-S", "-c", _BOOT, str(os.getpid()), *line]
        with born_deaf(signal.SIGINT) if boots else contextlib.nullcontext():
            self.process: subprocess.Popen[bytes] = subprocess.Popen(
                list(line),
                env={**os.environ, **(environment or {})},
                start_new_session=self._own_group,
                **pipes,
            )
        self._ended = threading.Event()
        self._must_end = False

    def send(self, number: int) -> None:
        """Passes a signal on to the command itself."""
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(number)

    def end(self, grace: float) -> None:
        """SIGTERM, and SIGKILL to its whole group when it has ended, after `grace` seconds at most; returns at once."""
        self._must_end = True
        self.send(signal.SIGTERM)

        def kill() -> None:
            if not self._ended.wait(grace):
                self._kill()

        threading.Thread(target=kill, name="fleetgate-kill", daemon=True).start()

    def wait(self) -> int:
        """Waits for its end; its exit code, or 128 + n when signal n ended it."""
        while (code := self._ended_with()) is None:
            pass
        self._ended.set()
        if self._must_end:
            self._kill()  # what it started and left behind: nothing of it may go on without the slot
        return code if code >= 0 else 128 - code

    def _ended_with(self) -> int | None:
        try:
            return self.process.wait(PIECE_S)
        except subprocess.TimeoutExpired:
            return None

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if self._own_group:
                os.killpg(self.process.pid, signal.SIGKILL)
            else:
                self.process.kill()


@contextlib.contextmanager
def leaving(pod: Pod) -> Iterator[None]:
    """Leaves at the end, but does not keep a finished command waiting for a coordinator that is away."""
    try:
        yield
    finally:
        pod.leave(deadline=_LEAVE_S)


def start(line: Sequence[str], **options: Any) -> Command | int:
    """Starts a command, or says why not and gives the exit code for it."""
    try:
        return Command(line, **options)
    except OSError as error:
        print(f"fleetgate: cannot run {line[0]}: {error.strerror}", file=sys.stderr)
        return NOT_FOUND if isinstance(error, FileNotFoundError) else CANNOT_RUN


def has_terminal() -> bool:
    """Whether we are in the foreground of a terminal, so that Ctrl-C reaches the command without us."""
    try:
        return os.tcgetpgrp(0) == os.getpgrp()
    except OSError:
        return False
