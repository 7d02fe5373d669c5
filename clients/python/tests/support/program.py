"""A real process of a test's: Python or the command line, killed at the end whatever happens."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
SOURCE = HERE.parent / "src"


class Program:
    """Its lines are read as they come; `says` waits for one that starts with given words."""

    def __init__(self, arguments: Sequence[str], environment: dict[str, str]) -> None:
        self.environment = environment
        self.process = subprocess.Popen(
            [sys.executable, *arguments],
            env={**os.environ, "PYTHONPATH": str(SOURCE), "PYTHONUNBUFFERED": "1", **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.lines: list[str] = []
        self.errors = ""
        self._fresh: queue.Queue[str | None] = queue.Queue()
        self._readers = [
            threading.Thread(target=self._read_lines, daemon=True),
            threading.Thread(target=self._read_errors, daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    @property
    def pid(self) -> int:
        return self.process.pid

    def says(self, words: str, seconds: float = 20.0) -> str:
        """The next line that starts with `words`; what it says after them."""
        ends = time.monotonic() + seconds
        while True:
            try:
                line = self._fresh.get(timeout=max(0.01, ends - time.monotonic()))
            except queue.Empty:
                line = None
            if line is None:
                raise AssertionError(f"never said {words!r}: {self.lines} {self.errors}")
            if line.startswith(words):
                return line[len(words) :].strip()

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def line(self, words: str) -> None:
        """Writes a line to its standard input."""
        assert self.process.stdin is not None
        self.process.stdin.write(words + "\n")
        self.process.stdin.flush()

    def end_input(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    def ends(self, seconds: float = 20.0) -> int:
        """Its exit code."""
        code = self.process.wait(seconds)
        for reader in self._readers:
            reader.join(5)
        return code

    def close(self) -> None:
        for number in (signal.SIGCONT, signal.SIGKILL):
            try:
                os.killpg(self.process.pid, number)
            except ProcessLookupError:
                break
        self.process.wait()
        for reader in self._readers:
            reader.join(5)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()

    def _read_lines(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))
            self._fresh.put(line.rstrip("\n"))
        self._fresh.put(None)

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.errors += line
