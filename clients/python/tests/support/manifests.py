"""The manifests of deploy/kubernetes, as files and as kustomize renders them."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from .stack import ROOT

MANIFESTS = ROOT / "deploy" / "kubernetes"
CLUSTERS = ("aws", "gcp")


@dataclass(frozen=True)
class Manifest:
    """One object of Kubernetes, and where it stands."""

    where: str
    body: dict[str, Any]

    @property
    def kind(self) -> str:
        return str(self.body["kind"])

    def __str__(self) -> str:
        return f"{self.where} {self.kind} {self.body['metadata']['name']}"


def from_files() -> list[Manifest]:
    """Every object of every file; kustomization.yaml is no object, kustomize checks it itself."""
    files = sorted(MANIFESTS.rglob("*.yaml"))
    return [
        one
        for file in files
        if file.name != "kustomization.yaml"
        for one in _read(str(file.relative_to(MANIFESTS)), file.read_text())
    ]


def rendered(cluster: str, copy: Path) -> list[Manifest]:
    """What `kubectl apply -k overlays/<cluster>` would send, made in a copy that has the example's secrets."""
    return list(_read(cluster, render(cluster, copy)))


def render(cluster: str, copy: Path) -> str:
    """The YAML that kustomize makes of an overlay; raises with its words when it refuses."""
    if not copy.exists():
        # A developer's own secrets are left where they are.
        shutil.copytree(MANIFESTS, copy, ignore=shutil.ignore_patterns("secrets"))
        for name in CLUSTERS:
            shutil.copytree(copy / "secrets.example", copy / "overlays" / name / "secrets")
    made = subprocess.run(
        ["kubectl", "kustomize", str(copy / "overlays" / cluster)], capture_output=True, text=True
    )
    if made.returncode != 0:
        raise ValueError(made.stderr)
    return made.stdout


def _read(where: str, text: str) -> Iterator[Manifest]:
    for body in yaml.safe_load_all(text):
        yield Manifest(where, body)
