"""A private Redis for a framework's own messages, apart from the coordinator's."""

from __future__ import annotations

import shutil
import socket
import subprocess
import tempfile
import time

_START_S = 10.0
_ALONE = ("--bind", "127.0.0.1", "--appendonly", "yes", "--save", "")


class Broker:
    """redis-server or valkey-server on a free port, with its data in a folder that `stop()` removes."""

    def __init__(self) -> None:
        program = shutil.which("redis-server") or shutil.which("valkey-server")
        assert program, "no redis-server: run ./scripts/setup dev"
        self._program = program
        self._data = tempfile.mkdtemp(prefix="fleetgate-broker-")
        self._process: subprocess.Popen[bytes] | None = None
        self.port = 0
        self.start()

    @property
    def url(self) -> str:
        """Its address, database 0."""
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        """Starts it, on the same port and with the same data if it ran before."""
        for _ in range(5):
            port = self.port or _free_port()
            self._process = subprocess.Popen(
                [self._program, "--port", str(port), *_ALONE, "--dir", self._data],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )
            if self._answers(port):
                self.port = port
                return
            self._end()  # somebody else took the port in between
        raise RuntimeError("the broker's Redis did not start")

    def stop_for(self, seconds: float) -> None:
        """Ends it, and starts it again with its data after so many seconds."""
        self._end()
        time.sleep(seconds)
        self.start()

    def stop(self) -> None:
        """Ends it and removes its data."""
        self._end()
        shutil.rmtree(self._data, ignore_errors=True)

    def _answers(self, port: int) -> bool:
        ends = time.monotonic() + _START_S
        assert self._process is not None
        while time.monotonic() < ends and self._process.poll() is None:
            try:
                with socket.create_connection(("127.0.0.1", port), 1) as probe:
                    probe.sendall(b"PING\r\n")
                    if probe.recv(16).startswith(b"+PONG") and self._process.poll() is None:
                        return True
            except OSError:
                pass
            time.sleep(0.02)
        return False

    def _end(self) -> None:
        assert self._process is not None
        self._process.terminate()
        self._process.wait(30)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    return port
