"""HTTP over the standard library: each thread keeps one connection open to the coordinator, each process its own."""

from __future__ import annotations

import contextlib
import http.client
import select
import socket
import ssl
import threading
from collections.abc import Iterator
from typing import Callable, Union
from urllib.parse import urlsplit

from .clock import now
from .forks import renew_after_fork
from .transport import Request, Response, TransportError

_CHUNK = 65_536
# A coordinator's answer is far smaller; more than this is something else.
_LARGEST_BYTES = 64 * 1024 * 1024
# A stream says something every 15 to 20 s: one that is silent for longer is dead.
_SILENCE_S = 30.0

# The parts of a stream of events as they come, or the whole of another answer.
Opened = Union[Iterator[bytes], Response]


class HttpTransport:
    """The transport used by default. `context` replaces the system's certificates."""

    def __init__(self, context: ssl.SSLContext | None = None) -> None:
        self._context = context
        self._local = threading.local()
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Forgets the parent's connections: their bytes belong to the parent."""
        self._local = threading.local()

    def __call__(self, request: Request) -> Response:
        """Sends one request within its timeout; raises TransportError or OSError."""
        deadline = now() + request.timeout
        parts = urlsplit(request.url)
        origin = f"{parts.scheme}://{parts.netloc}"
        held = self._held(origin)
        held.connection.timeout = request.timeout
        path = parts.path + (f"?{parts.query}" if parts.query else "")
        try:
            with contextlib.ExitStack() as stack:
                if request.cut is not None:
                    stack.enter_context(request.cut.bound(held.interrupt))
                return _exchange(held.connection, request, path or "/", deadline)
        except BaseException as error:
            # Whatever it was, an answer may still be on its way, and must not be taken for the next one's.
            self._drop()
            if isinstance(error, (http.client.HTTPException, ValueError)):
                raise TransportError(f"{type(error).__name__}: {error}") from None
            raise

    @contextlib.contextmanager
    def stream(self, request: Request) -> Iterator[Opened]:
        """Opens a stream of events on a connection of its own; its timeout is that of the first answer.

        What is raised, inside too, is a TransportError, an OSError or an HTTPException.
        """
        parts = urlsplit(request.url)
        connection = _Held(f"{parts.scheme}://{parts.netloc}", self._context).connection
        connection.timeout = request.timeout
        with contextlib.closing(connection), contextlib.ExitStack() as stack:
            connection.connect()
            # A server that closes takes the connection's socket away, and this one must still be ended.
            sock = connection.sock
            if request.cut is not None:
                stack.enter_context(request.cut.bound(lambda: _shut(sock)))
            connection.request(request.method, parts.path, headers=dict(request.headers))
            response = connection.getresponse()
            stack.callback(response.close)
            headers = {name.lower(): value for name, value in response.getheaders()}
            if response.status == 200 and headers.get("content-type", "").startswith("text/event-stream"):
                sock.settimeout(_SILENCE_S)
                yield _parts(response, lambda: None)
            else:
                body = _read(connection, response, now() + request.timeout)
                yield Response(response.status, headers, body)

    def _held(self, origin: str) -> _Held:
        held: _Held | None = getattr(self._local, "held", None)
        if held is None or held.origin != origin or held.is_stale():
            self._drop()
            held = _Held(origin, self._context)
            self._local.held = held
        return held

    def _drop(self) -> None:
        held: _Held | None = getattr(self._local, "held", None)
        self._local.held = None
        if held is not None:
            held.connection.close()


def _exchange(
    connection: http.client.HTTPConnection, request: Request, path: str, deadline: float
) -> Response:
    if connection.sock is None:
        try:
            connection.connect()
        except OSError as error:
            raise TransportError(_words(error), sent=False) from None
    if request.cut is not None and request.cut.is_cut:
        raise TransportError("the call was ended here", sent=False)
    try:
        _bound(connection, deadline)
        heard_out = True
        try:
            connection.request(request.method, path, body=request.body, headers=dict(request.headers))
        except (BrokenPipeError, ConnectionResetError):
            # What is too large is refused before it has all been read; the refusal is there to be heard.
            heard_out = False
        _bound(connection, deadline)
        response = connection.getresponse()
        body = _read(connection, response, deadline)
    except OSError as error:
        raise TransportError(_words(error)) from None
    headers = {name.lower(): value for name, value in response.getheaders()}
    if response.will_close or not heard_out:
        connection.close()
    return Response(response.status, headers, body)


def _read(
    connection: http.client.HTTPConnection, response: http.client.HTTPResponse, deadline: float
) -> bytes:
    parts: list[bytes] = []
    size = 0
    for part in _parts(response, lambda: _bound(connection, deadline)):
        parts.append(part)
        size += len(part)
        if size > _LARGEST_BYTES:
            raise TransportError("the answer is too large to be the coordinator's")
    response.close()
    return b"".join(parts)


def _parts(response: http.client.HTTPResponse, before_each: Callable[[], None]) -> Iterator[bytes]:
    """A body as it comes; raises IncompleteRead when less comes than was said."""
    # Some versions of read1() neither count the length down nor notice the end of the body.
    length = response.length
    size = 0
    while length is None or size < length:
        before_each()
        part = response.read1(_CHUNK)
        if not part:
            break
        size += len(part)
        yield part
    if length is not None and size < length:
        raise http.client.IncompleteRead(b"", length - size)


def _bound(connection: http.client.HTTPConnection, deadline: float) -> None:
    left = deadline - now()
    if left <= 0:
        raise TransportError("no answer in time")
    # The response of a closing server owns the socket alone.
    if connection.sock is not None:
        connection.sock.settimeout(left)


def _shut(sock: socket.socket | None) -> None:
    """Wakes the thread that waits on a socket, with an error."""
    if sock is not None:
        with contextlib.suppress(OSError):
            sock.shutdown(socket.SHUT_RDWR)


def _words(error: OSError) -> str:
    if isinstance(error, (socket.timeout, TimeoutError)):
        return "no answer in time"
    return error.strerror or str(error) or type(error).__name__


class _Held:
    """A connection that closes with the thread that holds it."""

    def __init__(self, origin: str, context: ssl.SSLContext | None) -> None:
        self.origin = origin
        parts = urlsplit(origin)
        host = parts.hostname or ""
        self.connection: http.client.HTTPConnection = (
            http.client.HTTPSConnection(host, parts.port, context=context or ssl.create_default_context())
            if parts.scheme == "https"
            else http.client.HTTPConnection(host, parts.port)
        )

    def is_stale(self) -> bool:
        """Whether the other side has closed it (or sent what nobody asked for) while it lay idle."""
        sock = self.connection.sock
        if sock is None:
            return False
        if hasattr(select, "poll"):
            poll = select.poll()
            poll.register(sock, select.POLLIN | select.POLLHUP | select.POLLERR)
            return bool(poll.poll(0))
        return bool(select.select([sock], [], [], 0)[0])

    def interrupt(self) -> None:
        """Wakes the thread that waits on this connection, with an error."""
        _shut(self.connection.sock)

    def __del__(self) -> None:
        self.connection.close()
