"""The rules of deploy/kubernetes, in what kustomize makes of each overlay."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.manifests import CLUSTERS, MANIFESTS, Manifest, from_files, rendered
from support.workers import Worker

from fleetgate import Queue

Objects = dict[tuple[str, str], dict[str, Any]]


@pytest.fixture(scope="module")
def clusters(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Manifest]]:
    copy = tmp_path_factory.mktemp("kubernetes") / "copy"
    return {name: rendered(name, copy) for name in CLUSTERS}


@pytest.fixture(params=CLUSTERS)
def cluster(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def objects(clusters: dict[str, list[Manifest]], cluster: str) -> Objects:
    return {(one.kind, one.body["metadata"]["name"]): one.body for one in clusters[cluster]}


@pytest.fixture
def workers(clusters: dict[str, list[Manifest]], cluster: str) -> list[Worker]:
    return [Worker(one) for one in clusters[cluster] if one.kind == "Deployment"]


def pods(objects: Objects) -> list[dict[str, Any]]:
    return [one["spec"]["template"]["spec"] for (kind, _), one in objects.items() if kind in SETS]


SETS = ("Deployment", "StatefulSet")


def test_both_variants_stand_in_each_cluster(workers: list[Worker]) -> None:
    assert [one.name for one in workers] == ["infer-worker", "render-worker"]


def test_a_worker_knows_who_and_where_it_is(workers: list[Worker], objects: Objects, cluster: str) -> None:
    for worker in workers:
        assert worker.comes_from("POD_NAME") == {"fieldRef": {"fieldPath": "metadata.name"}}
        named = worker.comes_from("FLEETGATE_CLUSTER")["configMapKeyRef"]
        assert objects[("ConfigMap", named["name"])]["data"][named["key"]] == cluster
        for name in ("FLEETGATE_URL", "FLEETGATE_KEY"):
            assert worker.comes_from(name)["secretKeyRef"] == {"name": "fleetgate", "key": name}


def test_no_secret_stands_in_plain_and_each_that_is_named_is_there(objects: Objects) -> None:
    named = [
        (one["valueFrom"]["secretKeyRef"]["name"], one["valueFrom"]["secretKeyRef"]["key"])
        for pod in pods(objects)
        for one in pod["containers"][0]["env"]
        if "secretKeyRef" in one.get("valueFrom", {})
    ]
    for (kind, _), one in objects.items():
        if kind == "TriggerAuthentication":
            named += [(it["name"], it["key"]) for it in one["spec"]["secretTargetRef"]]
    assert len(named) >= 8
    for name, key in named:
        assert key in objects[("Secret", name)]["data"]
    plain = yaml.safe_dump([one for (kind, _), one in objects.items() if kind != "Secret"])
    for file in (MANIFESTS / "secrets.example").iterdir():
        for line in file.read_text().splitlines():
            name, _, value = line.partition("=")
            assert name == "FLEETGATE_URL" or value not in plain
    assert not re.search(r"(KEY|PASSWORD|TOKEN|URL)\n\s+value:", plain)


def test_no_file_holds_a_real_key_and_git_ignores_where_they_go() -> None:
    for file in MANIFESTS.rglob("*"):
        if file.is_file() and "secrets" not in file.parts:
            assert not re.search(r"fg_\w", file.read_text()), file
    assert [one for one in from_files() if one.kind == "Secret"] == []
    assert "/secrets/" in (MANIFESTS / ".gitignore").read_text().splitlines()[-1]


def test_the_grace_of_the_pod_holds_the_longest_task(workers: list[Worker], queue: Queue) -> None:
    limits = {"infer-worker": queue.get()["config"]["time_limit_ms"] / 1_000, "render-worker": 3_600}
    for worker in workers:
        assert worker.longest >= limits[worker.name]
        # 5 s for telling, leaving and ending: see docs/shutdown.md.
        assert worker.pod["terminationGracePeriodSeconds"] >= worker.pause + worker.longest + 5


def test_celery_hears_its_soft_limit_before_the_hard_one_and_hoards_nothing(workers: list[Worker]) -> None:
    (celery,) = (one for one in workers if one.args[0] == "celery")
    assert 0 < float(celery.flag("soft-time-limit") or 0) < float(celery.flag("time-limit") or 0)
    assert (celery.flag("pool"), celery.flag("concurrency")) == ("prefork", "1")
    assert celery.flag("prefetch-multiplier") == "1"


def test_a_worker_has_a_gpu_and_memory_of_its_own_and_no_cpu_limit(workers: list[Worker]) -> None:
    for worker in workers:
        requests, limits = worker.container["resources"]["requests"], worker.container["resources"]["limits"]
        assert set(requests) == {"cpu", "memory", "nvidia.com/gpu"}
        assert set(limits) == {"memory", "nvidia.com/gpu"}
        assert requests["memory"] == limits["memory"]
        assert requests["nvidia.com/gpu"] == limits["nvidia.com/gpu"] == 1


def test_the_lines_are_lists_of_arguments_and_go_through_no_shell(objects: Objects) -> None:
    for pod in pods(objects):
        (container,) = pod["containers"]
        assert "command" not in container
        assert not {"sh", "bash", "-c"} & set(container["args"])


def test_no_autoscaler_of_nodes_ends_a_task(clusters: dict[str, list[Manifest]]) -> None:
    for one in clusters["aws"]:
        if one.kind == "Deployment":
            assert one.body["spec"]["template"]["metadata"]["annotations"] == {
                "cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
                "karpenter.sh/do-not-disrupt": "true",
            }


def test_images_are_pinned_by_a_tag(objects: Objects) -> None:
    for pod in pods(objects):
        assert re.fullmatch(r"[\w.\-/]+:\d+\.\d+\.\d+[\w.\-]*", pod["containers"][0]["image"])


def test_pods_may_do_no_more_than_they_need(objects: Objects) -> None:
    for pod in pods(objects):
        assert pod["automountServiceAccountToken"] is False
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["runAsUser"] > 0
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert pod["containers"][0]["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }


def test_overlays_choose_the_machines_and_the_disks(clusters: dict[str, list[Manifest]]) -> None:
    chosen = {
        name: (
            {
                str(one.body["spec"]["template"]["spec"]["nodeSelector"])
                for one in made
                if one.kind == SETS[0]
            },
            [
                one.body["spec"]["volumeClaimTemplates"][0]["spec"]["storageClassName"]
                for one in made
                if one.kind == SETS[1]
            ],
        )
        for name, made in clusters.items()
    }
    for machines, disks in chosen.values():
        assert (len(machines), len(disks)) == (1, 1)
    assert chosen["aws"] != chosen["gcp"]


def test_only_pods_that_can_be_asked_have_a_probe(workers: list[Worker]) -> None:
    for worker in workers:
        assert [name for name in worker.container if name.endswith("Probe")] == []


def test_what_the_readme_names_is_there() -> None:
    words = (MANIFESTS / "README.md").read_text()
    for path in re.findall(r"`((?:base|overlays|secrets\.example)/[\w./-]*)`", words):
        assert Path(MANIFESTS, path).exists() or "/secrets" in path, path
