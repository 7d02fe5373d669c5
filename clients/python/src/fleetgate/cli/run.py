"""`fleetgate run`: one command, while it holds a slot."""

from __future__ import annotations

import argparse
import signal
import sys

from ..client import Client
from ..errors import PodClosedError
from ..keeper.lease import Lease
from ..keeper.pod import Pod
from ..keeper.shutdown import on_signals
from .exits import LOST, USAGE
from .launch import Command, has_terminal, leaving, start

_PASSED_ON = ("SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGINT", "SIGQUIT")
_NO_COMMAND = "fleetgate: no command: put it after --, as in: fleetgate run --fleet render -- python train.py"


def add(parser: argparse.ArgumentParser) -> None:
    """The arguments of `run`."""
    parser.usage = "fleetgate run --fleet FLEET [options] -- COMMAND [ARGUMENT ...]"
    parser.description = (
        "Joins the fleet, waits for a slot, runs the command, renews the slot meanwhile, gives it back, and exits "
        "with the command's code. Signals are passed on. If the slot is lost the command gets SIGTERM."
    )
    parser.add_argument("--fleet", required=True, help="the fleet to take a slot of")
    parser.add_argument("--class", dest="cls", help="the class of the slot (default: normal)")
    parser.add_argument("--wait", type=float, help="seconds to wait for a slot (default: without end)")
    parser.add_argument(
        "--grace",
        type=float,
        default=10.0,
        help="seconds from SIGTERM to SIGKILL when the slot is lost (default: 10)",
    )
    parser.set_defaults(run=run)


def run(client: Client, options: argparse.Namespace) -> int:
    """Runs the command; its exit code."""
    if not options.command:
        print(_NO_COMMAND, file=sys.stderr)
        return USAGE
    job = _Job(options)
    numbers = [getattr(signal, name) for name in _PASSED_ON if hasattr(signal, name)]
    stop_listening = on_signals(job.hear, *numbers, chain=False)
    try:
        # Nothing here holds the interpreter lock for long, so a thread is keeper enough.
        pod = client.fleet(options.fleet).join(options.cluster, options.pod, keeper="thread")
        return job.run_in(pod)
    finally:
        stop_listening()


class _Job:
    """One command and the signals on the way to it."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._pod: Pod | None = None
        self._command: Command | None = None
        self._heard: int | None = None
        self._lost = False

    def hear(self, number: int) -> None:
        """Passes a signal on, or gives up the wait for a slot."""
        self._heard = number
        ends = number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
        if ends and self._pod is not None:
            self._pod.drain(wait=0)
        # Ctrl-C reaches all of a terminal's foreground by itself.
        doubled = number in (signal.SIGINT, signal.SIGQUIT) and has_terminal()
        if self._command is not None and not doubled:
            self._command.send(number)

    def run_in(self, pod: Pod) -> int:
        """Waits for a slot and runs the command under it."""
        with leaving(pod):
            self._pod = pod
            if self._heard in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                return 128 + self._heard
            try:
                lease = pod.slot(cls=self._options.cls, wait=self._options.wait, on_lost=self._lose)
            except PodClosedError:
                if self._heard is None:
                    raise
                return 128 + self._heard
            with lease:
                return self._run(lease)

    def _run(self, lease: Lease) -> int:
        command = start(self._options.command)
        if isinstance(command, int):
            return command
        self._command = command
        # One that came while it was being started.
        if self._heard is not None:
            command.send(self._heard)
        if lease.lost.is_set():
            self._lose(lease)
        code = command.wait()
        return LOST if self._lost else code

    def _lose(self, lease: Lease) -> None:
        if lease.reason == "left":
            return
        self._lost = True
        if self._command is not None:
            print(f"fleetgate: the slot was lost ({lease.reason}): ending the command", file=sys.stderr)
            self._command.end(self._options.grace)
