"""HTTP over the standard library: each thread keeps one connection open to the coordinator, each process its own."""

from __future__ import annotations

import contextlib
import http.client
import select
import socket
import ssl
import threading
from urllib.parse import urlsplit

from .clock import now
from .forks import renew_after_fork
from .transport import Request, Response, TransportError

_CHUNK = 65_536
# A coordinator's answer is far smaller; more than this is something else.
_LARGEST_BYTES = 64 * 1024 * 1024


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
        connection.request(request.method, path, body=request.body, headers=dict(request.headers))
        _bound(connection, deadline)
        response = connection.getresponse()
        body = _read(connection, response, deadline)
    except OSError as error:
        raise TransportError(_words(error)) from None
    headers = {name.lower(): value for name, value in response.getheaders()}
    if response.will_close:
        connection.close()
    return Response(response.status, headers, body)


def _read(
    connection: http.client.HTTPConnection, response: http.client.HTTPResponse, deadline: float
) -> bytes:
    # Some versions of read1() neither count the length down nor notice the end of the body.
    length = response.length
    parts: list[bytes] = []
    size = 0
    while length is None or size < length:
        _bound(connection, deadline)
        part = response.read1(_CHUNK)
        if not part:
            break
        parts.append(part)
        size += len(part)
        if size > _LARGEST_BYTES:
            raise TransportError("the answer is too large to be the coordinator's")
    if length is not None and size < length:
        raise http.client.IncompleteRead(b"", length - size)
    response.close()
    return b"".join(parts)


def _bound(connection: http.client.HTTPConnection, deadline: float) -> None:
    left = deadline - now()
    if left <= 0:
        raise TransportError("no answer in time")
    # The response of a closing server owns the socket alone.
    if connection.sock is not None:
        connection.sock.settimeout(left)


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
        sock = self.connection.sock
        if sock is not None:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)

    def __del__(self) -> None:
        self.connection.close()
