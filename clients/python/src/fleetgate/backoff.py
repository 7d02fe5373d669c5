"""How long to wait before another try, in seconds; the same rules as in every client."""

from __future__ import annotations

import random

_FIRST_S = 0.2
_LONGEST_S = 10.0
_LEAST_LEFT_S = 0.05

# Its own generator, seeded by the system: a program that seeds the global one must not make its pods move in step.
_random = random.SystemRandom()


def _doubled(failures: int) -> float:
    return min(_LONGEST_S, float(_FIRST_S * 2 ** min(failures - 1, 16)))


def lengthen(hint: float) -> float:
    """A hint of the server, made longer by up to a half so that those refused together part."""
    return hint * (1 + _random.random() * 0.5)


def shorten(pace: float) -> float:
    """A pace or a wait, made shorter by up to a fifth so that those who began together part."""
    return pace * (1 - _random.random() * 0.2)


def _jittered(backoff: float) -> float:
    """Half of it is left to chance: so nobody, however lucky, asks many times in a second."""
    return backoff * (0.5 + _random.random() * 0.5)


def retry_delay(failures: int, hint: float | None, left: float) -> float | None:
    """Seconds to wait after the n-th failure in a row, never under the hint; None when `left` is too short for it."""
    backoff = _jittered(min(_doubled(failures), max(0.0, left)))
    delay = backoff if hint is None else max(backoff, lengthen(hint))
    return None if left < _LEAST_LEFT_S or delay >= left else delay


def beat_delay(failures: int, hint: float | None, pace: float) -> float:
    """Seconds to the next beat after the n-th failure in a row, at most `pace`: a hint may not cost a lease."""
    # A dead coordinator hears no more than two beats a pace.
    backoff = _jittered(min(_doubled(failures), pace))
    return backoff if hint is None else min(pace, max(backoff, lengthen(hint)))
