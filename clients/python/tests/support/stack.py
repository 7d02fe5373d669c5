"""The real coordinator: workerd over a private Redis, as ./scripts/dev starts it."""

from __future__ import annotations

import re
import shutil
import signal
import socket
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[4]


class Stack:
    """Started once for all tests; `stop()` ends it and removes its data."""

    def __init__(self) -> None:
        self._data = tempfile.mkdtemp(prefix="fleetgate-python-")
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self._process = subprocess.Popen(
            [str(ROOT / "scripts" / "dev"), "--port", str(port), "--data", self._data],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert self._process.stdout is not None
        for line in self._process.stdout:
            ready = re.search(r"url=(\S+) key=(\S+)", line)
            if ready:
                self.url, self.key = ready.groups()
                return
        self.stop()
        raise RuntimeError("./scripts/dev did not start; what it said stands above")

    def stop(self) -> None:
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(30)
        if self._process.stdout is not None:
            self._process.stdout.close()
        shutil.rmtree(self._data, ignore_errors=True)
