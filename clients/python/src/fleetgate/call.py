"""One call of the wire, ready to be sent any number of times, and the tools to make one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Generic, TypedDict, TypeVar
from urllib.parse import quote, urlencode

from .jsontext import Exact

if TYPE_CHECKING:
    from .transport import Cut


Answer = TypeVar("Answer")


class CallOptions(TypedDict, total=False):
    """What every call takes: its bounds in seconds, whether it may be tried again, and a way to end it early."""

    deadline: float | None
    timeout: float | None
    repeat: bool
    cut: Cut | None


@dataclass(frozen=True)
class Call(Generic[Answer]):
    """A request in the wire's own words, and the type of its answer; `accepts` tells whether one has what is needed."""

    method: str
    path: str
    accepts: Callable[[dict[str, Any]], bool]
    body: Any = None
    # How long the server may hold the call before it answers.
    wait_ms: int = 0
    # False: another try could do it twice, so only one that was surely never sent is repeated.
    repeatable: bool = True
    exact: Exact | None = None


class Unset:
    """The type of `UNSET`, which stands for a member that is left out where None means null."""

    def __repr__(self) -> str:
        return "UNSET"


UNSET = Unset()


def given(**members: Any) -> dict[str, Any]:
    """The members that were given, under their names on the wire (`cls` is `class` there)."""
    return {
        "class" if name == "cls" else name: value
        for name, value in members.items()
        if value is not None and value is not UNSET
    }


def has(value: Any, **fields: type) -> bool:
    """Whether a value is an object whose named fields are of the given types; `float` means any number."""
    return isinstance(value, dict) and all(
        _is(value.get(name), kind) if name in value else False for name, kind in fields.items()
    )


def _is(value: Any, kind: type) -> bool:
    if kind is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, kind)


def holds(**fields: type) -> Callable[[dict[str, Any]], bool]:
    """A test whether an answer has these fields of these types."""
    return lambda answer: has(answer, **fields)


def segment(name: str) -> str:
    """A name as one path segment; raises ValueError for one that would change the path."""
    if not isinstance(name, str) or re.fullmatch(r"\.{0,2}", name):
        raise ValueError(f'not a name: "{name}"')
    return quote(name, safe="")


def query(**pairs: Any) -> str:
    """Pairs as a query string with its question mark; None is left out."""
    chosen = {name: value for name, value in pairs.items() if value is not None}
    return f"?{urlencode(chosen)}" if chosen else ""
