"""What forked children see of the leases their parent holds: memory that both share."""

from __future__ import annotations

import math
import mmap
import os
import threading
from collections import deque

# Leases beyond so many are not followed by children: these go by the deadline they saw when they were forked.
_CELLS = 1_024
# Doubles of a cell, each written in one piece: whose it is (0: nobody's), the deadline, and why it was lost.
_SERIAL, _DEADLINE, _REASON, _WIDTH = 0, 1, 2, 3
_REASONS = ("", "told", "silence", "replaced", "left", "time_limit")


class Cell:
    """One lease on a board. Written by the process that holds the lease, read by all."""

    def __init__(self, values: memoryview[float], number: int, serial: int) -> None:
        self._values = values
        self.number = number
        self.serial = serial

    def begin(self, deadline: float) -> None:
        """The lease is held until `deadline` (by `clock.now()`, seconds)."""
        self._values[_SERIAL] = 0  # no reader takes what follows for the lease that was here before
        self._values[_DEADLINE] = deadline
        self._values[_REASON] = 0
        self._values[_SERIAL] = self.serial

    def renew(self, deadline: float) -> None:
        """It is held longer."""
        self._values[_DEADLINE] = deadline

    def lose(self, reason: str) -> None:
        """It is lost."""
        self._values[_REASON] = _REASONS.index(reason)

    def end(self) -> None:
        """It is no longer held."""
        self._values[_SERIAL] = 0

    def reason(self, now: float) -> str | None:
        """Why the lease is not held any more, None while it is."""
        deadline, reason = self._values[_DEADLINE], _REASONS[int(self._values[_REASON])]
        if self._values[_SERIAL] != self.serial:
            return "left"  # read last: the two before may be another lease's
        return reason or ("silence" if deadline <= now else None)


def loose_cell(serial: int) -> Cell:
    """A cell on no board: no other process sees it change. Held without end until it is begun anew."""
    cell = Cell(memoryview(bytearray(_WIDTH * 8)).cast("d"), -1, serial)
    cell.begin(math.inf)
    return cell


class Board:
    """The cells of one process. `pid` says whose."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self._lock = threading.Lock()
        self._serial = 0
        self._free = deque(range(_CELLS))
        # Anonymous memory that a fork shares rather than copies.
        self._values = memoryview(mmap.mmap(-1, _CELLS * _WIDTH * 8)).cast("d")

    def take(self) -> Cell:
        """A cell for one more lease."""
        with self._lock:
            self._serial += 1
            if not self._free:
                return loose_cell(self._serial)
            return self.cell(self._free.popleft(), self._serial)

    def give_back(self, cell: Cell) -> None:
        """Frees a cell; the one freed longest ago is taken next, so that a loss can be read for long."""
        with self._lock:
            if cell.number >= 0:
                self._free.append(cell.number)

    def cell(self, number: int, serial: int) -> Cell:
        """The cell of that number, for the lease of that serial."""
        return Cell(self._values[number * _WIDTH : (number + 1) * _WIDTH], number, serial)
