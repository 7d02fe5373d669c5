"""The calls of section Queues of the wire contract, bound to one queue."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..call import UNSET, Call, CallOptions, given, has, holds, query, segment
from ..ids import new_request_id
from ..jsontext import Exact
from ..sender import Sender
from ..wire import queues as wire
from .operate import QueueOperateCalls

if TYPE_CHECKING:
    from typing_extensions import Unpack


class QueueCalls(QueueOperateCalls):
    """Every call of one queue; each may raise ProblemError and UnavailableError."""

    def __init__(self, send: Sender, name: str) -> None:
        self.name = name
        self._send = send
        self._base = f"/v1/queues/{segment(name)}"

    def put(
        self,
        *,
        fleet: str,
        lease_ttl_ms: int | None = None,
        max_deliveries: int | None = None,
        time_limit_ms: int | None = None,
        soft_time_limit_ms: int | None = None,
        max_backlog: int | None = None,
        result_ttl_ms: int | None = None,
        limit: str | None = None,
        paused: bool | None = None,
        **options: Unpack[CallOptions],
    ) -> wire.QueueConfig:
        """Makes the queue, or changes it; its fleet cannot change."""
        body = given(
            fleet=fleet,
            lease_ttl_ms=lease_ttl_ms,
            max_deliveries=max_deliveries,
            time_limit_ms=time_limit_ms,
            soft_time_limit_ms=soft_time_limit_ms,
            max_backlog=max_backlog,
            result_ttl_ms=result_ttl_ms,
            limit=limit,
            paused=paused,
        )
        call = Call[wire.QueueConfig]("PUT", self._base, holds(fleet=str), body)
        return self._send(call, **options)

    def get(self, **options: Unpack[CallOptions]) -> wire.QueueAnswer:
        """The queue's counts and configuration."""
        call = Call[wire.QueueAnswer]("GET", self._base, holds(backlog=float, config=dict))
        return self._send(call, **options)

    def enqueue(
        self,
        payload: Any,
        *,
        id: str | None = None,
        priority: int | None = None,
        cls: str | None = None,
        delay_ms: int | None = None,
        max_deliveries: int | None = None,
        time_limit_ms: int | None = None,
        **options: Unpack[CallOptions],
    ) -> wire.EnqueueAnswer:
        """Takes in a task; a missing `id` is made here, so that no retry makes two. RawJson payloads go as they are."""
        body = given(
            id=id or new_request_id(),
            priority=priority,
            cls=cls,
            delay_ms=delay_ms,
            max_deliveries=max_deliveries,
            time_limit_ms=time_limit_ms,
        )
        return self._send(
            Call[wire.EnqueueAnswer](
                "POST",
                f"{self._base}/tasks",
                holds(id=str, state=str, duplicate=bool),
                {**body, "payload": payload},
            ),
            **options,
        )

    def enqueue_batch(
        self, tasks: Sequence[wire.NewTask], **options: Unpack[CallOptions]
    ) -> wire.BatchAnswer:
        """Takes in up to 100 tasks; each has its own answer."""
        made = [
            {**given(**{"id": new_request_id(), **task}), "payload": task.get("payload")} for task in tasks
        ]
        return self._send(
            Call[wire.BatchAnswer]("POST", f"{self._base}/tasks/batch", holds(tasks=list), {"tasks": made}),
            **options,
        )

    def claim(
        self,
        *,
        cluster: str,
        pod: str,
        instance: str | None = None,
        request_id: str | None = None,
        max: int | None = None,
        wait_ms: int | None = None,
        attempt: int | None = None,
        **options: Unpack[CallOptions],
    ) -> wire.ClaimAnswer:
        """Asks for tasks with a slot each; a missing `request_id` is made here and kept over retries."""
        body = given(
            cluster=cluster,
            pod=pod,
            instance=instance,
            request_id=request_id or new_request_id(),
            max=max,
            wait_ms=wait_ms,
            attempt=attempt,
        )
        exact = Exact("payload", 3)
        call = Call[wire.ClaimAnswer](
            "POST", f"{self._base}/claim", _is_claim, body, wait_ms or 0, exact=exact
        )
        return self._send(call, **options)

    def complete(
        self, *, lease: str, result: Any = UNSET, **options: Unpack[CallOptions]
    ) -> wire.CompleteAnswer:
        """Ends a delivery with its result."""
        body = {"lease": lease} if result is UNSET else {"lease": lease, "result": result}
        return self._send(
            Call[wire.CompleteAnswer](
                "POST", f"{self._base}/complete", holds(completed=bool, already=bool), body
            ),
            **options,
        )

    def fail(
        self,
        *,
        lease: str,
        error: str | None = None,
        retry: bool | None = None,
        delay_ms: int | None = None,
        reason: str | None = None,
        **options: Unpack[CallOptions],
    ) -> wire.FailAnswer:
        """Ends a delivery without a result; `reason="no_capacity"` counts no delivery."""
        body = given(lease=lease, error=error, retry=retry, delay_ms=delay_ms, reason=reason)
        return self._send(
            Call[wire.FailAnswer]("POST", f"{self._base}/fail", holds(state=str, already=bool), body),
            **options,
        )

    def task(self, id: str, **options: Unpack[CallOptions]) -> wire.TaskAnswer:
        """Where a task is, and its result (`result_text` is its exact text)."""
        exact = Exact("result", 1)
        call = Call[wire.TaskAnswer]("GET", self._task(id), holds(id=str, state=str), exact=exact)
        return self._send(call, **options)

    def cancel(self, id: str, **options: Unpack[CallOptions]) -> wire.CancelAnswer:
        """Cancels a task; one in flight is told so by its lease."""
        call = Call[wire.CancelAnswer]("DELETE", self._task(id), holds(state=str))
        return self._send(call, **options)

    def dead(
        self, *, cursor: str | None = None, limit: int | None = None, **options: Unpack[CallOptions]
    ) -> wire.DeadAnswer:
        """One page of the dead letters."""
        path = f"{self._base}/dead{query(cursor=cursor, limit=limit)}"
        return self._send(Call[wire.DeadAnswer]("GET", path, holds(tasks=list)), **options)

    def dead_pages(
        self, *, cursor: str | None = None, limit: int | None = None, **options: Unpack[CallOptions]
    ) -> Iterator[wire.DeadAnswer]:
        """Every page of the dead letters, one after the other, asked for as it is read."""
        while True:
            page = self.dead(cursor=cursor, limit=limit, **options)
            yield page
            cursor = page.get("next")
            if cursor is None:
                return

    def redrive(self, ids: Sequence[str] | None = None, **options: Unpack[CallOptions]) -> wire.RedriveAnswer:
        """Makes dead tasks ready again with a fresh count, up to 1,000 a call."""
        return self._send(
            Call[wire.RedriveAnswer]("POST", f"{self._base}/redrive", holds(redriven=float), given(ids=ids)),
            **options,
        )

    def purge(self, state: str, **options: Unpack[CallOptions]) -> wire.PurgeAnswer:
        """Removes every task in one state."""
        return self._send(
            Call[wire.PurgeAnswer]("POST", f"{self._base}/purge", holds(purged=float), {"state": state}),
            **options,
        )

    def _task(self, id: str) -> str:
        return f"{self._base}/tasks/{segment(id)}"


def _is_claim(answer: dict[str, Any]) -> bool:
    tasks = answer.get("tasks")
    return isinstance(tasks, list) and all(
        has(task, id=str, payload_text=str, delivery=float, lease=dict, deadline_at=float)
        and has(task["lease"], id=str, ttl_ms=float, expires_at=float)
        for task in tasks
    )
