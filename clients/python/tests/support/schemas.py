"""Holds manifests against the published schemas; a field that these do not name is refused."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import kubernetes_validate

from .manifests import Manifest
from .stack import ROOT

KUBERNETES = "1.37"
_KEDA = "keda.sh/v1alpha1"


def refusals(manifests: Sequence[Manifest]) -> list[str]:
    """For each manifest what is wrong with it, in words; "" where nothing is."""
    keda = [one for one in manifests if one.body["apiVersion"] == _KEDA]
    told = dict(zip(map(id, keda), _refused_by_keda(keda)))
    return [told[id(one)] if id(one) in told else _refused_by_kubernetes(one) for one in manifests]


def _refused_by_kubernetes(manifest: Manifest) -> str:
    try:
        kubernetes_validate.validate(manifest.body, KUBERNETES, strict=True)
    except kubernetes_validate.ValidationError as error:
        return f"{'.'.join(map(str, error.path))}: {error.message}"
    return ""


def _refused_by_keda(manifests: Sequence[Manifest]) -> list[str]:
    """KEDA's schemas are published as types: TypeScript refuses an object that has a field more, or a wrong one."""
    (ROOT / ".data").mkdir(exist_ok=True)
    # Inside the project, for TypeScript to find the package.
    with tempfile.TemporaryDirectory(dir=ROOT / ".data", prefix="keda-") as folder:
        for number, one in enumerate(manifests):
            Path(folder, f"{number}.ts").write_text(
                f'import type {{ I{one.kind} as Kind }} from "@kubernetes-models/keda/{_KEDA}/{one.kind}";\n'
                f"export const body: Kind = {json.dumps(one.body)};\n"
            )
        options = {"strict": True, "noEmit": True, "skipLibCheck": True, "module": "nodenext", "types": []}
        Path(folder, "tsconfig.json").write_text(json.dumps({"compilerOptions": options}))
        bin = ROOT / "node_modules" / ".bin"
        checked = subprocess.run(
            [str(bin / "tsc"), "-p", ".", "--pretty", "false"],
            cwd=folder,
            env={**os.environ, "PATH": f"{bin}{os.pathsep}{os.environ['PATH']}"},
            capture_output=True,
            text=True,
        )
        said = checked.stdout.splitlines()
        if checked.returncode != 0 and not any(line.startswith(tuple("0123456789")) for line in said):
            raise RuntimeError(checked.stdout + checked.stderr)
    return [
        "\n".join(line for line in said if line.startswith(f"{number}.ts("))
        for number in range(len(manifests))
    ]
