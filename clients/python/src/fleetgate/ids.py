"""Ids made here: of this run of the process, and of one logical request."""

from __future__ import annotations

import secrets
import time

from .forks import call_after_fork

_instance: str | None = None


def process_instance() -> str:
    """The id of this run of the process: hex that sorts by start time, bytewise; a forked child has its own."""
    global _instance
    if _instance is None:
        _instance = new_instance()
    return _instance


def new_instance() -> str:
    """An instance newer than every one made before."""
    return f"{time.time_ns() // 1_000_000:012x}{secrets.token_hex(10)}"


def new_request_id() -> str:
    """A new id for one logical request."""
    return secrets.token_hex(16)


def _forget() -> None:
    global _instance
    _instance = None


call_after_fork(_forget)
