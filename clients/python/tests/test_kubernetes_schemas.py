"""deploy/kubernetes against the published schemas: each file, and what kustomize makes of each overlay."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest
from support.manifests import CLUSTERS, Manifest, from_files, render, rendered
from support.schemas import refusals


def test_every_manifest_is_one_that_the_schemas_take(tmp_path: Path) -> None:
    manifests = from_files()
    for cluster in CLUSTERS:
        manifests += rendered(cluster, tmp_path / "copy")
    assert {one.kind for one in manifests} == {
        "ConfigMap",
        "Deployment",
        "ScaledObject",
        "Secret",
        "Service",
        "StatefulSet",
        "TriggerAuthentication",
    }
    assert [f"{one}: {why}" for one, why in zip(manifests, refusals(manifests)) if why] == []


def test_a_field_that_a_schema_does_not_name_is_refused_and_so_is_a_wrong_one() -> None:
    broken = []
    for one in from_files():
        more, wrong = copy.deepcopy(one.body), copy.deepcopy(one.body)
        more["spec"]["replicaz"] = 1
        wrong["metadata"]["labels"] = "worker"
        broken += [Manifest(one.where, more), Manifest(one.where, wrong)]
    assert len(broken) >= 14
    assert [str(one) for one, why in zip(broken, refusals(broken)) if not why] == []


def test_a_field_deep_inside_is_refused_too() -> None:
    deployment = next(one for one in from_files() if one.kind == "Deployment")
    scaled = next(one for one in from_files() if one.kind == "ScaledObject")
    deployment.body["spec"]["template"]["spec"]["containers"][0]["resources"]["limit"] = {}
    scaled.body["spec"]["fallback"]["behavior"] = "currentReplica"
    by_kubernetes, by_keda = refusals([deployment, scaled])
    assert "'limit' was unexpected" in by_kubernetes
    assert "currentReplica" in by_keda


def test_kustomize_refuses_a_field_of_an_overlay_that_it_does_not_know(tmp_path: Path) -> None:
    render("aws", tmp_path / "copy")
    overlay = tmp_path / "copy" / "overlays" / "aws" / "kustomization.yaml"
    overlay.write_text(overlay.read_text() + "resource: []\n")
    with pytest.raises(ValueError, match="unknown field"):
        render("aws", tmp_path / "copy")


def test_without_the_secrets_nothing_is_rendered(tmp_path: Path) -> None:
    render("gcp", tmp_path / "copy")
    (tmp_path / "copy" / "overlays" / "gcp" / "secrets" / "fleetgate.env").unlink()
    with pytest.raises(ValueError, match=r"fleetgate\.env"):
        render("gcp", tmp_path / "copy")
