"""Children of `multiprocessing` that hold a slot when they end: mpchild.py FLEET METHOD."""

from __future__ import annotations

import multiprocessing
import sys
import warnings

from lines import say


def child(fleet: str, asked: str) -> None:
    from fleetgate import Client

    pod = Client().fleet(fleet).join("eu", asked)
    say("held", pod.slot(cls="high", wait=30).cls)


def takes(fleet: str) -> None:
    """As the pod that a process has without joining."""
    from fleetgate import Client

    say("held", Client().fleet(fleet).slot(cls="high", wait=30).cls)


def inherits(pod: object) -> None:
    from fleetgate import Pod

    assert isinstance(pod, Pod)
    say("held", pod.slot(cls="high", wait=30).cls)


def main() -> None:
    fleet, method = sys.argv[1:3]
    warnings.simplefilter(
        "ignore", DeprecationWarning
    )  # forking a process that has threads: that is the point
    context = multiprocessing.get_context(method)
    ways = [(child, fleet, "a"), (takes, fleet)]
    children = [context.Process(target=way, args=given) for way, *given in ways]
    if method == "fork":
        from fleetgate import Client

        parent = Client().fleet(fleet).join("eu", "parent", state="draining")
        children.append(context.Process(target=inherits, args=(parent,)))
    for one in children:
        one.start()
    for one in children:
        one.join()
    say("codes", [one.exitcode for one in children])
    sys.stdin.read()


if __name__ == "__main__":
    main()
