"""Answers of section Filters of the wire contract."""

from __future__ import annotations

from typing import Literal, TypedDict


class FilterAnswer(TypedDict):
    capacity: int
    error_rate: float


class AddAnswer(TypedDict):
    added: int


class CheckAnswer(TypedDict):
    present: list[bool]


class _Guard(TypedDict):
    verdict: Literal["absent", "limited", "pass"]


class GuardAnswer(_Guard, total=False):
    retry_after_ms: int
