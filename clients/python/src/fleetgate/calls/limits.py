"""The calls of section Limits of the wire contract, bound to one limit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..call import Call, CallOptions, given, has, holds, segment
from ..ids import new_request_id
from ..sender import Sender
from ..wire.limits import Adapt, LimitAnswer, SettleAnswer, Take, TakeAnswer, TakesAnswer

if TYPE_CHECKING:
    from typing_extensions import Unpack


class LimitCalls:
    """Every call of one limit; each may raise ProblemError and UnavailableError."""

    def __init__(self, send: Sender, name: str) -> None:
        self.name = name
        self._send = send
        self._base = f"/v1/limits/{segment(name)}"

    def put(
        self,
        *,
        algorithm: str,
        capacity: float,
        refill_per_s: float | None = None,
        leak_per_s: float | None = None,
        adapt: Adapt | None = None,
        on_error: str | None = None,
        shadow: bool | None = None,
        **options: Unpack[CallOptions],
    ) -> LimitAnswer:
        """Makes the limit, or changes it from now on."""
        body = given(
            algorithm=algorithm,
            capacity=capacity,
            refill_per_s=refill_per_s,
            leak_per_s=leak_per_s,
            adapt=adapt,
            on_error=on_error,
            shadow=shadow,
        )
        return self._send(Call[LimitAnswer]("PUT", self._base, _is_limit, body), **options)

    def get(self, **options: Unpack[CallOptions]) -> LimitAnswer:
        """The limit's configuration."""
        return self._send(Call[LimitAnswer]("GET", self._base, _is_limit), **options)

    def delete(self, **options: Unpack[CallOptions]) -> dict[str, Any]:
        """Takes the limit away."""
        return self._send(Call[dict[str, Any]]("DELETE", self._base, holds(deleted=bool)), **options)

    def take(
        self,
        *,
        key: str | None = None,
        cost: float | None = None,
        request_id: str | None = None,
        **options: Unpack[CallOptions],
    ) -> TakeAnswer:
        """Spends `cost` if there is that much; a missing `request_id` is made here, so that no retry spends twice."""
        body = given(key=key, cost=cost, request_id=request_id or new_request_id())
        return self._send(Call[TakeAnswer]("POST", f"{self._base}/take", _is_take, body), **options)

    def settle(
        self, *, request_id: str, actual: float, key: str | None = None, **options: Unpack[CallOptions]
    ) -> SettleAnswer:
        """Gives back or charges what a take's cost differs from `actual`, once."""
        body = given(key=key, request_id=request_id, actual=actual)
        call = Call[SettleAnswer]("POST", f"{self._base}/settle", holds(settled=bool, remaining=float), body)
        return self._send(call, **options)

    def peek(self, key: str = "default", **options: Unpack[CallOptions]) -> TakeAnswer:
        """What a take would hear; spends nothing."""
        call = Call[TakeAnswer]("GET", f"{self._base}/keys/{segment(key)}", _is_take)
        return self._send(call, **options)


def take_all(
    send: Sender, takes: Sequence[Take], request_id: str | None, options: CallOptions
) -> TakesAnswer:
    """Takes of several limits, all or none."""
    body = {"takes": takes, "request_id": request_id or new_request_id()}
    call = Call[TakesAnswer]("POST", "/v1/take", holds(allowed=bool, takes=list), body)
    answer: TakesAnswer = send(call, **options)
    return answer


def _is_limit(answer: dict[str, Any]) -> bool:
    return has(answer, algorithm=str, capacity=float)


def _is_take(answer: dict[str, Any]) -> bool:
    refused_well = answer.get("allowed") is True or has(answer, retry_after_ms=float)
    return has(answer, allowed=bool, remaining=float, delay_ms=float) and (
        refused_well or "rate_per_s" in answer
    )
