"""What a list tells of records that cannot be read."""

from __future__ import annotations

from typing import TypedDict


class Broken(TypedDict):
    """A name whose records cannot be read, and what to do about it."""

    name: str
    detail: str
