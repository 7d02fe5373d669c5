"""JSON that keeps what Python would change: payloads and results stay the text that was sent."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},:]')
_BLANK = " \t\r\n"


@dataclass(frozen=True)
class RawJson:
    """A JSON text to be sent as it is, where a value made by `json.loads` would not come out the same."""

    text: str

    def __post_init__(self) -> None:
        # parse_int: a number of any length is fine, since nobody here computes with it.
        try:
            json.loads(self.text, parse_int=str, parse_float=str, parse_constant=_refuse)
        except RecursionError:
            raise ValueError("RawJson is nested too deep to be checked") from None


@dataclass(frozen=True)
class Exact:
    """Where an answer holds text to keep: members called `name` of objects `depth` brackets deep."""

    name: str
    depth: int


def encode(body: Any) -> bytes:
    """Compact JSON; raises ValueError for NaN and infinities, TypeError for what JSON has no word for."""
    text = _encode(body, 3)
    try:
        return text.encode()
    except UnicodeEncodeError:
        # A lone surrogate has no UTF-8, but it has an escape.
        return re.sub(r"[\ud800-\udfff]", lambda found: f"\\u{ord(found[0]):04x}", text).encode()


def _encode(value: Any, levels: int) -> str:
    if isinstance(value, RawJson):
        return value.text
    if levels > 0 and isinstance(value, dict) and all(isinstance(name, str) for name in value):
        pairs = (f"{_dump(name)}:{_encode(member, levels - 1)}" for name, member in value.items())
        return "{" + ",".join(pairs) + "}"
    if levels > 0 and isinstance(value, (list, tuple)):
        return "[" + ",".join(_encode(item, levels - 1) for item in value) + "]"
    return _dump(value)


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _refuse(word: str) -> Any:
    raise ValueError(f"{word} is not JSON")


def decode(text: str, exact: Exact | None = None) -> Any:
    """The value of a JSON text; a member to keep stands in `<name>_text`, and decoded in `<name>` where Python can."""
    if exact is None:
        return json.loads(text, parse_constant=_refuse)
    reduced, kept = _take_out(text, exact)
    value = json.loads(reduced, parse_constant=_refuse)
    for holder, text_kept in zip(_holders(value, exact), kept):
        holder[f"{exact.name}_text"] = text_kept
        try:
            holder[exact.name] = json.loads(text_kept, parse_constant=_refuse)
        except (ValueError, RecursionError):
            # Too many digits or too deep for Python: the text is all there is, and the answer stays usable.
            del holder[exact.name]
    return value


def _take_out(text: str, exact: Exact) -> tuple[str, list[str]]:
    """The text with `null` in the place of each member to keep, and what stood there; never recursive."""
    wanted = _dump(exact.name)
    parts: list[str] = []
    kept: list[str] = []
    depth, done, start, key = 0, 0, -1, ""
    for found in _TOKEN.finditer(text):
        token = found[0]
        if token in "]}":
            depth -= 1
        ends = (token == "," and depth == exact.depth) or (token == "}" and depth == exact.depth - 1)
        if start >= 0 and ends:
            kept.append(text[start : found.start()].strip(_BLANK))
            parts += [text[done:start], "null"]
            done, start = found.start(), -1
        elif start < 0 and token == ":" and depth == exact.depth and key == wanted:
            start = found.end()
        if token in "[{":
            depth += 1
        key = token
    return "".join([*parts, text[done:]]), kept


def _holders(value: Any, exact: Exact) -> list[dict[str, Any]]:
    """The objects that hold a kept member, in the order of the text."""
    if isinstance(value, dict):
        if exact.depth == 1:
            return [value] if exact.name in value else []
        inner = list(value.values())
    else:
        inner = value if isinstance(value, list) else []
    deeper = Exact(exact.name, exact.depth - 1)
    return [holder for item in inner for holder in _holders(item, deeper)] if exact.depth > 1 else []
