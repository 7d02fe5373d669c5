"""`fleetgate top`: a live table."""

from __future__ import annotations

import argparse
import sys
import time

from ..client import Client
from ..errors import UnavailableError
from .exits import UNAVAILABLE
from .table import read, render

_LEAST_S = 0.2
# How long a look may take before the table says that the coordinator is away.
_PATIENCE_S = 3.0
_HOME_AND_CLEAR = "\x1b[H\x1b[2J"


def add(parser: argparse.ArgumentParser) -> None:
    """The arguments of `top`."""
    parser.description = (
        "A live table of the named fleets, or of every fleet the key may see. Ctrl-C ends it."
    )
    parser.add_argument("fleet", nargs="*", help="names of fleets")
    parser.add_argument(
        "--every", type=float, default=2.0, help="seconds between two looks, 0.2 or more (default: 2)"
    )
    parser.add_argument("--times", type=int, help="look so often, then end (default: without end)")
    parser.set_defaults(run=run)


def run(client: Client, options: argparse.Namespace) -> int:
    """Prints it again and again."""
    if not options.every >= _LEAST_S:
        raise ValueError(f"--every must be {_LEAST_S} or more seconds")
    looks = 0
    while True:
        code = 0
        try:
            text = render(read(client, options.fleet, _PATIENCE_S))
        except UnavailableError as error:
            text = f"fleetgate: {error}; looking again"
            code = UNAVAILABLE
        clear = _HOME_AND_CLEAR if sys.stdout.isatty() else ""
        print(f"{clear}{time.strftime('%H:%M:%S')}  {client.url}\n{text}", flush=True)
        looks += 1
        if looks == options.times:
            return code
        time.sleep(options.every)
