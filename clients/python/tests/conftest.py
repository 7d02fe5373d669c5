"""One real coordinator for all tests (and all of pytest's processes), and the tools to reach and disturb it."""

from __future__ import annotations

import os
import secrets
import signal
from collections.abc import Iterator
from typing import Callable

import pytest
from support.broker import Broker
from support.farm import Farm
from support.program import HERE, Program
from support.proxy import Proxy
from support.stack import Stack
from support.ttl import LONG, set_ttl

from fleetgate import Client, Fleet, Queue

_stack: Stack | None = None


def pytest_configure(config: pytest.Config) -> None:
    """Starts it before pytest's own processes, which find it in their environment."""
    global _stack
    # Programs inherit what is ignored here, as under nohup or behind a shell's &.
    for number, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, usual)
    for name in ("FLEETGATE_CLUSTER", "POD_NAME"):
        os.environ.pop(name, None)
    if not hasattr(config, "workerinput") and not config.option.collectonly:
        _stack = Stack()
        os.environ.update(FLEETGATE_URL=_stack.url, FLEETGATE_KEY=_stack.key)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Each of pytest's processes begins with some of the long ones: nobody waits in the end for one that began last."""
    processes = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    items.sort(key=lambda item: item.get_closest_marker("long") is None)
    # They are given one part of the list each.
    items[:] = [item for first in range(processes) for item in items[first::processes]]


def pytest_unconfigure() -> None:
    """Stops it."""
    if _stack is not None:
        _stack.stop()


@pytest.fixture
def client() -> Client:
    return Client()


@pytest.fixture
def ttl(request: pytest.FixtureRequest) -> float:
    """How long pods and leases live, in seconds: the module's TTL, if it has one."""
    return float(getattr(request.module, "TTL", LONG))


@pytest.fixture
def fleet(client: Client, ttl: float) -> Fleet:
    """A fleet of its own."""
    made = client.fleet(f"f-{secrets.token_hex(6)}")
    set_ttl(made, ttl)
    return made


@pytest.fixture
def queue(client: Client, fleet: Fleet, ttl: float) -> Queue:
    """A queue of its own on that fleet."""
    made = client.queue(fleet.name.replace("f-", "q-"))
    made.put(fleet=fleet.name, lease_ttl_ms=round(ttl * 1_000))
    return made


@pytest.fixture
def proxy() -> Iterator[Proxy]:
    made = Proxy(os.environ["FLEETGATE_URL"])
    yield made
    made.close()


@pytest.fixture
def broker() -> Iterator[Broker]:
    """A Redis for the messages of Celery, Dramatiq or RQ."""
    made = Broker()
    yield made
    made.stop()


@pytest.fixture
def program() -> Iterator[Callable[..., Program]]:
    """Starts tests/programs/<name>.py, or the command line: program("-m", "fleetgate", …)."""
    started: list[Program] = []

    def start(*arguments: str, **environment: str) -> Program:
        line = [str(HERE / "programs" / f"{arguments[0]}.py"), *arguments[1:]]
        one = Program(list(arguments) if arguments[0] == "-m" else line, environment)
        started.append(one)
        return one

    yield start
    for one in started:
        one.close()


@pytest.fixture
def farm(fleet: Fleet, broker: Broker, program: Callable[..., Program]) -> Iterator[Farm]:
    """Celery workers, to be started."""
    made = Farm(fleet, broker, program)
    yield made
    made.close()
