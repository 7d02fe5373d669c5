"""The fleets as a table."""

from __future__ import annotations

from collections.abc import Sequence

from ..client import Client
from ..wire.fleets import StatusAnswer

_HEAD = ("FLEET", "LIVE", "BUSY", "CAPACITY", "FREE", "RESERVE", "STARTING", "DRAINING", "CLUSTERS")


def read(client: Client, names: Sequence[str], deadline: float | None = None) -> list[StatusAnswer]:
    """The fleets of these names, or every fleet the key may see; each call within `deadline` seconds."""
    wanted = list(names) or sorted(fleet["fleet"] for fleet in client.fleets(deadline=deadline)["fleets"])
    return [client.fleet(name).status(deadline=deadline) for name in wanted]


def render(fleets: Sequence[StatusAnswer]) -> str:
    """One line a fleet; clusters as `name busy/live`."""
    rows = [_HEAD, *(_row(fleet) for fleet in fleets)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD))]
    lines = [
        "  ".join(_cell(text, width, n) for n, (text, width) in enumerate(zip(row, widths))) for row in rows
    ]
    return "\n".join(line.rstrip() for line in lines)


def _row(fleet: StatusAnswer) -> tuple[str, ...]:
    clusters = ", ".join(
        f"{name} {counts['busy']}/{counts['live']}" for name, counts in sorted(fleet["clusters"].items())
    )
    over = f" (+{fleet['over_by']} over)" if fleet["over_by"] else ""
    paused = " paused" if fleet["policy"].get("paused") else ""
    numbers = ("live", "busy", "capacity", "available", "headroom", "starting", "draining")
    texts = [str(fleet[name]) for name in numbers]  # type: ignore[literal-required]
    texts[1] += over
    return (fleet["fleet"] + paused, *texts, clusters)


def _cell(text: str, width: int, column: int) -> str:
    return text.ljust(width) if column in (0, len(_HEAD) - 1) else text.rjust(width)
