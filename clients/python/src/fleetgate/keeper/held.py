"""The leases of one pod and their deadlines; knows no time and sends nothing."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class HeldLease:
    """A lease to be renewed. `ttl` in seconds; `deadline`, and `until` where it ends for good, by `clock.now()`."""

    id: str
    ttl: float
    deadline: float
    until: float = math.inf

    def renewed(self, sent_at: float) -> HeldLease:
        """The same, its ttl counted from the moment a renewal was sent."""
        return replace(self, deadline=min(max(self.deadline, sent_at + self.ttl), self.until))


class HeldLeases:
    """A book of leases; its user locks."""

    def __init__(self) -> None:
        self._held: dict[str, HeldLease] = {}

    def add(self, lease: HeldLease) -> None:
        """Takes a lease in."""
        self._held[lease.id] = replace(lease, deadline=min(lease.deadline, lease.until))

    def drop(self, lease_id: str) -> bool:
        """Forgets a lease; False if it was not held."""
        return self._held.pop(lease_id, None) is not None

    def renewed(self, ids: Iterable[str], sent_at: float) -> None:
        """Counts the ttl of those still held from the moment the renewal was sent."""
        for lease_id in ids:
            lease = self._held.get(lease_id)
            if lease is not None:
                self._held[lease_id] = lease.renewed(sent_at)

    def take_lapsed(self, now: float) -> list[tuple[str, str]]:
        """Forgets the leases whose deadline has passed, and gives each id with the reason of its loss."""
        lapsed = [lease for lease in self._held.values() if lease.deadline <= now]
        for lease in lapsed:
            del self._held[lease.id]
        return [(lease.id, "time_limit" if lease.until <= now else "silence") for lease in lapsed]

    def groups(self, size: int) -> list[list[str]]:
        """Ids in groups of at most `size`, the most urgent first; one empty group when there are none."""
        ids = [lease.id for lease in sorted(self._held.values(), key=lambda lease: lease.deadline)]
        return [ids[at : at + size] for at in range(0, len(ids), size)] or [[]]

    def all(self) -> list[HeldLease]:
        """Every lease held."""
        return list(self._held.values())

    def clear(self) -> None:
        """Forgets every lease."""
        self._held.clear()

    def next_deadline(self) -> float:
        """The earliest deadline, infinity when there is none."""
        return min((lease.deadline for lease in self._held.values()), default=math.inf)

    def shortest_ttl(self) -> float:
        """The shortest ttl in seconds, infinity when there is none."""
        return min((lease.ttl for lease in self._held.values()), default=math.inf)
