"""Everything this client raises, as one tree; `code` is the word to switch on.

FleetgateError
├── ProblemError       the coordinator refused the call (4xx, 500); never retried
├── UnavailableError   no usable answer in time (503, network, timeout), after retries
├── NotGrantedError    `pod.slot()` waited to its end and heard no
├── LeaseLostError     raised by `lease.check()` and `task.check()`; never by a call
├── PodClosedError     the pod drains, left or was replaced, and takes no more leases
└── UnsupportedError   this process lacks what was asked for (a keeper process with a transport of your own)

A ValueError or TypeError is a wrong argument. No error's text, repr or argument holds the key.
"""

from __future__ import annotations

from typing import Any


class FleetgateError(Exception):
    """The root of every error of this client; `code` names the kind."""

    code: str = "fleetgate"


class ProblemError(FleetgateError):
    """The coordinator refused; `unrecognised` is an answer that is no problem of ours. `retry_after_ms` in ms."""

    def __init__(
        self,
        code: str,
        status: int,
        detail: str,
        errors: list[dict[str, Any]] | None = None,
        trace_id: str | None = None,
        retry_after_ms: int | None = None,
    ) -> None:
        self.code = code
        self.status = status
        self.detail = detail
        self.errors = errors or []
        self.trace_id = trace_id
        self.retry_after_ms = retry_after_ms
        super().__init__(code, status, detail, self.errors, trace_id, retry_after_ms)

    def __str__(self) -> str:
        fields = "; ".join(f"{error.get('path')}: {error.get('message')}" for error in self.errors)
        return f"{self.code}: {self.detail}" + (f" ({fields})" if fields not in self.detail else "")


class UnavailableError(FleetgateError):
    """The coordinator could not be asked: how many tries were made, and in `detail` what the last one met."""

    code = "unavailable"

    def __init__(
        self,
        attempts: int,
        detail: str,
        trace_id: str | None = None,
        retry_after_ms: int | None = None,
    ) -> None:
        self.attempts = attempts
        self.detail = detail
        self.trace_id = trace_id
        self.retry_after_ms = retry_after_ms
        super().__init__(attempts, detail, trace_id, retry_after_ms)

    def __str__(self) -> str:
        return f"no answer from the coordinator (tries: {self.attempts}): {self.detail}"


class NotGrantedError(FleetgateError):
    """No slot within the time given: the coordinator's reason, and its hint in ms when to ask again."""

    code = "not-granted"

    def __init__(self, reason: str, retry_after_ms: int) -> None:
        self.reason = reason
        self.retry_after_ms = retry_after_ms
        super().__init__(reason, retry_after_ms)

    def __str__(self) -> str:
        return f"no slot was granted: {self.reason}"


class LeaseLostError(FleetgateError):
    """A lease was lost while in use.

    `reason`: `told` by the coordinator, its deadline passed in `silence`, a newer process `replaced` the pod, the pod
    `left`, or the task's hard `time_limit` passed.
    """

    code = "lease-lost"

    def __init__(self, lease_id: str | None, reason: str) -> None:
        self.lease_id = lease_id
        self.reason = reason
        super().__init__(lease_id, reason)

    def __str__(self) -> str:
        return f"the lease was lost: {self.reason}"


class PodClosedError(FleetgateError):
    """The pod takes no more leases; `reason` is `draining`, `left` or `replaced`."""

    code = "pod-closed"

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)

    def __str__(self) -> str:
        return f"the pod takes no more leases: {self.reason}"


class UnsupportedError(FleetgateError):
    """This process lacks what was asked for."""

    code = "unsupported"
