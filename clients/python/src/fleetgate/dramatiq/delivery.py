"""One message in this process, from its fetch until the broker has heard how it ended."""

from __future__ import annotations

import functools
import logging
import threading
from contextvars import ContextVar
from typing import Any, Callable

from dramatiq import Consumer, MessageProxy
from dramatiq.middleware import SkipMessage

from ..keeper.lease import Lease
from ..keeper.lost import LeaseView
from ..keeper.shared import without_slot

_log = logging.getLogger("fleetgate")
_current: ContextVar[Delivery | None] = ContextVar("fleetgate_delivery", default=None)
# Where a message carries its delivery; Dramatiq hands the same object through all its hooks.
_MARK = "_fleetgate_delivery"


class Delivery:
    """A message, with the slot that its actor holds if it has to hold one."""

    def __init__(
        self,
        message: MessageProxy,
        lease: Lease | None,
        origin: Consumer,
        give_back: Callable[[MessageProxy], None],
        on_end: Callable[[Delivery], None],
    ) -> None:
        self.message = message
        self.lease = lease
        self._origin = origin
        self._give_back = give_back
        self._on_end = on_end
        self._lock = threading.Lock()
        self._ended = False
        self._detached = False
        self._lost = False
        self._running = False
        vars(message)[_MARK] = self

    @property
    def key(self) -> str:
        """What the broker knows this delivery by."""
        key: str = self.message.options["redis_message_id"]
        return key

    def run(self, work: Callable[[], Any]) -> Any:
        """Runs an actor's function. What comes of it counts only if the slot was held to the end."""
        lease = self.lease
        if lease is None or self._running:
            return work()
        self._running = True
        try:
            result = work()
        except BaseException as error:
            if lease.lost.is_set():
                raise self._skip(lease) from error
            raise
        if lease.lost.is_set():
            raise self._skip(lease)
        return result

    def ack(self) -> None:
        """Tells the broker that the message is done; gives the slot back."""
        self._end(self._give_back if self._lost else self._origin.ack)

    def nack(self) -> None:
        """Moves the message to the dead letters, or back to its queue when its slot was lost; gives the slot back."""
        if self._lost:
            self.message.failed = False  # or the Results middleware would store a failure
        self._end(self._give_back if self._lost else self._origin.nack)

    def requeue(self) -> None:
        """Puts a message that no thread has begun back to the front of its queue; gives the slot back."""
        self._end(self._give_back)

    def abandon(self) -> None:
        """Tells the actor that its slot is lost, and hands its message to other workers. The worker is ending."""
        if self.lease is not None:
            self.lease.lose("left")
        with self._lock:
            if not self._ended and not self._detached:
                self._give_back(self.message)
                self._detached = True

    def detach(self) -> None:
        """The broker has delivered the message once more: how this delivery ends is no longer its business."""
        with self._lock:
            self._detached = True

    def _end(self, say: Callable[[MessageProxy], None]) -> None:
        with self._lock:
            try:
                if not self._detached and not self._ended:
                    say(self.message)
            finally:
                # Also when the broker is away: the work is done, and Dramatiq will tell it again.
                if self.lease is not None:
                    self.lease.release()
            again, self._ended = self._ended, True
        if not again:
            self._on_end(self)

    def _skip(self, lease: Lease) -> SkipMessage:
        """What keeps every other middleware from taking it for a result or for a failure."""
        _log.warning("%s lost its slot (%s): its outcome is dropped", self.message, lease.reason)
        self._lost = True
        self.message.fail()
        return SkipMessage(f"the slot was lost: {lease.reason}")


def delivery_of(message: MessageProxy) -> Delivery | None:
    """The delivery of a message that a gated consumer gave out."""
    return vars(message).get(_MARK)


def begin(message: MessageProxy) -> None:
    """From now on this thread processes `message`."""
    _current.set(delivery_of(message))


def end() -> None:
    """This thread has processed its message."""
    _current.set(None)


def watched(function: Callable[..., Any]) -> Callable[..., Any]:
    """An actor's function whose outcome is dropped if its slot was lost."""

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        delivery = _current.get()
        if delivery is None:
            return function(*args, **kwargs)
        return delivery.run(lambda: function(*args, **kwargs))

    return run


def current_lease() -> LeaseView:
    """The slot that the running actor holds.

    Outside an actor, and in one that needs no slot, it is a degraded one that is never lost.

    Works in coroutines too. A thread that the actor starts does not see it: pass the lease on.
    """
    delivery = _current.get()
    lease = None if delivery is None else delivery.lease
    return lease or without_slot()
