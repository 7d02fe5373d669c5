"""The calls of section Filters of the wire contract, bound to one filter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..call import Call, CallOptions, given, has, holds, segment
from ..sender import Sender
from ..wire.filters import AddAnswer, CheckAnswer, FilterAnswer, GuardAnswer

if TYPE_CHECKING:
    from typing_extensions import Unpack


class FilterCalls:
    """Every call of one filter; each may raise ProblemError and UnavailableError."""

    def __init__(self, send: Sender, name: str) -> None:
        self.name = name
        self._send = send
        self._base = f"/v1/filters/{segment(name)}"

    def put(self, *, capacity: int, error_rate: float, **options: Unpack[CallOptions]) -> FilterAnswer:
        """Makes the filter."""
        body = {"capacity": capacity, "error_rate": error_rate}
        return self._send(Call[FilterAnswer]("PUT", self._base, _is_filter, body), **options)

    def get(self, **options: Unpack[CallOptions]) -> FilterAnswer:
        """The filter's configuration."""
        return self._send(Call[FilterAnswer]("GET", self._base, _is_filter), **options)

    def delete(self, **options: Unpack[CallOptions]) -> dict[str, Any]:
        """Takes the filter away."""
        return self._send(Call[dict[str, Any]]("DELETE", self._base, holds(deleted=bool)), **options)

    def add(self, items: Sequence[str], **options: Unpack[CallOptions]) -> AddAnswer:
        """Adds up to 1,000 items."""
        return self._send(
            Call[AddAnswer]("POST", f"{self._base}/add", holds(added=float), {"items": list(items)}),
            **options,
        )

    def check(self, items: Sequence[str], **options: Unpack[CallOptions]) -> CheckAnswer:
        """Whether each item may have been added; a False is sure."""
        asked = list(items)

        def accepts(answer: dict[str, Any]) -> bool:
            return has(answer, present=list) and len(answer["present"]) == len(asked)

        call = Call[CheckAnswer]("POST", f"{self._base}/check", accepts, {"items": asked})
        return self._send(call, **options)

    def guard(
        self,
        item: str,
        *,
        limit: str,
        key: str | None = None,
        cost: float | None = None,
        **options: Unpack[CallOptions],
    ) -> GuardAnswer:
        """Lets an item pass if it is known and the limit allows it; not repeated once sent, since it spends."""
        body = given(item=item, limit=limit, key=key, cost=cost)
        call = Call[GuardAnswer]("POST", f"{self._base}/guard", _is_verdict, body, repeatable=False)
        return self._send(call, **options)

    def rotate(self, **options: Unpack[CallOptions]) -> dict[str, Any]:
        """Starts a new generation; not repeated once sent, since twice would forget everything."""
        accepts = holds(rotated=bool)
        call = Call[dict[str, Any]]("POST", f"{self._base}/rotate", accepts, {}, repeatable=False)
        return self._send(call, **options)


def _is_filter(answer: dict[str, Any]) -> bool:
    return has(answer, capacity=float, error_rate=float)


def _is_verdict(answer: dict[str, Any]) -> bool:
    return answer.get("verdict") in ("absent", "limited", "pass")
