"""`fleetgate`: parses the line, runs a command, and turns errors into one line that says what to do."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Sequence
from typing import Callable, NoReturn

from ..client import Client
from ..errors import (
    FleetgateError,
    NotGrantedError,
    PodClosedError,
    ProblemError,
    UnavailableError,
)
from . import run, status, top, work
from .exits import NO_SLOT, UNAVAILABLE, USAGE

_DESCRIPTION = """Workers count themselves, take turns and keep a reserve free.

  fleetgate run --fleet render -- python train.py     one command, once it has a slot
  fleetgate work --queue infer -- python infer.py     a command for each task of a queue
  fleetgate status                                    what the fleets do now
  fleetgate top                                       the same, live
"""
_EPILOG = """environment:
  FLEETGATE_URL      the coordinator's address, as --url
  FLEETGATE_KEY      the key, as --key (rather here than there: arguments can be read by others)
  FLEETGATE_CLUSTER  this cluster's name, as --cluster (default: default)
  POD_NAME           this pod's name, as --pod (default: the host's name)

exit codes:
  the command's own; 128 + n when signal n ended it; 126 and 127 when it could not be started
  2   wrong arguments, or refused by the coordinator
  69  the coordinator is out of reach
  75  no slot in time, or the lease was lost: try again
"""
_DO = {
    "unauthorized": "check FLEETGATE_KEY",
    "wrong-scope": "use a key with the scope that this needs",
    "not-yours": "use a key that lists this fleet or queue",
    "not-found": "check the name, that the queue was made, and that FLEETGATE_URL has no path",
    "unknown-class": "use a class of the fleet's policy",
    "stale-instance": "a newer process has this pod's name: give each its own with --pod",
    "unrecognised": "check FLEETGATE_URL: that is not a coordinator",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command line; gives its exit code."""
    line = list(sys.argv[1:] if arguments is None else arguments)
    line, command = _split(line)
    options, unknown = _parser().parse_known_args(line)
    if unknown:
        hint = "" if command else ", or the command after `--` if it is part of one"
        return _say(f"unknown argument {unknown[0]}: see fleetgate --help{hint}", USAGE)
    options.command = command
    logging.basicConfig(format="fleetgate: %(message)s", level=logging.WARNING, stream=sys.stderr)
    try:
        return _run(options)
    except KeyboardInterrupt:
        return 130


def _run(options: argparse.Namespace) -> int:
    try:
        client = Client(options.url, options.key, on_unavailable=getattr(options, "on_unavailable", "open"))
        code: int = options.run(client, options)
        return code
    except NotGrantedError as error:
        return _say(f"{error}: wait longer with --wait", NO_SLOT)
    except PodClosedError as error:
        return _say(f"{error}: {_DO['stale-instance']}", NO_SLOT)
    except UnavailableError as error:
        return _say(f"{error}; is FLEETGATE_URL right, and does it answer?", UNAVAILABLE)
    except ProblemError as error:
        what = _DO.get(error.code)
        return _say(f"{error}" + (f"; {what}" if what else ""), USAGE)
    except (FleetgateError, ValueError) as error:
        return _say(str(error), USAGE)


def _say(words: str, code: int) -> int:
    print(f"fleetgate: {words}", file=sys.stderr)
    return code


def _split(line: list[str]) -> tuple[list[str], list[str]]:
    """What stands before `--`, and the command after it."""
    if "--" not in line:
        return line, []
    at = line.index("--")
    return line[:at], line[at + 1 :]


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(_say(f"{message}: see {self.prog} --help", USAGE))


def _parser() -> argparse.ArgumentParser:
    where = _Parser(add_help=False)
    reach = where.add_argument_group("where and who")
    reach.add_argument("--url", help="the coordinator's address (FLEETGATE_URL)")
    reach.add_argument("--key", help="the key (FLEETGATE_KEY)")
    who = _Parser(add_help=False)
    group = who.add_argument_group("this pod")
    group.add_argument("--cluster", help="this cluster's name (FLEETGATE_CLUSTER)")
    group.add_argument("--pod", help="this pod's name (POD_NAME, else the host's name)")
    group.add_argument(
        "--on-unavailable",
        choices=("open", "closed"),
        default="open",
        help="when the coordinator is out of reach: go on without it, or not (default: open)",
    )
    parser = _Parser(
        "fleetgate",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    adds: list[tuple[str, str, Callable[[argparse.ArgumentParser], None], list[_Parser]]] = [
        ("run", "run a command once it has a slot", run.add, [where, who]),
        ("work", "run a command for each task of a queue", work.add, [where, who]),
        ("status", "what the fleets do now", status.add, [where]),
        ("top", "a live table of the fleets", top.add, [where]),
    ]
    for name, words, add, parents in adds:
        add(commands.add_parser(name, help=words, description=words, parents=parents))
    return parser
