"""The numbers that docs/shutdown.md gives are those of the coordinator, the command line and the manifests."""

from __future__ import annotations

import re
from typing import Callable

import pytest
from support.manifests import from_files
from support.program import Program
from support.stack import ROOT
from support.workers import Worker

from fleetgate import Client

PAGE = (ROOT / "docs" / "shutdown.md").read_text()


def default(name: str) -> str:
    """What the table of numbers says that a number is by default."""
    row = next(line for line in PAGE.splitlines() if line.startswith(f"| `{name}`"))
    return row.split("|")[3].strip()


@pytest.mark.parametrize("name", ["ttl_ms", "heartbeat_ms", "lease_ttl_ms"])
def test_the_policys_defaults(client: Client, name: str) -> None:
    seconds = client.fleet("nobody-ever").get_policy()[name] // 1_000  # type: ignore[literal-required]
    assert default(name) == f"{seconds} s"


def test_the_queues_defaults(client: Client) -> None:
    config = client.queue("page-of-shutdown").put(fleet="page-of-shutdown")
    assert default("lease_ttl_ms") == f"{config['lease_ttl_ms'] // 1_000} s"
    assert default("time_limit_ms") == f"{config['time_limit_ms'] // 3_600_000} h"
    assert default("max_deliveries") == f"{config['max_deliveries']}"


def test_the_command_lines_defaults(program: Callable[..., Program]) -> None:
    ran = program("-m", "fleetgate", "work", "--help")
    assert ran.ends() == 0
    words = " ".join(" ".join(ran.lines).split())
    for name in ("--grace", "--kill-after"):
        found = re.search(rf"{name} \S+ [^(]*\(default: (\d+)\)", words)
        assert found
        assert default(name).split(";")[0] == f"{found.group(1)} s"


def test_the_manifests_numbers() -> None:
    worker = next(
        Worker(one) for one in from_files() if "fleetgate work" in str(one.body).replace("', '", " ")
    )
    period = worker.pod["terminationGracePeriodSeconds"]
    assert default("terminationGracePeriodSeconds") == f"30 s; {period:,} s in ours"
    assert default("preStop") == f"none; {worker.pause:.0f} s in our manifests"
    assert f"\n| {worker.pause + worker.longest:,.0f}, the grace over |" in PAGE
    assert f"\n| {period:,} | SIGKILL" in PAGE
