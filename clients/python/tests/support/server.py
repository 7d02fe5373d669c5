"""A real HTTP server on the loopback that answers as scripted, and can misbehave."""

from __future__ import annotations

import json
import socket
import threading
import time
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable


@dataclass
class Seen:
    """One request as it arrived; `at` in seconds on the monotonic clock."""

    method: str
    path: str
    headers: dict[str, str]
    text: str
    at: float

    @property
    def body(self) -> Any:
        return json.loads(self.text) if self.text else None


Reply = dict[str, Any]
Respond = Callable[[Seen, int], Reply]


class FaultyServer:
    """Keys of a reply: status, headers, body (sent as JSON) or text, delay_ms, fault ("cut", "hang", "reset")."""

    def __init__(self, respond: Respond) -> None:
        self.seen: list[Seen] = []
        self._respond = respond
        self._lock = threading.Lock()
        self._over = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: Any) -> None:
                """Says nothing."""

            def answer(self) -> None:
                outer.handle(self)

            do_GET = do_POST = do_PUT = do_DELETE = answer  # noqa: N815

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_: Any) -> None:
                """A client that hangs up is no news."""

        self._server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def handle(self, handler: BaseHTTPRequestHandler) -> None:
        at = time.monotonic()
        length = int(handler.headers.get("content-length") or 0)
        text = handler.rfile.read(length).decode()
        headers = {name.lower(): value for name, value in handler.headers.items()}
        seen = Seen(handler.command, handler.path, headers, text, at)
        with self._lock:
            number = len(self.seen)
            self.seen.append(seen)
        reply = self._respond(seen, number)
        time.sleep(reply.get("delay_ms", 0) / 1_000)
        self._send(handler, reply)

    def _send(self, handler: BaseHTTPRequestHandler, reply: Reply) -> None:
        fault: str | None = reply.get("fault")
        if fault == "hang":
            self._over.wait(30)
            handler.close_connection = True
            return
        if fault == "reset":
            handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            handler.connection.close()
            handler.close_connection = True
            return
        text = reply.get("text", json.dumps(reply["body"]) if "body" in reply else "")
        data = text.encode()
        handler.send_response(reply.get("status", 200))
        given = {"content-type": "application/json", "content-length": str(len(data))}
        for name, value in {**given, **reply.get("headers", {})}.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(data[: len(data) // 2] if fault == "cut" else data)
        if fault == "cut":
            handler.close_connection = True

    def close(self) -> None:
        self._over.set()
        self._server.shutdown()
        self._server.server_close()

    def __enter__(self) -> FaultyServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def unavailable(retry_after: int | None = None) -> Reply:
    """The 503 of a coordinator whose store is away."""
    return {
        "status": 503,
        "headers": {} if retry_after is None else {"retry-after": str(retry_after)},
        "body": {
            "type": "about:blank",
            "title": "t",
            "status": 503,
            "detail": "The store did not answer in time.",
            "code": "store-unavailable",
            "trace_id": "trace-503",
        },
    }
