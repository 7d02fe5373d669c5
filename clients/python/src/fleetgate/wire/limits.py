"""Answers of section Limits of the wire contract."""

from __future__ import annotations

from typing import TypedDict

from .broken import Broken


class Adapt(TypedDict):
    queue: str
    target_wait_ms: int
    min_per_s: float
    max_per_s: float


class _Limit(TypedDict):
    algorithm: str
    capacity: float


class LimitAnswer(_Limit, total=False):
    refill_per_s: float
    leak_per_s: float
    adapt: Adapt
    on_error: str
    shadow: bool


class _Take(TypedDict):
    allowed: bool
    remaining: float
    delay_ms: int
    rate_per_s: float


class TakeAnswer(_Take, total=False):
    retry_after_ms: int
    estimated_wait_ms: int
    shadowed: bool
    degraded: bool


class LimitLevel(TakeAnswer):
    """What a take of one from the key `default` would hear, and the limit's rules."""

    limit: str
    config: LimitAnswer


class _Limits(TypedDict):
    limits: list[LimitLevel]


class LimitsAnswer(_Limits, total=False):
    broken: list[Broken]


class _Wanted(TypedDict):
    limit: str


class Take(_Wanted, total=False):
    """One of several takes: `cost` of `key` of `limit`."""

    key: str
    cost: float


class Taken(TypedDict):
    limit: str
    remaining: float
    delay_ms: int


class _Takes(TypedDict):
    allowed: bool
    takes: list[Taken]


class TakesAnswer(_Takes, total=False):
    refused_by: str
    retry_after_ms: int
    degraded: bool


class SettleAnswer(TypedDict):
    settled: bool
    remaining: float
