"""Judges a whole HTTP answer: only 503, what gateways say (502, 504, 520…) and broken answers may be tried again."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from .call import Call, has
from .errors import ProblemError
from .jsontext import decode
from .transport import Response


@dataclass(frozen=True)
class Failed:
    """Nothing usable came. `retry_after_ms` in ms; `sent` is False when the coordinator surely saw nothing."""

    detail: str
    trace_id: str | None = None
    retry_after_ms: int | None = None
    sent: bool = True


@dataclass(frozen=True)
class Answered:
    """The body of a good answer."""

    body: Any


def judge(call: Call[Any], response: Response) -> Answered | Failed:
    """An answer or a failed try; raises ProblemError for a refusal."""
    trace_id = response.headers.get("x-request-id")
    retry_after_ms = _retry_after(response.headers.get("retry-after"))
    good = 200 <= response.status < 300
    body = _parse(response.body, call if good else None)
    if good:
        if isinstance(body, dict) and call.accepts(body):
            return Answered(body)
        return Failed("the answer was cut or is not ours", trace_id)
    problem = body if has(body, code=str, detail=str, status=int) else None
    if response.status > 501:
        detail = problem["detail"] if problem else f"HTTP {response.status}"
        return Failed(detail, trace_id, retry_after_ms)
    if problem is None:
        detail = f"HTTP {response.status} from something that is not the coordinator"
        raise ProblemError("unrecognised", response.status, detail, [], trace_id, retry_after_ms)
    errors = problem.get("errors")
    raise ProblemError(
        problem["code"],
        response.status,
        problem["detail"],
        [error for error in errors if isinstance(error, dict)] if isinstance(errors, list) else [],
        problem.get("trace_id", trace_id),
        retry_after_ms,
    )


def _parse(body: bytes, call: Call[Any] | None) -> Any:
    try:
        return decode(body.decode(), call.exact if call else None)
    except (ValueError, RecursionError):
        return None


def _retry_after(text: str | None) -> int | None:
    """The seconds of Retry-After in ms. A date is ignored: it would need two clocks to agree."""
    return int(text) * 1_000 if text is not None and re.fullmatch(r"[0-9]{1,9}", text) else None
