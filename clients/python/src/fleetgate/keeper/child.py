"""Beats from a process beside this one, so that renewals go on while this one's interpreter lock is held."""

from __future__ import annotations

import json
import logging
import os
import select
import subprocess
import threading
from contextlib import suppress
from typing import Any, Callable

from ..clock import now
from ..errors import UnavailableError
from ..waiting import PIECE_S
from ..wire.fleets import BeatState
from .beater import ThreadBeater
from .beats import BeaterEvents, BeaterStart, SendBeat
from .held import HeldLease, HeldLeases
from .messages import to_line
from .spawn import spawn_keeper

_log = logging.getLogger("fleetgate")
_READY_S = 20.0
_WRITE_S = 1.0
_PIECE_S = 1.0
# Said outside the lock: a function of the pod's and its words.
_Told = tuple[Callable[..., None], tuple[Any, ...]]


class ProcessBeater:
    """Talks to the keeper's process and judges deadlines itself too; beats from threads should that process be lost."""

    def __init__(
        self, start: dict[str, Any], send: SendBeat, begin: BeaterStart, events: BeaterEvents
    ) -> None:
        self._start = {**start, "start": vars(begin)}
        self._send = send
        self._begin = begin
        self._events = events
        self._state = begin.state
        self._lock = threading.RLock()
        self._held = HeldLeases()
        self._process: subprocess.Popen[bytes] | None = None
        self._unread = b""
        self._open = False
        self._stopping = False
        self._instead: ThreadBeater | None = None
        self._ready = threading.Event()
        self._over = threading.Event()
        # The thread that starts the process stays until its end: the system counts its death as the parent's.
        self._reader = threading.Thread(target=self._serve, name="fleetgate-keeper", daemon=True)
        self._reader.start()

    def wait_ready(self) -> None:
        """Until the process beats; threads take over when it does not start in time."""
        ends = now() + _READY_S
        while not self._ready.wait(PIECE_S):
            if now() >= ends:
                self._lose_process("did not start in time")

    def hold(self, lease: HeldLease) -> None:
        """Renews a lease from now on."""
        with self._lock:
            if self._instead is not None:
                self._instead.hold(lease)
                return
            self._held.add(lease)
            # JSON has no infinity.
            until = {} if lease.until == float("inf") else {"until": lease.until}
            self._tell(type="hold", id=lease.id, ttl=lease.ttl, deadline=lease.deadline, **until)

    def drop(self, lease_id: str) -> None:
        """Renews a lease no more."""
        with self._lock:
            if self._instead is not None:
                self._instead.drop(lease_id)
            elif self._held.drop(lease_id):
                self._tell(type="drop", id=lease_id)

    def set_state(self, state: BeatState) -> None:
        """Announces a state with a beat at once."""
        with self._lock:
            self._state = state
            if self._instead is not None:
                self._instead.set_state(state)
            else:
                self._tell(type="state", state=state)

    def check(self) -> None:
        """Hears what the process has told meanwhile, and judges the deadlines by the clock of this moment."""
        told: list[_Told] = []
        with self._lock:
            if self._instead is None:
                for message in self._read():
                    self._hear(message, told)
                told += [(self._events.lost, lost) for lost in self._held.take_lapsed(now())]
            instead = self._instead
        for tell, words in told:
            tell(*words)
        if instead is not None:
            instead.check()

    def stop(self) -> None:
        """Sends no beat any more; returns when one under way has ended."""
        with self._lock:
            self._stopping = True
            instead, process = self._instead, self._process
            if instead is None:
                self._tell(type="stop")
        if instead is not None:
            instead.stop()
        elif process is not None:
            try:
                process.wait(self._begin.timeout + 1)
            except subprocess.TimeoutExpired:
                process.kill()
        if self._reader is not threading.current_thread():
            self._over.wait()

    def after_fork(self) -> None:
        """Closes the child's copies of the pipes, which would keep the keeper from hearing of the parent's end."""
        process, self._process = self._process, None
        self._lock = threading.RLock()
        self._open = False
        if process is not None:
            process.returncode = 0  # not this process's child: nothing to wait for
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    pipe.close()

    def _serve(self) -> None:
        try:
            self._serve_process()
        finally:
            self._over.set()

    def _serve_process(self) -> None:
        try:
            process = spawn_keeper(self._start)
        except OSError as error:
            self._lose_process(f"could not be started: {error}")
            return
        assert process.stdout is not None
        with self._lock:
            self._process = process
            self._open = True
            if self._stopping:
                self._tell(type="stop")
        poll = select.poll()
        poll.register(process.stdout, select.POLLIN)
        while self._open:
            with self._lock:
                left = self._held.next_deadline() - now()
            poll.poll(1_000 * max(0.0, min(left, _PIECE_S)))
            self.check()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        self._lose_process("ended")

    def _read(self) -> list[dict[str, Any]]:
        if not self._open or self._process is None or self._process.stdout is None:
            return []
        while True:
            try:
                part = os.read(self._process.stdout.fileno(), 65_536)
            except BlockingIOError:
                break
            except OSError:
                part = b""
            if not part:
                self._open = False
                break
            self._unread += part
        *lines, self._unread = self._unread.split(b"\n")
        return [json.loads(line) for line in lines]

    def _hear(self, message: dict[str, Any], told: list[_Told]) -> None:
        kind, events = message["type"], self._events
        if kind == "ready":
            self._ready.set()
        elif kind == "renewed":
            for lease_id, sent_at in message["sent_at"].items():
                self._held.renewed([lease_id], sent_at)
                told.append((events.renewed, ([lease_id], sent_at)))
        elif kind == "lost":
            if self._held.drop(message["id"]):
                told.append((events.lost, (message["id"], message["reason"])))
        elif kind == "directive":
            told.append((events.directive, (message["directive"],)))
        elif kind == "replaced":
            self._held.clear()
            told.append((events.replaced, ()))
        elif kind == "failed":
            failures = message["failures"]
            told.append((events.failed, (UnavailableError(failures, message["message"]), failures)))

    def _tell(self, **message: Any) -> None:
        if not self._open or self._process is None or self._process.stdin is None:
            return
        pipe, left = self._process.stdin.fileno(), to_line(message)
        poll = select.poll()
        poll.register(pipe, select.POLLOUT)
        while left:
            try:
                left = left[os.write(pipe, left) :]
            except BlockingIOError:
                if not poll.poll(1_000 * _WRITE_S):
                    self._process.kill()  # it does not read any more: let it be replaced
                    return
            except OSError:
                return  # it is gone, which its other pipe says too

    def _lose_process(self, why: str) -> None:
        with self._lock:
            if not self._stopping and self._instead is None:
                _log.warning("the keeper's process %s; beating from a thread instead", why)
                begin = BeaterStart(self._state, self._begin.timeout)
                self._instead = ThreadBeater(self._send, begin, self._events)
                for lease in self._held.all():
                    self._instead.hold(lease)
                self._held.clear()
                if self._process is not None:
                    self._process.kill()
            self._ready.set()
