"""What the tests ask of a rendered worker: its container, its flags, its environment."""

from __future__ import annotations

from typing import Any

from .manifests import Manifest


class Worker:
    """A Deployment of workers."""

    def __init__(self, manifest: Manifest) -> None:
        self.name = str(manifest.body["metadata"]["name"])
        self.pod: dict[str, Any] = manifest.body["spec"]["template"]["spec"]
        (self.container,) = self.pod["containers"]
        self.args: list[str] = self.container["args"]
        self.env: dict[str, dict[str, Any]] = {one["name"]: one for one in self.container["env"]}

    def flag(self, name: str) -> str | None:
        """The value of `--name=value`."""
        return next((one.split("=", 1)[1] for one in self.args if one.startswith(f"--{name}=")), None)

    def comes_from(self, name: str) -> dict[str, Any]:
        """Where a variable's value comes from."""
        source: dict[str, Any] = self.env[name]["valueFrom"]
        return source

    @property
    def longest(self) -> float:
        """Seconds that work may go on after SIGTERM: `--grace` of `fleetgate work`, else Celery's hard limit."""
        return float(self.flag("grace") or self.flag("time-limit") or 0)

    @property
    def pause(self) -> float:
        """Seconds of preStop."""
        return float(self.container["lifecycle"]["preStop"]["sleep"]["seconds"])
