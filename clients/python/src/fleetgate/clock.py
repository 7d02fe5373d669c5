"""One clock for every duration in this package."""

from __future__ import annotations

import sys
import time

if sys.platform == "linux":

    def now() -> float:
        """Seconds on a clock that never steps and goes on while the machine sleeps; the same in every process."""
        # Not time.monotonic(): that one stands still in a suspended machine, while leases lapse.
        return time.clock_gettime(time.CLOCK_BOOTTIME)

else:

    def now() -> float:
        """Seconds on a clock that never steps; the same in every process."""
        return time.monotonic()
