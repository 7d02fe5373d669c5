"""Decides, for each task that Celery is about to start, whether it may."""

from __future__ import annotations

import logging
from typing import Any, Callable

from celery.worker.state import task_ready
from kombu.transport import virtual

from ..errors import ProblemError
from ..gate import Gate
from ..keeper.lease import Lease
from .intake import Intake
from .request import GatedRequest
from .running import Running
from .setup import class_of
from .unacked import OwnMessage

_log = logging.getLogger("fleetgate")
# How long a queue rests whose slots the coordinator refuses to give, as for a class that the fleet does not have.
_REFUSED_S = 10


class Admission:
    """In place of the consumer's `on_task_request`, by which every task goes: at once, after its ETA or its rate."""

    def __init__(
        self, start: Callable[[Any], Any], gates: dict[str | None, Gate], intake: Intake, running: Running
    ) -> None:
        self._start = start
        self._gates = gates
        self._intake = intake
        self._running = running

    def __call__(self, request: Any) -> None:
        """Starts it, or gives its message back."""
        # One that was revoked is Celery's to discard.
        if not isinstance(request, GatedRequest) or request.revoked():
            self._start(request)
            return
        gate = self._gates[class_of(request.task)]
        self._intake.comes_with(request.message, gate)
        if self._intake.has_room() and not gate.waiting:
            # Before its slot is asked for: should this worker be killed meanwhile, another puts the message back.
            message = self._running.take(request)
            lease = self._take(gate)
            if lease is None:
                refuse(request, message)
            else:
                self._running.start(request, message, lease, self._start)
        else:
            refuse(request, None)
        # While its message is being delivered Kombu asks Redis for no other, so none comes by a queue that stops now.
        self._intake.settle()

    def _take(self, gate: Gate) -> Lease | None:
        try:
            return gate.take()
        except ProblemError as error:
            _log.error(
                "no slot of class %s is given, will ask again in %d s: %s", gate.cls, _REFUSED_S, error
            )
            self._intake.rest(gate, _REFUSED_S)
            return None


def refuse(request: Any, own: OwnMessage | None) -> None:
    """Gives a message back that was not begun: no retry is used, and nothing counts as failed."""
    message = request.message
    qos: Any = getattr(message.channel, "qos", None)
    if own is not None:
        own.give_back()
    elif hasattr(qos, "restore_by_tag"):
        # Kombu's own reject() would put it behind all others of its queue in Redis.
        qos.restore_by_tag(message.delivery_tag)
        virtual.QoS.ack(qos, message.delivery_tag)
    else:
        message.requeue()
    request.acknowledged = True
    task_ready(request)
