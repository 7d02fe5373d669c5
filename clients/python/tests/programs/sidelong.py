"""Works on an empty queue while SIGTERM reaches another thread than the main one: sidelong.py QUEUE."""

from __future__ import annotations

import signal
import sys
import threading

from lines import say

from fleetgate import Client


def hear() -> None:
    signal.pthread_kill(threading.get_ident(), signal.SIGTERM)


def main() -> None:
    queue = Client().queue(sys.argv[1])
    threading.Timer(1.0, hear).start()
    say("drained", queue.work(print, wait=25))


main()
