"""A marked task's own function, in whichever process of the worker it runs."""

from __future__ import annotations

import functools
import threading
from typing import Any

from celery import current_app
from celery.exceptions import Ignore, Reject, Retry

from ..errors import LeaseLostError
from ..keeper.lost import LeaseView
from ..keeper.pod import Pod
from ..keeper.shared import SharedLease, without_slot

# In a request's delivery_info, which no retry carries on: which lease it runs under.
TOKEN = "fleetgate_lease"
_SEEN = "fleetgate_seen"
_pod: Pod | None = None


class LostSlot(Reject, Ignore):  # type: ignore[misc]
    """Gives the message back and writes no result. Also an Ignore, which `autoretry_for` lets through."""

    def __init__(self, reason: str = "", requeue: bool = True) -> None:
        super().__init__(reason, requeue)


def inherit(pod: Pod) -> None:
    """Before the pool's processes are forked: whose leases they will see."""
    global _pod
    _pod = pod


def current_lease() -> LeaseView:
    """The lease of the task that runs now: `lost` (an Event), `reason`, `check()`, `on_lost(f)`, `id`, `cls`.

    Where the worker has none, as in a test that calls the task's function, it is a degraded one that is never lost.
    """
    task = current_app.current_worker_task
    lease = None if task is None else lease_of(task.request)
    return lease or without_slot()


def lease_of(request: Any) -> SharedLease | None:
    """The lease that a request runs under, the same each time; None when it has none."""
    token = (request.get("delivery_info") or {}).get(TOKEN)
    seen: SharedLease | None = request.get(_SEEN)
    if seen is None and token is not None and _pod is not None:
        seen = _pod.shared(token)
        setattr(request, _SEEN, seen)
    return seen


def guard(task: Any) -> None:
    """From now on a run whose lease is lost ends in LostSlot, whatever the task's function returns or raises."""
    # Inside autoretry's own wrapper, so that what follows a lost lease is no reason to retry.
    name = "_orig_run" if hasattr(task, "_orig_run") else "run"
    body, retry = getattr(task, name), task.retry

    @functools.wraps(body)
    def run(*args: Any, **kwargs: Any) -> Any:
        lease = lease_of(task.request)
        if lease is None:
            return body(*args, **kwargs)
        try:
            result = body(*args, **kwargs)
        except Retry:
            raise  # its message is sent
        except Exception:
            _give_up_if_lost(lease)
            raise
        except (SystemExit, KeyboardInterrupt) as error:
            if threading.current_thread() is threading.main_thread():
                raise
            # Celery's threads pool does not hear of a thread's exit: the task would never end, nor its slot.
            raise RuntimeError(f"the task ended its thread: {error!r}") from error
        finally:
            lease.end()
        _give_up_if_lost(lease)
        return result

    @functools.wraps(retry)
    def retry_if_held(*args: Any, **kwargs: Any) -> Any:
        # A retry sends a message of its own, beside the one that will be delivered again.
        lease = lease_of(task.request)
        if lease is not None:
            _give_up_if_lost(lease)
        return retry(*args, **kwargs)

    setattr(task, name, run)
    task.retry = retry_if_held


def _give_up_if_lost(lease: SharedLease) -> None:
    try:
        lease.check()
    except LeaseLostError as error:
        raise LostSlot(str(error)) from None
