"""Works on a queue: worker.py QUEUE POD GRACE SECONDS. Each task takes so many seconds unless it is lost."""

from __future__ import annotations

import logging
import sys
import time

from lines import say

from fleetgate import Client, Task


def main() -> None:
    name, pod_name, grace, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3]), float(sys.argv[4])
    logging.basicConfig()
    client = Client()
    queue = client.queue(name)
    pod = client.fleet(queue.get()["config"]["fleet"]).join("eu", pod_name)

    def handle(task: Task) -> dict[str, str]:
        say("start", task.id, task.delivery)
        ends = time.monotonic() + seconds
        while time.monotonic() < ends and not task.lost.is_set():
            time.sleep(0.02)
        say("done" if not task.lost.is_set() else "lost", task.id, task.lease.reason)
        return {"by": pod_name}

    with pod:
        say("drained", queue.work(handle, pod=pod, grace=grace))
    say("end")


main()
