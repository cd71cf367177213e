"""The server of a debug port, with real connections and without an emulator."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from random import Random

import pytest
from n6build.base.errors import N6Error
from n6build.board.probe.machine import BoardGone
from n6build.board.probe.openocd_front import OpenocdFront
from n6build.board.probe.pyocd_front import PyocdFront
from n6build.board.probe.server import HOST, MOST_CONNECTIONS, ProbeServer
from patience import NET_S

from probe.fake_machine import FakeMachine, fake_port


@contextmanager
def served() -> Iterator[tuple[int, int, FakeMachine]]:
    """Serve a board; yield the ports of pyOCD and OpenOCD."""
    port, machine = fake_port()
    server = ProbeServer(port, [(0, PyocdFront), (0, OpenocdFront)])
    ends, tells = socket.socketpair()
    server.watch(ends.fileno(), lambda: False)
    thread = threading.Thread(target=server.serve)
    thread.start()
    try:
        first, second = server.ports
        yield first, second, machine
    finally:
        tells.send(b".")
        thread.join(NET_S)
        server.close()
        ends.close()
        tells.close()


def connect(port: int) -> socket.socket:
    return socket.create_connection((HOST, port), NET_S)


def answer(channel: socket.socket, request: str, *arguments: int) -> dict[str, object]:
    channel.sendall(json.dumps({"id": 0, "request": request, "arguments": arguments}).encode() + b"\n")
    data = b""
    while not data.endswith(b"\n"):
        more = channel.recv(1 << 16)
        assert more, "the server has closed the connection"
        data += more
    found: dict[str, object] = json.loads(data)
    return found


def is_served(port: int) -> bool:
    with connect(port) as channel:
        return answer(channel, "open")["status"] == 0 and answer(channel, "read_dp", 0)["result"] == 0x6BA0_2477


def test_only_this_computer_is_served() -> None:
    with served() as (port, _, _):
        assert HOST == "127.0.0.1"
        assert is_served(port)


def test_one_debugger_at_a_time_and_the_next_one_after_it() -> None:
    with served() as (port, openocd, _):
        with connect(port) as first, connect(port) as second, connect(openocd) as third:
            assert answer(first, "open")["status"] == 0
            assert answer(second, "open")["status"] == 3
            third.sendall(b"R")
            assert third.recv(1) == b""
            assert answer(first, "read_dp", 0)["status"] == 0
        assert is_served(port)


def test_a_thousand_connections_leave_the_server_as_it_was() -> None:
    with served() as (port, openocd, _):
        for i in range(1000):
            connect(openocd if i % 2 else port).close()
        with ExitStack() as held:
            for _ in range(2 * MOST_CONNECTIONS):
                held.enter_context(connect(port))
        assert is_served(port)


def test_a_debugger_that_uses_the_board_is_not_disturbed_by_others() -> None:
    with served() as (port, _, _), connect(port) as channel, ExitStack() as held:
        assert answer(channel, "open")["status"] == 0
        for _ in range(2 * MOST_CONNECTIONS):
            held.enter_context(connect(port))
        assert answer(channel, "read_dp", 0)["status"] == 0


def test_garbage_leaves_the_server_as_it_was() -> None:
    random = Random(36)
    with served() as (port, openocd, _):
        for number in (port, openocd) * 20:
            with connect(number) as channel:
                channel.sendall(random.randbytes(random.randrange(1, 2000)))
        assert is_served(port)


def test_half_a_request_waits_for_the_rest() -> None:
    with served() as (port, _, _), connect(port) as channel:
        channel.sendall(b'{"id": 3, "requ')
        assert is_served(port)
        channel.sendall(b'est": "hello", "arguments": [1]}\n')
        assert json.loads(channel.recv(1000)) == {"id": 3, "status": 0}


def test_a_debugger_that_reads_nothing_does_not_stop_others() -> None:
    with served() as (port, _, _):
        with connect(port) as deaf:
            deaf.settimeout(0.2)
            line = json.dumps({"id": 1, "request": "x" * 30_000}).encode() + b"\n"
            try:
                for _ in range(2000):
                    deaf.sendall(line)
            except OSError:
                pass
            assert is_served(port)
        assert is_served(port)


def test_a_port_in_use_has_an_error_of_its_own() -> None:
    port, _ = fake_port()
    with served() as (used, _, _), pytest.raises(N6Error, match="N6-PROBE-002"):
        ProbeServer(port, [(used, PyocdFront)])


def test_the_end_of_the_board_ends_the_server() -> None:
    port, machine = fake_port()

    def gone() -> None:
        raise BoardGone("no answer")

    machine.state = gone  # type: ignore[assignment,method-assign]
    server = ProbeServer(port, [(0, PyocdFront)])
    with connect(server.ports[0]) as channel, pytest.raises(N6Error, match="N6-PROBE-003"):
        for request in ('"open"', '"write_dp", "arguments": [8, 16777216]', '"read_ap", "arguments": [0]'):
            channel.sendall(f'{{"id": 1, "request": {request}}}\n'.encode())
        for _ in range(10):
            server.serve(NET_S)
    server.close()
