"""Works on an empty queue while SIGTERM reaches another thread than the main one: sidelong.py QUEUE."""

from __future__ import annotations

import signal
import sys
import threading
import time

from lines import say

from fleetgate import Client


def hear() -> None:
    while signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        time.sleep(0.1)
    time.sleep(1)
    signal.pthread_kill(threading.get_ident(), signal.SIGTERM)


def main() -> None:
    queue = Client().queue(sys.argv[1])
    threading.Thread(target=hear).start()
    say("drained", queue.work(print, wait=25))


main()
