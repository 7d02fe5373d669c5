"""The middleware that puts actors behind a fleet's gate."""

from __future__ import annotations

import logging
import signal
from collections.abc import Mapping
from multiprocessing.util import Finalize
from typing import Any, Callable, Literal

from dramatiq import Actor, Broker, MessageProxy, Middleware, Worker
from dramatiq.brokers.redis import RedisBroker
from dramatiq.brokers.stub import StubBroker
from dramatiq.middleware import MiddlewareError

from ..errors import FleetgateError
from ..fleet import Fleet
from ..keeper.pod import Pod
from ..keeper.shutdown import Ending, can_listen, on_signals, undisturbed
from . import delivery
from .checks import tell_settings
from .client import fleet_of
from .pulse import Pulse
from .worker import GatedWorker

_log = logging.getLogger("fleetgate")
# The most places that one pod may count for.
_MOST_SLOTS = 64


class StartError(MiddlewareError):
    """The worker cannot start behind the gate; Dramatiq lets this one through, so that no actor runs without it."""


class FleetgateMiddleware(Middleware):
    """Each worker process is a pod of the fleet; actors with the option `fleetgate` hold a slot while they run.

    `@dramatiq.actor(fleetgate="normal")` names the class of the slot, and so may a message:
    `render.send_with_options(args=…, fleetgate="high")`; None means that it needs no slot.
    """

    def __init__(
        self,
        fleet: str | Fleet,
        *,
        cls: str | None = None,
        cluster: str | None = None,
        pod: str | None = None,
        slots: int | None = None,
        labels: Mapping[str, str] | None = None,
        on_unavailable: Literal["open", "closed"] | None = None,
        spare: float = 5.0,
    ) -> None:
        """Connects to nothing yet, so that programs which only send messages need no address and no key.

        `fleet`: a name, reached by FLEETGATE_URL and FLEETGATE_KEY, or a client's fleet. `cls`: the class of actors
        that name none; by default these need no slot. `slots`: how many places the process counts for, by default its
        threads. `spare`: seconds that a slot is kept for a next message before it is given back. The others as in
        `fleet.join()`.
        """
        self._fleet = fleet
        self._default = cls
        self._spare = spare
        self._slots = slots
        self._joining: dict[str, Any] = {
            "cluster": cluster,
            "pod": pod,
            "labels": labels,
            "on_unavailable": on_unavailable,
        }
        self._worker: GatedWorker | None = None
        self._pulse: Pulse | None = None
        self._stop_listening: Callable[[], object] = lambda: None

    @property
    def actor_options(self) -> set[str]:
        """The option that puts an actor behind the gate."""
        return {"fleetgate"}

    def after_declare_actor(self, broker: Broker, actor: Actor[Any, Any]) -> None:
        """Its outcome will count only if its slot was held to the end."""
        actor.fn = delivery.watched(actor.fn)

    def before_worker_boot(self, broker: Broker, worker: Worker) -> None:
        """Joins the fleet. Raises StartError, which ends the worker."""
        if isinstance(broker, StubBroker):
            return  # tests of actors: no gate
        if not isinstance(broker, RedisBroker):
            raise StartError(
                f"FleetgateMiddleware needs Dramatiq's RedisBroker, this is {type(broker).__name__}"
            )
        slots = self._slots or min(worker.worker_threads, _MOST_SLOTS)
        # Dramatiq begins to stop within a second after the signal; no slot may be taken in that time.
        ending = Ending()
        if can_listen():
            self._stop_listening = on_signals(ending.hear, signal.SIGTERM, signal.SIGHUP)
        # A second signal ends Dramatiq's process by SystemExit, past all hooks.
        Finalize(None, self._end, exitpriority=10)
        try:
            fleet = fleet_of(self._fleet)
            pod = fleet.own_pod(slots=slots, on_replaced=_say_replaced, **self._joining)
        except (FleetgateError, ValueError) as error:
            raise StartError(f"the worker cannot join the fleet: {error}") from None
        self._worker = GatedWorker(broker, pod, worker.worker_threads, self._default, self._spare)
        ending.means(self._drain)
        self._worker.attach()
        self._pulse = Pulse(broker)
        tell_settings(broker, fleet, self._default)

    def before_process_message(self, broker: Broker, message: MessageProxy) -> None:
        """The actor's `current_lease()` is that of its message."""
        delivery.begin(message)

    def after_process_message(
        self,
        broker: Broker,
        message: MessageProxy,
        *,
        result: Any = None,
        exception: BaseException | None = None,
    ) -> None:
        """The thread holds nothing any more; the slot is given back once the broker knows how it ended."""
        delivery.end()

    def after_skip_message(self, broker: Broker, message: MessageProxy) -> None:
        """As after a message that was processed."""
        delivery.end()

    def before_worker_shutdown(self, broker: Broker, worker: Worker) -> None:
        """Takes nothing more."""
        self._drain()

    def after_worker_shutdown(self, broker: Broker, worker: Worker) -> None:
        """Dramatiq's own grace is over: what still runs is handed back, and the pod leaves."""
        self._end()

    def _drain(self) -> None:
        if self._worker is not None:
            self._worker.drain()

    def _end(self) -> None:
        with undisturbed():
            if self._worker is not None:
                self._worker.end()
                self._worker.detach()
            if self._pulse is not None:
                self._pulse.stop()
        self._stop_listening()


def _say_replaced(pod: Pod) -> None:
    _log.error(
        "another process took over as pod %s/%s, so this worker gets no slot any more: give each its own POD_NAME",
        pod.cluster,
        pod.pod,
    )
