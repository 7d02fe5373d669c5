"""How to reach a coordinator, checked once."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from urllib.parse import urlsplit

ON_UNAVAILABLE = ("open", "closed")


@dataclass(frozen=True)
class Settings:
    """A client's options, checked. `timeout` bounds one try, `deadline` a call with its retries, in seconds."""

    url: str
    key: str = field(repr=False)
    timeout: float
    deadline: float
    on_unavailable: str


def make_settings(
    url: str | None, key: str | None, timeout: float, deadline: float, on_unavailable: str
) -> Settings:
    """Checks a client's options; raises a ValueError that never repeats the key."""
    if not url:
        raise ValueError("no address: give url or set FLEETGATE_URL")
    if not key:
        raise ValueError("no key: give key or set FLEETGATE_KEY")
    # http.client repeats a header it cannot send in its error, so such a key must not get that far.
    if not re.fullmatch(r"[\x21-\x7e]+", key):
        raise ValueError("key must be visible ASCII without spaces")
    if on_unavailable not in ON_UNAVAILABLE:
        raise ValueError('on_unavailable must be "open" or "closed"')
    return Settings(
        checked_url(url),
        key,
        seconds("timeout", timeout),
        seconds("deadline", deadline),
        on_unavailable,
    )


def checked_url(url: str) -> str:
    """The coordinator's address without a slash at its end; raises ValueError for one that cannot be used."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("url must be http or https, such as https://fleetgate.example.com")
    if parts.username is not None or parts.password is not None:
        raise ValueError("url must not hold a user or password")
    if parts.query or parts.fragment or not url.isascii() or re.search(r"[\x00-\x20]", url):
        raise ValueError("url must be a plain address, with no query, fragment or spaces")
    _ = parts.port  # raises ValueError when it is no port
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"


def seconds(name: str, value: float) -> float:
    """Gives back a duration in seconds that is finite and ≥ 0; otherwise raises a ValueError naming it."""
    if not isinstance(value, (int, float)) or not math.isfinite(value) or value < 0:
        raise ValueError(f"{name} must be seconds, 0 or more")
    return float(value)
