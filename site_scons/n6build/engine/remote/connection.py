"""Connections to a server, its abilities, and calls. Needs gRPC (extra `remote`)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from google.protobuf.message import Message

from n6build.base.environment import silence_grpc
from n6build.base.errors import N6Error
from n6build.base.version import version
from n6build.engine.remote.address import Access, Address
from n6build.engine.remote.messages import GET_CAPABILITIES, SHA256, ZSTD, Method, message

silence_grpc()

import grpc  # noqa: E402 - grpc reads the environment when it is loaded.

# Bytes in one message, unless the server wants smaller ones. gRPC's own limit is 4 MiB, and the digests need some of that.
LARGEST_BATCH = (4 << 20) - (64 << 10)
LARGEST_MESSAGE = 16 << 20
# A call's time-out grows by a second for so many bytes. Slower lines are not worth waiting for.
_SLOWEST_BYTES_S = 256 << 10
# Pauses before another try if a server cannot be reached for a moment. A call that timed out is not repeated.
_PAUSES_S = (0.05, 0.2)
_METADATA = "build.bazel.remote.execution.v2.requestmetadata-bin"
# Status codes for missing rights.
_REFUSED = (grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED)


class PreconditionError(N6Error):
    """A refusal because the server lacks something for a request. said: its words."""

    def __init__(self, said: str, where: str) -> None:
        super().__init__("N6-REMOTE-005", f"the server has lost a file: {said}", where=where)
        self.said = said


@dataclass(frozen=True)
class Abilities:
    """The abilities of a server.

    Attributes:
        batch: bytes of small blobs in one call.
        zstd: whether blobs may be compressed in the ByteStream.
        batched_zstd: whether blobs may be compressed in one call for several.
        may_write: whether n6build may write to the action cache, as far as the server reports it.
        executes: whether the server executes actions.
    """

    batch: int = LARGEST_BATCH
    zstd: bool = False
    batched_zstd: bool = False
    may_write: bool = True
    executes: bool = False


@dataclass
class Traffic:
    """Bytes of blobs on the line, sent and received."""

    sent: int = 0
    received: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def add(self, sent: int = 0, received: int = 0) -> None:
        """Add to the numbers. Several threads may call this at once."""
        with self._lock:
            self.sent += sent
            self.received += received


@dataclass(frozen=True)
class Connection:
    """A connection, which several threads may use.

    Attributes:
        channel: channel of gRPC.
        headers: headers of each call.
    """

    address: Address
    access: Access
    channel: Any
    headers: tuple[tuple[str, str | bytes], ...]
    abilities: Abilities = field(default_factory=Abilities)
    traffic: Traffic = field(default_factory=Traffic)

    @property
    def instance(self) -> str:
        """Name of the server's instance, for requests."""
        return self.address.instance


@contextmanager
def connected(address: Address, access: Access) -> Iterator[Connection]:
    """Open a connection for a block. Raises the errors of `connect`."""
    connection = connect(address, access)
    try:
        yield connection
    finally:
        connection.channel.close()


def connect(address: Address, access: Access) -> Connection:
    """Connect to a server, and ask for its abilities.

    Raises:
        N6Error: N6-REMOTE-002 for invalid certificates; N6-REMOTE-003 if there is no answer;
            N6-REMOTE-004 if the server refuses; N6-REMOTE-005 if it lacks a necessary ability.
    """
    options = [
        ("grpc.max_receive_message_length", LARGEST_MESSAGE),
        ("grpc.max_send_message_length", LARGEST_MESSAGE),
        ("grpc.enable_http_proxy", 0 if address.is_loopback else 1),
        # These options detect a server that disappears without closing the connection.
        ("grpc.keepalive_time_ms", 30_000),
        ("grpc.keepalive_timeout_ms", int(access.timeout_s * 1000)),
    ]
    # gRPC compresses only what is cheap to compress: directories, commands, lists of digests.
    if address.secure:
        try:
            credentials = grpc.ssl_channel_credentials(access.authority, access.key, access.certificate)
            channel = grpc.secure_channel(address.target, credentials, options, grpc.Compression.Gzip)
        except (ValueError, RuntimeError) as error:
            raise N6Error("N6-REMOTE-002", f"the certificates cannot be used: {error}") from error
    else:
        channel = grpc.insecure_channel(address.target, options, grpc.Compression.Gzip)
    tool = message("ToolDetails", tool_name="n6build", tool_version=version())
    headers: tuple[tuple[str, str | bytes], ...] = (
        (_METADATA, message("RequestMetadata", tool_details=tool).SerializeToString()),
    )
    if access.token:
        headers = (*headers, ("authorization", f"Bearer {access.token}"))
    connection = Connection(address, access, channel, headers)
    try:
        answer = call(connection, GET_CAPABILITIES, message("GetCapabilitiesRequest", instance_name=address.instance))
        return Connection(address, access, channel, headers, _abilities(answer, address))
    except BaseException:
        channel.close()
        raise


def call(
    connection: Connection, method: Method, request: Message, *, size: int = 0, compressed: bool = True
) -> Message:
    """Return the answer to a request, or None if the server does not have the thing.

    Args:
        connection: the connection.
        method: method of the call.
        request: the request.
        size: bytes of the request or the answer, for the time-out.
        compressed: whether gRPC compresses the request; False if it is compressed already.

    Raises:
        N6Error: N6-REMOTE-003 if there is no answer in time; N6-REMOTE-004 if the server refuses;
            N6-REMOTE-005 for any other failure of the server.
    """
    stub = _stub(connection, method)
    how = None if compressed else grpc.Compression.NoCompression

    def once() -> Message:
        return stub(request, timeout=timeout_for(connection, size), metadata=connection.headers, compression=how)

    return _repeated(connection, once)


def send(connection: Connection, method: Method, requests: Callable[[], Iterable[Message]], *, size: int) -> Message:
    """Return the answer to a stream of requests, as `call` does.

    Each try makes the stream anew.
    """
    stub = _stub(connection, method)

    def once() -> Message:
        limit = timeout_for(connection, size)
        none = grpc.Compression.NoCompression
        return stub(iter(requests()), timeout=limit, metadata=connection.headers, compression=none)

    return _repeated(connection, once)


def receive(connection: Connection, method: Method, request: Message, *, timeout_s: float | None) -> Iterator[Message]:
    """Yield the answers as they arrive; none if the server does not have the thing.

    Args:
        connection: the connection.
        method: method of the call.
        request: the request.
        timeout_s: seconds until the next answer; None for no limit.

    Raises:
        N6Error: as for `call`, but after one try, because the caller may have used some answers.
    """
    answers = _stub(connection, method)(request, metadata=connection.headers)
    try:
        while True:
            # gRPC has a limit for all answers together, but a limit from a size that the server claims would limit nothing.
            limit = None if timeout_s is None else threading.Timer(timeout_s, answers.cancel)
            if limit is not None:
                limit.daemon = True
                limit.start()
            try:
                answer = next(answers)
            except StopIteration:
                return
            finally:
                if limit is not None:
                    limit.cancel()
            yield answer
    except grpc.RpcError as error:
        if error.code() != grpc.StatusCode.NOT_FOUND:
            raise failure(connection, error) from error
    finally:
        # A caller that stops early does not wait for the rest.
        answers.cancel()


def timeout_for(connection: Connection, size: int) -> float:
    """Return the seconds for a call that transports so many bytes."""
    return connection.access.timeout_s + size / _SLOWEST_BYTES_S


def failure(connection: Connection, error: grpc.RpcError) -> N6Error:
    """Return N6-REMOTE-003 to N6-REMOTE-005 for an error of gRPC."""
    code, said = error.code(), (error.details() or "")[:300]
    where = str(connection.address)
    if code in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.CANCELLED):
        slow = code != grpc.StatusCode.UNAVAILABLE
        what = f"no answer in {connection.access.timeout_s:g} s" if slow else f"cannot be reached: {said}"
        return N6Error(
            "N6-REMOTE-003",
            what,
            where=where,
            hint="check address and network, or set a longer time-out with N6BUILD_REMOTE_TIMEOUT" if slow else None,
        )
    if code == grpc.StatusCode.FAILED_PRECONDITION:
        return PreconditionError(said, where)
    if code in _REFUSED:
        hint = "set the token in N6BUILD_REMOTE_TOKEN, or the certificate in N6BUILD_REMOTE_CERT and _KEY"
        return N6Error("N6-REMOTE-004", f"the server rejects the request: {said or code.name}", where=where, hint=hint)
    return N6Error("N6-REMOTE-005", f"the server failed: {code.name}: {said}", where=where)


def wrong_answer(connection: Connection, what: str) -> N6Error:
    """Return N6-REMOTE-006, for an answer that cannot be true."""
    return N6Error(
        "N6-REMOTE-006",
        what,
        where=str(connection.address),
        hint="report this to the server's maker; n6build used nothing of the answer",
    )


def _repeated(connection: Connection, once: Callable[[], Any]) -> Message:
    for pause in (*_PAUSES_S, None):
        try:
            return once()
        except grpc.RpcError as error:
            if error.code() == grpc.StatusCode.NOT_FOUND:
                return None
            if pause is None or error.code() != grpc.StatusCode.UNAVAILABLE:
                raise failure(connection, error) from error
            time.sleep(pause)
    raise AssertionError("the last try ends in an answer or an error")


def _stub(connection: Connection, method: Method) -> Message:
    make = getattr(connection.channel, method.streams)
    return make(method.path, request_serializer=_serialized, response_deserializer=method.answer.FromString)


def _serialized(request: Message) -> bytes:
    data: bytes = request.SerializeToString()
    return data


def _abilities(answer: Message, address: Address) -> Abilities:
    if answer is None:
        raise N6Error("N6-REMOTE-005", f"the server has no instance '{address.instance}'", where=str(address))
    cache = answer.cache_capabilities
    if SHA256 not in cache.digest_functions:
        raise N6Error("N6-REMOTE-005", "the server does not support SHA-256 digests", where=str(address))
    stated = cache.max_batch_total_size_bytes
    return Abilities(
        batch=min(stated, LARGEST_BATCH) if stated > 0 else LARGEST_BATCH,
        zstd=ZSTD in cache.supported_compressors,
        batched_zstd=ZSTD in cache.supported_batch_update_compressors,
        may_write=cache.action_cache_update_capabilities.update_enabled,
        executes=answer.execution_capabilities.exec_enabled,
    )
