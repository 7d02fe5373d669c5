"""Uses a fleet in one of a user's ways until a signal ends it: unlucky.py MODE FLEET POD [SCRIPT]."""

from __future__ import annotations

import asyncio
import signal
import sys
import time
from pathlib import Path

from joiner import slow_python
from lines import say

from fleetgate import AsyncClient, Client, PodClosedError


def slot(fleet: str) -> None:
    """Leaves when the process ends."""
    Client().fleet(fleet).slot(wait=10)
    say("held")
    time.sleep(60)


def handles(fleet: str) -> None:
    pod = Client().fleet(fleet).join(handle_signals=True, keeper="thread")
    try:
        pod.slot(wait=None)
    except PodClosedError:
        say("closed")


def works(fleet: str) -> None:
    say("drained", Client().queue(fleet.replace("f-", "q-")).work(print, fleet=fleet))


def coroutine(fleet: str) -> None:
    async def main() -> None:
        async with await AsyncClient().fleet(fleet).join():
            await asyncio.sleep(60)

    asyncio.run(main())


def hangs_up(fleet: str) -> None:
    """Goes on after a SIGHUP."""
    signal.signal(signal.SIGHUP, lambda *_: None)
    sys.executable = slow_python(Path(sys.argv[3]))
    with Client().fleet(fleet).join():
        say("joined")


def main() -> None:
    modes = [slot, handles, works, coroutine, hangs_up]
    try:
        next(mode for mode in modes if mode.__name__ == sys.argv[1])(sys.argv[2])
    except KeyboardInterrupt:
        sys.exit(130)


main()
