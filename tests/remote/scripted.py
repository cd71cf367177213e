"""A server that follows a test's script.

It shows faults that no real server shows on demand. It keeps the blobs that it receives, and answers
each Execute and WaitExecution by the next line of the script.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
from n6build.engine.remote.messages import (
    BATCH_READ_BLOBS,
    BATCH_UPDATE_BLOBS,
    CLASSES,
    COMPLETED,
    EXECUTE,
    EXECUTING,
    FIND_MISSING_BLOBS,
    GET_CAPABILITIES,
    QUEUED,
    SHA256,
    WAIT_EXECUTION,
    message,
)

# One stream: operations, until an exception or the end.
Line = Callable[[], Iterator[Any]]


@dataclass
class Scripted:
    """A server and its script.

    Attributes:
        blobs: Stored blobs by hash.
        script: The streams to come, of which the last is repeated.
        asked: The calls in order, 'execute' or 'wait'.
        action: Hash of the latest action to be executed.
        executes: True if the server offers workers.
    """

    address: str = ""
    blobs: dict[str, bytes] = field(default_factory=dict)
    script: list[Line] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    action: str = ""
    executes: bool = True

    def stream(self, kind: str) -> Iterator[Any]:
        """Return the stream of the script's next line."""
        self.asked.append(kind)
        line = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        return line()

    def put(self, data: bytes) -> Any:
        """Store a blob as a worker would; return its digest."""
        from n6build.engine.remote.store import blob_of

        digest = blob_of(data).digest
        self.blobs[digest.hash] = data
        return digest.message()


def operation(stage: int, response: Any = None, *, name: str = "operation", **more: Any) -> Any:
    """Return an operation in this stage.

    Args:
        stage: Stage of the action.
        response: An ExecuteResponse, with which the operation is done.
        name: Name of the operation.
        more: Further fields of the operation.
    """
    made = message("Operation", name=name, done=response is not None, **more)
    # The server's clock is years behind.
    metadata = message("ExecuteOperationMetadata", stage=stage)
    metadata.partial_execution_metadata.queued_timestamp.seconds = 1
    made.metadata.Pack(metadata)
    if response is not None:
        made.response.Pack(response)
    return made


def response(*, code: int = 0, text: str = "", cached: bool = False, **result: Any) -> Any:
    """Return an ExecuteResponse.

    Args:
        code: Code of the status.
        text: Message of the status.
        cached: True if the result comes from the cache.
        result: Fields of the ActionResult.
    """
    status = message("Status", code=code, message=text)
    return message("ExecuteResponse", status=status, result=message("ActionResult", **result), cached_result=cached)


def says(*operations: Any) -> Line:
    """Return a stream that ends without an error."""
    return lambda: iter(operations)


def breaks(code: grpc.StatusCode, *operations: Any) -> Line:
    """Return a stream that ends in an error."""

    def line() -> Iterator[Any]:
        yield from operations
        raise _Broken(code)

    return line


def does(scripted: Scripted, folder: Path, **variables: str) -> Line:
    """Return the stream of a worker that uses nothing but the server's blobs.

    Args:
        scripted: The server.
        folder: A new folder for the action.
        variables: Variables that the worker sets, in place of those of the action.
    """

    def line() -> Iterator[Any]:
        def blob(kind: str, digest: Any) -> Any:
            return CLASSES[kind].FromString(scripted.blobs[digest.hash])

        def lay_out(digest: Any, to: Path) -> None:
            to.mkdir(parents=True)
            directory = blob("Directory", digest)
            for each in directory.files:
                (to / each.name).write_bytes(scripted.blobs[each.digest.hash] if each.digest.size_bytes else b"")
            for each in directory.directories:
                lay_out(each.digest, to / each.name)

        action = CLASSES["Action"].FromString(scripted.blobs[scripted.action])
        command = blob("Command", action.command_digest)
        lay_out(action.input_root_digest, folder)
        where = folder / command.working_directory
        environment = {"PATH": os.pathsep.join((str(Path(sys.executable).parent), os.defpath))}
        environment |= {each.name: each.value for each in command.environment_variables}
        environment |= variables
        for path in command.output_paths:
            (where / path).parent.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(command.arguments, cwd=where, env=environment, capture_output=True, check=False)
        made = [
            message("OutputFile", path=path, digest=scripted.put((where / path).read_bytes()))
            for path in command.output_paths
            if (where / path).is_file()
        ]
        yield WORKS
        yield operation(
            COMPLETED,
            response(output_files=made, exit_code=done.returncode, stdout_raw=done.stdout, stderr_raw=done.stderr),
        )

    return line


WAITS, WORKS = operation(QUEUED), operation(EXECUTING)


class _Broken(Exception):
    def __init__(self, code: grpc.StatusCode) -> None:
        self.code = code


class _Handler(grpc.GenericRpcHandler):  # type: ignore[misc]
    def __init__(self, scripted: Scripted) -> None:
        self._scripted = scripted

    def service(self, details: Any) -> Any:
        scripted = self._scripted
        unary: dict[str, tuple[str, Callable[[Any], Any]]] = {
            GET_CAPABILITIES.path: ("GetCapabilitiesRequest", lambda _: _capabilities(scripted)),
            FIND_MISSING_BLOBS.path: ("FindMissingBlobsRequest", lambda asked: _missing(asked, scripted)),
            BATCH_UPDATE_BLOBS.path: ("BatchUpdateBlobsRequest", lambda asked: _update(asked, scripted)),
            BATCH_READ_BLOBS.path: ("BatchReadBlobsRequest", lambda asked: _read(asked, scripted)),
        }
        streams = {EXECUTE.path: ("ExecuteRequest", "execute"), WAIT_EXECUTION.path: ("WaitExecutionRequest", "wait")}
        if details.method in unary:
            kind, answer = unary[details.method]
            return grpc.unary_unary_rpc_method_handler(
                lambda request, _: answer(request), CLASSES[kind].FromString, lambda made: made.SerializeToString()
            )
        if details.method in streams:
            kind, name = streams[details.method]
            return grpc.unary_stream_rpc_method_handler(
                lambda request, context: _streamed(scripted, name, request, context),
                CLASSES[kind].FromString,
                lambda made: made.SerializeToString(),
            )
        return None


def _streamed(scripted: Scripted, kind: str, request: Any, context: Any) -> Iterator[Any]:
    if kind == "execute":
        scripted.action = request.action_digest.hash
    try:
        yield from scripted.stream(kind)
    except _Broken as error:
        context.abort(error.code, "as the script says")


def _capabilities(scripted: Scripted) -> Any:
    return message(
        "ServerCapabilities",
        cache_capabilities=message("CacheCapabilities", digest_functions=[SHA256]),
        execution_capabilities=message("ExecutionCapabilities", exec_enabled=scripted.executes),
    )


def _missing(asked: Any, scripted: Scripted) -> Any:
    absent = [each for each in asked.blob_digests if each.hash not in scripted.blobs]
    return message("FindMissingBlobsResponse", missing_blob_digests=absent)


def _update(asked: Any, scripted: Scripted) -> Any:
    scripted.blobs.update({each.digest.hash: each.data for each in asked.requests})
    return message(
        "BatchUpdateBlobsResponse", responses=[message("WrittenBlob", digest=each.digest) for each in asked.requests]
    )


def _read(asked: Any, scripted: Scripted) -> Any:
    found = [
        message("ReadBlob", digest=each, data=scripted.blobs[each.hash])
        if each.hash in scripted.blobs
        else message("ReadBlob", digest=each, status=message("Status", code=5))
        for each in asked.digests
    ]
    return message("BatchReadBlobsResponse", responses=found)


@contextmanager
def scripted_server() -> Iterator[Scripted]:
    """Yield a server on the loopback address."""
    scripted = Scripted()
    server = grpc.server(ThreadPoolExecutor(16))
    server.add_generic_rpc_handlers((_Handler(scripted),))
    scripted.address = f"grpc://127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    try:
        yield scripted
    finally:
        server.stop(None).wait()
