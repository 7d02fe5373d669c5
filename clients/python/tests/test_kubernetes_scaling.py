"""KEDA's objects in deploy/kubernetes: what they ask is there, and no outage or share leaves a queue without pods."""

from __future__ import annotations

import json
import os
import re
from typing import Any, Callable
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import pytest
from support.manifests import CLUSTERS, Manifest, rendered
from support.workers import Worker


@pytest.fixture(scope="module")
def clusters(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Manifest]]:
    copy = tmp_path_factory.mktemp("scaling") / "copy"
    return {name: rendered(name, copy) for name in CLUSTERS}


@pytest.fixture
def named(clusters: dict[str, list[Manifest]]) -> Callable[[str, str], dict[str, Any]]:
    made = {(one.kind, one.body["metadata"]["name"]): one.body for one in clusters["aws"]}
    return lambda kind, name: made[(kind, name)]


@pytest.fixture
def scaled(clusters: dict[str, list[Manifest]]) -> list[dict[str, Any]]:
    return [one.body["spec"] for made in clusters.values() for one in made if one.kind == "ScaledObject"]


def asked(spec: dict[str, Any]) -> dict[str, str]:
    (trigger,) = spec["triggers"]
    assert trigger["type"] == "metrics-api"
    metadata: dict[str, str] = trigger["metadata"]
    return metadata


def fetch(path: str) -> Any:
    url, key = os.environ["FLEETGATE_URL"], os.environ["FLEETGATE_KEY"]
    with urlopen(Request(url + path, headers={"authorization": f"Bearer {key}"})) as answer:
        return json.load(answer)


def test_the_address_is_a_call_of_the_coordinator_and_its_answer_has_the_number(
    scaled: list[dict[str, Any]],
) -> None:
    routes = [
        re.sub(r"\{\w+\}", r"[\\w.-]+", path)
        for path, to in fetch("/openapi.json")["paths"].items()
        if "get" in to
    ]
    assert len(scaled) == 4
    for spec in scaled:
        url = urlsplit(asked(spec)["url"])
        assert url.scheme == "https"
        assert url.path.startswith("/v1/scale/")
        assert any(re.fullmatch(route, url.path) for route in routes)
        answer = fetch(f"{url.path}?{url.query}")
        assert isinstance(answer[asked(spec)["valueLocation"]], int)


def test_it_asks_for_what_its_workers_work_on(
    scaled: list[dict[str, Any]], named: Callable[[str, str], dict[str, Any]]
) -> None:
    for spec in scaled:
        worker = Worker(Manifest("aws", named("Deployment", spec["scaleTargetRef"]["name"])))
        path = urlsplit(asked(spec)["url"]).path
        if worker.flag("queue") is None:
            # Celery's fleet stands in its own module: see the README.
            assert path == f"/v1/scale/fleets/{worker.name.removesuffix('-worker')}"
        else:
            assert path == f"/v1/scale/queues/{worker.flag('queue')}"


def test_its_key_comes_from_the_secret_with_the_key_that_may_only_read(
    scaled: list[dict[str, Any]], named: Callable[[str, str], dict[str, Any]]
) -> None:
    for spec in scaled:
        assert asked(spec)["authMode"] == "bearer"
        reference = spec["triggers"][0]["authenticationRef"]["name"]
        (target,) = named("TriggerAuthentication", reference)["spec"]["secretTargetRef"]
        assert target == {"parameter": "token", "name": "fleetgate-read", "key": "FLEETGATE_KEY"}


def test_an_outage_takes_no_pod_away(scaled: list[dict[str, Any]]) -> None:
    for spec in scaled:
        assert spec["fallback"]["behavior"] == "currentReplicasIfHigher"
        # With 0 KEDA takes the outage for "no work" and scales to zero.
        assert spec["fallback"]["replicas"] >= 1


def test_scaling_down_is_slow_and_in_steps(scaled: list[dict[str, Any]]) -> None:
    for spec in scaled:
        down = spec["advanced"]["horizontalPodAutoscalerConfig"]["behavior"]["scaleDown"]
        assert down["stabilizationWindowSeconds"] >= 300
        assert all(one["type"] == "Percent" and one["value"] <= 25 for one in down["policies"])
        assert spec["minReplicaCount"] > 0 or spec["cooldownPeriod"] >= 300


def test_the_clusters_shares_make_one_whole_or_more(scaled: list[dict[str, Any]]) -> None:
    shares: dict[str, float] = {}
    for spec in scaled:
        name = spec["scaleTargetRef"]["name"]
        shares[name] = shares.get(name, 0) + 1 / float(asked(spec)["targetValue"])
    assert len(shares) == 2
    assert min(shares.values()) >= 1


def test_only_a_queue_that_tells_what_waits_may_come_back_from_zero(scaled: list[dict[str, Any]]) -> None:
    for spec in scaled:
        assert spec["minReplicaCount"] == (0 if "/scale/queues/" in asked(spec)["url"] else 1)
