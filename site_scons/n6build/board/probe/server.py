"""Server of a debug port, with one loop for all connections."""

from __future__ import annotations

import contextlib
import selectors
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from n6build.base.console import say
from n6build.base.errors import N6Error
from n6build.board.probe.debug_port import VirtualDebugPort
from n6build.board.probe.front import Front

HOST = "127.0.0.1"
# Debuggers open one connection each. More are closed at once.
MOST_CONNECTIONS = 64
_RECEIVED = 1 << 16
# Bytes that a debugger may leave unread.
_MOST_UNREAD = 1 << 24


@dataclass
class _Connection:
    """A connection of a debugger, with the bytes that it has not taken yet."""

    channel: socket.socket
    front: Front
    unsent: bytearray = field(default_factory=bytearray)


class ProbeServer:
    """A server of one board for debuggers.

    Args:
        port: Debug port of the board.
        fronts: TCP ports, 0 for any, each with the maker of its front.

    Raises:
        N6Error: N6-PROBE-002 if a TCP port is in use.
    """

    def __init__(
        self, port: VirtualDebugPort, fronts: Sequence[tuple[int, Callable[[VirtualDebugPort], Front]]]
    ) -> None:
        self._port = port
        self._selector = selectors.DefaultSelector()
        self._connections: dict[socket.socket, _Connection] = {}
        self._user: _Connection | None = None
        self._transfers = 0
        self._watched: dict[int, Callable[[], bool]] = {}
        self._listeners: list[socket.socket] = []
        for number, make in fronts:
            listener = _listen(number)
            self._listeners.append(listener)
            self._selector.register(listener, selectors.EVENT_READ, make)

    @property
    def ports(self) -> list[int]:
        """Return the TCP ports, in the order of the fronts."""
        return [listener.getsockname()[1] for listener in self._listeners]

    def watch(self, descriptor: int, look: Callable[[], bool]) -> None:
        """Call `look` when a file can be read; a result of false ends the server."""
        self._watched[descriptor] = look
        self._selector.register(descriptor, selectors.EVENT_READ, look)

    def serve(self, seconds: float | None = None) -> None:
        """Serve until a watched file ends the server.

        Args:
            seconds: Longest wait of a single step; None to serve on.

        Raises:
            BoardGone: N6-PROBE-003.
        """
        while True:
            for key, events in self._selector.select(seconds):
                if isinstance(key.data, _Connection):
                    self._handle(key.data, events)
                elif key.fd in self._watched:
                    if not self._watched[key.fd]():
                        return
                else:
                    assert isinstance(key.fileobj, socket.socket)
                    self._accept(key.fileobj, key.data)
            if seconds is not None:
                return

    def close(self) -> None:
        """Close all connections."""
        for channel in [*self._connections, *self._listeners]:
            channel.close()
        self._selector.close()

    def _accept(self, listener: socket.socket, make: Callable[[VirtualDebugPort], Front]) -> None:
        try:
            channel, _ = listener.accept()
        except OSError:
            return
        if len(self._connections) >= MOST_CONNECTIONS:
            channel.close()
            return
        channel.setblocking(False)
        channel.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection = _Connection(channel, make(self._port))
        self._connections[channel] = connection
        self._selector.register(channel, selectors.EVENT_READ, connection)

    def _handle(self, connection: _Connection, events: int) -> None:
        try:
            if events & selectors.EVENT_READ:
                received = connection.channel.recv(_RECEIVED)
                if not received:
                    self._drop(connection)
                    return
                self._answer(connection, received)
            self._send(connection)
        except BlockingIOError:
            return
        except OSError:
            self._drop(connection)

    def _answer(self, connection: _Connection, received: bytes) -> None:
        front = connection.front
        before = front.uses_board
        connection.unsent += front.answer(received, self._user in (None, connection))
        if front.uses_board and not before:
            self._user, self._transfers = connection, self._port.transfers
            say("Debugger", "connected")
        for why in self._port.refusals[-1:]:
            say("Refused", why)
        self._port.refusals.clear()

    def _send(self, connection: _Connection) -> None:
        with contextlib.suppress(BlockingIOError):
            while connection.unsent:
                sent = connection.channel.send(connection.unsent)
                del connection.unsent[:sent]
        if connection.front.is_done or len(connection.unsent) > _MOST_UNREAD:
            self._drop(connection)
            return
        wanted = selectors.EVENT_READ | (selectors.EVENT_WRITE if connection.unsent else 0)
        self._selector.modify(connection.channel, wanted, connection)

    def _drop(self, connection: _Connection) -> None:
        self._selector.unregister(connection.channel)
        del self._connections[connection.channel]
        connection.channel.close()
        if self._user is connection:
            self._user = None
            say("Debugger", "gone", f"{self._port.transfers - self._transfers} transfers")


def _listen(number: int) -> socket.socket:
    try:
        return socket.create_server((HOST, number), backlog=MOST_CONNECTIONS)
    except (OSError, OverflowError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise N6Error(
            "N6-PROBE-002",
            f"cannot listen at TCP port {number}: {reason}",
            hint="end the other server, or choose a port with --port",
        ) from error
