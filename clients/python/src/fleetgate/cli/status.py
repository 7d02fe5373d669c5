"""`fleetgate status`: what the fleets do now."""

from __future__ import annotations

import argparse
import json
import sys

from ..client import Client
from .table import read, render


def add(parser: argparse.ArgumentParser) -> None:
    """The arguments of `status`."""
    parser.description = "Counts of the named fleets, or of every fleet the key may see."
    parser.add_argument("fleet", nargs="*", help="names of fleets")
    parser.add_argument("--json", action="store_true", help="print the coordinator's answers")
    parser.set_defaults(run=run)


def run(client: Client, options: argparse.Namespace) -> int:
    """Prints it once."""
    fleets = read(client, options.fleet)
    print(json.dumps(fleets, ensure_ascii=False, indent=2) if options.json else render(fleets))
    for fleet in fleets:
        if not fleet["live"] + fleet["starting"] + fleet["draining"]:
            print(f"fleetgate: no pod has joined {fleet['fleet']}; is that its name?", file=sys.stderr)
    if not fleets:
        print("fleetgate: this key sees no fleet yet: one is there once a pod has joined", file=sys.stderr)
    return 0
