"""The messages of running tasks, where the broker is Redis, which redelivers nothing by itself when a worker dies.

Kombu puts a message that nobody acknowledged back after `visibility_timeout`, an hour by default, whether its worker
lives or not. So each running marked task's message has a deadline of its own, which its worker moves on while it lives;
any worker puts back what is overdue. What was put back is no longer its first worker's to acknowledge.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from typing import Any, Callable

from kombu.transport import virtual

from ..clock import now
from ..ids import new_request_id
from ..keeper.lease import Lease
from .renewer import Renewer
from .unacked_store import UnackedStore, tag_of

_log = logging.getLogger("fleetgate")
# How long a degraded lease's message is out of its queue, in seconds: that lease has no ttl of its own.
_UNTOLD_TTL_S = 30.0
# A message is overdue after this share of the lease's ttl, so that it is back when the slot is.
_SHARE = 0.75
_PERIOD_S = 0.5
# The most messages that one worker puts back in one go.
_AT_ONCE = 10
Settle = Callable[[UnackedStore, str], bool]


class OwnMessage:
    """A message whose task this worker runs, or asks a slot for."""

    def __init__(self, message: Any, lifetime: float, unacked: Unacked) -> None:
        # No other delivery of the same message has this name.
        self.member = f"{message.delivery_tag} {new_request_id()}"
        # None until its task has its slot.
        self.lease: Lease | None = None
        self.lifetime = lifetime
        self._message = message
        self._unacked = unacked

    def hold(self, lease: Lease) -> None:
        """Its task begins, under this lease."""
        self._unacked.hold(self, lease)

    def finish(self) -> None:
        """Acknowledges it, unless it is another worker's by now."""
        self._unacked.end(self, UnackedStore.finish)

    def give_back(self) -> None:
        """Puts it at the front of its queue, unless it is another worker's by now."""
        self._unacked.end(self, UnackedStore.give_back)

    def forget(self) -> None:
        """The channel that it came by counts it no more."""
        virtual.QoS.ack(self._message.channel.qos, self._message.delivery_tag)


class Unacked:
    """All of them, of one worker."""

    def __init__(self, redeliver_after: float | None, renewer: Renewer | None) -> None:
        self._redeliver_after = redeliver_after
        self._renewer = renewer
        self._store: UnackedStore | None = None
        self._own: dict[str, OwnMessage] = {}
        self._unsettled: deque[tuple[str, Settle]] = deque()
        self._lifetime = self._longest = redeliver_after or _SHARE * _UNTOLD_TTL_S
        self._period = min(_PERIOD_S, self._lifetime / 3)
        self._overdue_from = 0.0
        self._failing = False
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._tick_on, name="fleetgate-unacked", daemon=True)

    def connected(self, channel: Any) -> None:
        """The worker consumes by this channel from now on."""
        self._store = UnackedStore(channel)
        self._keep_from_restoring(channel.qos)
        if not self._thread.is_alive():
            self._thread.start()

    def begin(self, message: Any) -> OwnMessage:
        """Takes a message in hand."""
        assert self._store is not None
        own = OwnMessage(message, self._lifetime, self)
        try:
            self._store.begin(own.member, own.lifetime)
        except Exception:
            # It may stand there all the same, and must not be taken for this message's next delivery.
            self._unsettled.append((own.member, UnackedStore.abandon))
            raise
        self._own[own.member] = own
        return own

    def hold(self, own: OwnMessage, lease: Lease) -> None:
        """A message's task begins, under this lease."""
        own.lease = lease
        own.lifetime = self._redeliver_after or _SHARE * (lease.ttl or _UNTOLD_TTL_S)
        if self._renewer is not None:
            self._renewer.hold(own.member, own.lifetime)
        if own.lifetime != self._lifetime:
            self._lifetime = own.lifetime
            self._period = min(self._period, own.lifetime / 3)
            self._longest = max(self._longest, own.lifetime)
            # The fleet's ttl was not known before, or has changed.
            self._try(self._renew)

    def end(self, own: OwnMessage, how: Settle) -> None:
        """The task has ended; what cannot be said to Redis now is said later."""
        if self._own.pop(own.member, None) is not None:
            own.forget()
            self._let_go(own)
            self._unsettled.append((own.member, how))
            self._settle()

    def stop(self) -> None:
        """Gives back what has not ended, and stops."""
        self._stopped.set()
        for own in list(self._own.values()):
            own.give_back()
        self._settle()
        if self._renewer is not None:
            self._renewer.stop()

    def _let_go(self, own: OwnMessage) -> None:
        if self._renewer is not None:
            self._renewer.drop(own.member)

    def _settle(self) -> None:
        while True:
            try:
                # Taken out first: another thread, or a signal handler in this one, may come to here meanwhile.
                member, how = self._unsettled.popleft()
            except IndexError:
                return
            try:
                assert self._store is not None
                how(self._store, member)
            except Exception as error:
                self._unsettled.appendleft((member, how))
                self._tell(error)
                return

    def _keep_from_restoring(self, qos: Any) -> None:
        # A channel that closes puts back all it has delivered; what runs on must not start a second time.
        restore = qos.restore_unacked

        def restore_others(*args: Any, **kwargs: Any) -> Any:
            for own in list(self._own.values()):
                qos._delivered.pop(tag_of(own.member), None)
            return restore(*args, **kwargs)

        qos.restore_unacked = restore_others

    def _tick_on(self) -> None:
        while not self._stopped.wait(self._period):
            self._settle()
            self._try(self._tick)

    def _tick(self) -> None:
        self._renew()
        if now() >= self._overdue_from:
            self._put_back_overdue()

    def _try(self, work: Callable[[], None]) -> None:
        try:
            work()
        except Exception as error:
            self._tell(error)
            # The others could not renew either: let them do so first when it is back.
            self._overdue_from = now() + self._longest
        else:
            self._failing = False

    def _renew(self) -> None:
        held = []
        for own in list(self._own.values()):
            if own.lease is not None and own.lease.lost.is_set():
                self._let_go(own)
            else:
                held.append(own)
        assert self._store is not None
        for member in self._store.renew([(own.member, own.lifetime) for own in held]) if held else []:
            lost = self._own.get(member)
            if lost is not None and lost.lease is not None:
                lost.lease.lose("told")  # another worker runs it by now, or will

    def _put_back_overdue(self) -> None:
        assert self._store is not None
        for member in self._store.overdue(_AT_ONCE):
            if self._store.put_back(member):
                _log.warning("the worker of message %s is gone: it is back in its queue", tag_of(member))

    def _tell(self, error: Exception) -> None:
        if not self._failing:
            _log.warning("the broker's Redis does not keep running tasks' messages at the moment: %s", error)
        self._failing = True
