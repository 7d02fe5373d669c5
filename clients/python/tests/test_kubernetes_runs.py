"""The lines of deploy/kubernetes, run with the real programs."""

from __future__ import annotations

import signal
from typing import Any, Callable

import pytest
import redis
from celery.bin.worker import worker as celery_worker
from support.broker import Broker
from support.manifests import MANIFESTS, Manifest, from_files
from support.program import Program
from support.until import until
from support.workers import Worker

from fleetgate import Client


def of(kind: str, name: str) -> dict[str, Any]:
    return next(one.body for one in from_files() if one.kind == kind and one.body["metadata"]["name"] == name)


@pytest.fixture
def env() -> dict[str, str]:
    """What secrets.example holds, by name."""
    lines = (MANIFESTS / "secrets.example" / "celery-broker.env").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines)


def test_the_queue_workers_line_does_a_task_and_ends_on_sigterm(
    client: Client, program: Callable[..., Program]
) -> None:
    args = Worker(Manifest("base", of("Deployment", "infer-worker"))).args
    at = args.index("--")
    assert args[0] == "fleetgate"
    queue = client.queue("infer")
    queue.put(fleet="infer")
    queue.enqueue({"frame": 7}, id="kubernetes")
    ran = program("-m", *args[:at], "--", "cat", FLEETGATE_CLUSTER="aws", POD_NAME="infer-worker-0")
    until(lambda: queue.task("kubernetes")["state"] == "completed", "the task is done")
    assert queue.task("kubernetes")["result"] == {"frame": 7}
    assert [(pod["cluster"], pod["pod"]) for pod in client.fleet("infer").pods()["pods"]] == [
        ("aws", "infer-worker-0")
    ]
    ran.signal(signal.SIGTERM)
    assert ran.ends() == 0
    assert client.fleet("infer").status()["live"] == 0


def test_celery_knows_every_flag_of_its_line() -> None:
    args = Worker(Manifest("base", of("Deployment", "render-worker"))).args
    assert args[:3] == ["celery", "--app=tasks", "worker"]
    known = {option for one in celery_worker.params for option in one.opts}
    assert [one for one in args[3:] if one.split("=")[0] not in known] == []


def test_redis_takes_every_setting_of_its_line(broker: Broker) -> None:
    (container,) = of("StatefulSet", "celery-redis")["spec"]["template"]["spec"]["containers"]
    program, *line = container["args"]
    settings = dict(zip(line[::2], line[1::2]))
    assert program == "redis-server"
    assert settings["--appendonly"] == "yes"
    assert settings["--maxmemory-policy"] == "noeviction"
    assert settings["--dir"] == container["volumeMounts"][0]["mountPath"]
    with redis.Redis(port=broker.port) as store:
        for name, value in settings.items():
            if name != "--dir":  # no such folder here
                store.config_set(name.removeprefix("--"), value)


def test_redis_writes_to_its_claim_under_a_name_that_lasts(env: dict[str, str]) -> None:
    body, service = of("StatefulSet", "celery-redis"), of("Service", "celery-redis")
    (container,) = body["spec"]["template"]["spec"]["containers"]
    (claim,) = body["spec"]["volumeClaimTemplates"]
    assert claim["metadata"]["name"] == container["volumeMounts"][0]["name"]
    assert body["spec"]["serviceName"] == service["metadata"]["name"]
    assert service["spec"]["clusterIP"] == "None"
    assert service["spec"]["selector"].items() <= body["spec"]["template"]["metadata"]["labels"].items()
    host = f"{body['metadata']['name']}-0.{service['metadata']['name']}"
    port = service["spec"]["ports"][0]["port"]
    assert env["CELERY_BROKER_URL"] == f"redis://:{env['REDIS_PASSWORD']}@{host}:{port}/0"


def test_redis_has_memory_left_while_it_rewrites_its_file() -> None:
    (container,) = of("StatefulSet", "celery-redis")["spec"]["template"]["spec"]["containers"]
    size = container["args"][container["args"].index("--maxmemory") + 1]
    assert (size, container["resources"]["limits"]["memory"]) == ("512mb", "1Gi")
