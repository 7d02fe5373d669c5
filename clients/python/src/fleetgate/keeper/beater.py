"""Beats from threads of this process."""

from __future__ import annotations

import threading

from ..backoff import beat_delay, shorten
from ..clock import now
from ..errors import ProblemError, UnavailableError
from ..wire.fleets import BeatState
from .beats import BeaterEvents, BeaterStart, SendBeat
from .held import HeldLease, HeldLeases

# The most leases one beat may renew.
_LEASES_A_BEAT = 100
_SHORTEST_PACE_S = 0.05
# The pace until the coordinator has said its own.
_UNTOLD_PACE_S = 10.0
# Waits are cut into pieces, since a wait does not count the time a machine sleeps, and leases do.
_PIECE_S = 1.0


class ThreadBeater:
    """Keeps the coordinator's pace, but is never slower than a third of the shortest held ttl."""

    def __init__(self, send: SendBeat, start: BeaterStart, events: BeaterEvents) -> None:
        self._send = send
        self._events = events
        self._timeout = start.timeout
        self._changed = threading.Condition()
        self._held = HeldLeases()
        self._state = start.state
        self._told = _UNTOLD_PACE_S if start.next_beat is None else start.next_beat
        self._failures = 1 if start.next_beat is None else 0
        untold = start.next_beat is None
        self._due = (
            now() + beat_delay(1, None, self._pace()) if untold else start.sent_at + shorten(self._pace())
        )
        self._again = False
        self._stopped = False
        # Two threads: a beat that hangs must not keep a lapse from being noticed.
        self._beats = threading.Thread(target=self._beat_on, name="fleetgate-beats", daemon=True)
        self._watch = threading.Thread(target=self._watch_on, name="fleetgate-deadlines", daemon=True)
        self._beats.start()
        self._watch.start()

    def hold(self, lease: HeldLease) -> None:
        """Renews a lease from now on."""
        with self._changed:
            self._held.add(lease)
            # While beats fail, the next one is near enough, and a new lease must not hasten it.
            if self._failures == 0:
                self._due = min(self._due, lease.deadline - lease.ttl + shorten(lease.ttl / 3))
            self._changed.notify_all()

    def drop(self, lease_id: str) -> None:
        """Renews a lease no more."""
        with self._changed:
            self._held.drop(lease_id)

    def set_state(self, state: BeatState) -> None:
        """Announces a state with a beat at once."""
        with self._changed:
            self._state = state
            self._again = True
            if self._failures == 0:
                self._due = now()
            self._changed.notify_all()

    def wait_ready(self) -> None:
        """Nothing to wait for: its threads run."""

    def check(self) -> None:
        """Judges the deadlines by the clock of this moment."""
        with self._changed:
            lapsed = self._held.take_lapsed(now())
        for lease_id, reason in lapsed:
            self._events.lost(lease_id, reason)

    def stop(self) -> None:
        """Sends no beat any more; returns when one under way has ended."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
        for thread in (self._beats, self._watch):
            if thread is not threading.current_thread():
                thread.join()
        with self._changed:
            self._held.clear()

    def after_fork(self) -> None:
        """Nothing to let go of: threads stay with the parent."""

    def _pace(self) -> float:
        return max(_SHORTEST_PACE_S, min(self._told, self._held.shortest_ttl() / 3))

    def _watch_on(self) -> None:
        while True:
            with self._changed:
                if self._stopped:
                    return
                left = self._held.next_deadline() - now()
                if left > 0:
                    self._changed.wait(min(left, _PIECE_S) if left < 3_600 else None)
            self.check()

    def _beat_on(self) -> None:
        while self._wait_until_due():
            # After a suspension deadlines and beats are both overdue: what has lapsed must not be renewed first.
            self.check()
            started = now()
            try:
                self._beat()
            except Exception as error:  # whatever a transport raises, the beats go on
                self._failed(error)
                continue
            with self._changed:
                self._failures = 0
                self._due = now() if self._again else started + shorten(self._pace())

    def _wait_until_due(self) -> bool:
        with self._changed:
            while not self._stopped:
                left = self._due - now()
                if left <= 0:
                    self._again = False
                    return True
                self._changed.wait(min(left, _PIECE_S))
            return False

    def _beat(self) -> None:
        with self._changed:
            groups = self._held.groups(_LEASES_A_BEAT)
        for ids in groups:
            with self._changed:
                if self._stopped:
                    return
                state = self._state
                # Half the ttl: slow answers still count, and a beat that hangs leaves time for another.
                timeout = min(self._timeout, 1.5 * self._pace())
            sent_at = now()
            answer = self._send(state, ids, timeout)
            self._heard(ids, sent_at, answer["next_heartbeat_ms"] / 1_000, answer["lost"])
            self._events.directive(answer["directive"])

    def _heard(self, ids: list[str], sent_at: float, told: float, lost: list[str]) -> None:
        with self._changed:
            self._told = told
            self._held.renewed([lease_id for lease_id in ids if lease_id not in lost], sent_at)
            # One that is no longer held was released while the beat was under way: not lost.
            gone = [lease_id for lease_id in lost if self._held.drop(lease_id)]
            self._changed.notify_all()
        self._events.renewed([lease_id for lease_id in ids if lease_id not in lost], sent_at)
        for lease_id in gone:
            self._events.lost(lease_id, "told")
        self.check()

    def _failed(self, error: Exception) -> None:
        self.check()
        if isinstance(error, ProblemError) and error.code == "stale-instance":
            with self._changed:
                self._stopped = True
                self._held.clear()
                self._changed.notify_all()
            self._events.replaced()
            return
        hint = error.retry_after_ms if isinstance(error, (ProblemError, UnavailableError)) else None
        with self._changed:
            self._failures += 1
            failures = self._failures
            self._due = now() + beat_delay(failures, None if hint is None else hint / 1_000, self._pace())
        self._events.failed(error, failures)
