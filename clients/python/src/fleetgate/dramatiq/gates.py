"""The gates of a worker, one a class."""

from __future__ import annotations

import threading
from typing import Callable

from ..gate import Gate
from ..keeper.pod import Pod


class Gates:
    """Made as messages need them; `on_free()` is called when one of them holds a slot again."""

    def __init__(self, pod: Pod, on_free: Callable[[], None], spare: float) -> None:
        self.pod = pod
        self._on_free = on_free
        self._spare = spare
        self._lock = threading.Lock()
        self._gates: dict[str, Gate] = {}
        self._closed = False

    def of(self, cls: str) -> Gate:
        """The gate of a class."""
        with self._lock:
            gate = self._gates.get(cls)
            if gate is None:
                gate = Gate(self.pod, cls=cls, on_free=self._on_free, spare=self._spare)
                self._gates[cls] = gate
                if self._closed:
                    gate.close()
            return gate

    def close(self) -> None:
        """Stops all waits, and gives back what is not in use."""
        with self._lock:
            self._closed = True
            gates = list(self._gates.values())
        for gate in gates:
            gate.close()
