"""Files on a server, by their digest.

Only files that the server lacks are sent. Received files are accepted only if their digest is right.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import zstandard
from google.protobuf.message import Message

from n6build.base.errors import N6Error
from n6build.base.files import read_in_chunks, write_chunks_atomically
from n6build.base.regular_file import open_regular
from n6build.base.uses import digest_of
from n6build.engine.remote.connection import Connection, call, receive, send, wrong_answer
from n6build.engine.remote.messages import (
    BATCH_READ_BLOBS,
    BATCH_UPDATE_BLOBS,
    FIND_MISSING_BLOBS,
    IDENTITY,
    READ,
    SHA256,
    WRITE,
    ZSTD,
    message,
)

T = TypeVar("T")

_CHUNK = 256 << 10
_PIECE = 256 << 10
# Digests in one request; each takes some 80 bytes.
_ASKED_AT_ONCE = 10_000
# Files up to this size are requested together, and are in memory at once.
_TOGETHER = 1 << 20
# Bytes that a digest and a status add to a blob in one call.
_OVERHEAD = 256
# A frame of zstd saves nothing below this size.
_WORTH_COMPRESSING = 128
# A kilobyte of a frame can expand to 32 MiB, so data is expanded in pieces of this size.
_EXPANDED_AT_ONCE = 1 << 10
_OK, _NOT_FOUND = 0, 5


@dataclass(frozen=True, order=True)
class Digest:
    """The digest of a file. hash: SHA-256, 64 hexadecimal digits. size: bytes."""

    hash: str
    size: int

    def message(self) -> Message:
        """Return the digest as a message for requests."""
        return message("Digest", hash=self.hash, size_bytes=self.size)


EMPTY = Digest(hashlib.sha256().hexdigest(), 0)


@dataclass(frozen=True)
class Blob:
    """A file, or a part of one, to be stored.

    Attributes:
        data: content of a small blob; None if it is read from the file when it is sent.
        path: file with the content.
        offset: first byte in the file.
    """

    digest: Digest
    data: bytes | None = None
    path: str = ""
    offset: int = 0


def blob_of(data: bytes) -> Blob:
    """Return a blob with this data, which stays in memory."""
    return Blob(Digest(hashlib.sha256(data).hexdigest(), len(data)), data)


def blob_of_file(path: str) -> Blob:
    """Return a blob of a file, which must not change until it is sent.

    Raises FileNotFoundError if the file cannot be read.
    """
    digest = digest_of(path)
    if not digest:
        raise FileNotFoundError(path)
    return Blob(Digest(digest, Path(path).stat().st_size), None, path)


def pieces_of_file(path: str) -> tuple[Blob, ...]:
    """Return a file as pieces of 256 KiB, in their order, at least one.

    Most pieces of an erased memory are the same. Conditions are those of `blob_of_file`.
    """
    blobs: list[Blob] = []
    try:
        with open_regular(path) as file:
            while data := file.read(_PIECE):
                blobs.append(Blob(blob_of(data).digest, None, path, len(blobs) * _PIECE))
    except OSError as error:
        raise FileNotFoundError(path) from error
    return tuple(blobs) or (Blob(EMPTY, b""),)


def digest_from(answered: Message, connection: Connection) -> Digest:
    """Return a digest in an answer. Raises N6-REMOTE-006 if it is invalid."""
    if len(answered.hash) != 64 or set(answered.hash) - set("0123456789abcdef") or answered.size_bytes < 0:
        raise wrong_answer(connection, f"'{answered.hash[:80]}/{answered.size_bytes}' is not a digest")
    return Digest(answered.hash, answered.size_bytes)


def missing(connection: Connection, digests: Collection[Digest]) -> set[Digest]:
    """Return the digests that the server does not have.

    Raises:
        N6Error: N6-REMOTE-003 to N6-REMOTE-006, as all functions below.
    """
    wanted = sorted(set(digests) - {EMPTY})
    absent: set[Digest] = set()
    for start in range(0, len(wanted), _ASKED_AT_ONCE):
        asked = [each.message() for each in wanted[start : start + _ASKED_AT_ONCE]]
        request = message(
            "FindMissingBlobsRequest", instance_name=connection.instance, blob_digests=asked, digest_function=SHA256
        )
        answer = _required(call(connection, FIND_MISSING_BLOBS, request, size=80 * len(asked)), connection)
        absent |= {digest_from(each, connection) for each in answer.missing_blob_digests}
    if not absent <= set(wanted):
        raise wrong_answer(connection, "the server reports missing files that n6build did not name")
    return absent


def upload(connection: Connection, blobs: Iterable[Blob]) -> int:
    """Send the blobs that the server lacks, and return their bytes before compression.

    Small blobs are sent together, large ones as streams.
    """
    known = {blob.digest: blob for blob in blobs}
    absent = [known[digest] for digest in sorted(missing(connection, known))]
    small = [blob for blob in absent if blob.digest.size + _OVERHEAD <= connection.abilities.batch]
    for group in _batches(small, lambda blob: blob.digest.size, connection.abilities.batch):
        _write_batch(connection, group)
    for blob in absent:
        if blob.digest.size + _OVERHEAD > connection.abilities.batch:
            _write_stream(connection, blob)
    return sum(blob.digest.size for blob in absent)


def read_blobs(connection: Connection, digests: Collection[Digest]) -> dict[Digest, bytes]:
    """Return the contents of those blobs that the server has; all must fit in memory."""
    found = {EMPTY: b""} if EMPTY in digests else {}
    wanted = sorted(set(digests) - {EMPTY})
    small = [each for each in wanted if each.size + _OVERHEAD <= connection.abilities.batch]
    for group in _batches(small, lambda digest: digest.size, connection.abilities.batch):
        found |= _read_batch(connection, group)
    for digest in wanted:
        if digest.size + _OVERHEAD > connection.abilities.batch:
            chunks = list(_checked(connection, digest, _read_stream(connection, digest)))
            if chunks:
                found[digest] = b"".join(chunks)
    return found


def download(connection: Connection, digest: Digest, path: Path) -> bool:
    """Write a file completely or not at all, and return whether the server had it.

    The file is not held in memory.

    Raises:
        N6Error: N6-REMOTE-003 to N6-REMOTE-006; N6-FILE-001 if it cannot be written.
    """
    if digest.size + _OVERHEAD <= connection.abilities.batch:
        found = read_blobs(connection, [digest])
        if digest in found:
            write_chunks_atomically(path, [found[digest]])
        return digest in found
    try:
        write_chunks_atomically(path, _present(_checked(connection, digest, _read_stream(connection, digest))))
    except _AbsentError:
        return False
    return True


def download_all(connection: Connection, files: Mapping[Path, Digest], known: Mapping[Digest, bytes]) -> Path | None:
    """Write each file as `download` does, small ones with one call.

    Args:
        connection: the connection.
        files: digest of each file to write.
        known: contents that are here already.

    Returns:
        A file that the server does not have, None if it has all.
    """
    together = {digest for digest in files.values() if digest.size <= _TOGETHER} - known.keys()
    contents = {**known, **read_blobs(connection, together)}
    absent = [path for path, digest in files.items() if digest in together and digest not in contents]
    if absent:
        return absent[0]
    for path, digest in files.items():
        if digest in contents:
            write_chunks_atomically(path, [contents[digest]])
        elif not download(connection, digest, path):
            return path
    return None


class _AbsentError(Exception):
    """A blob that the server does not have; nothing was written."""


def _present(chunks: Iterable[bytes]) -> Iterator[bytes]:
    first = True
    for chunk in chunks:
        first = False
        yield chunk
    if first:
        raise _AbsentError


def _batches(items: Sequence[T], size_of: Callable[[T], int], limit: int) -> Iterator[list[T]]:
    group: list[T] = []
    total = 0
    for item in items:
        size = size_of(item) + _OVERHEAD
        if group and total + size > limit:
            yield group
            group, total = [], 0
        group.append(item)
        total += size
    if group:
        yield group


def _required(answer: Message, connection: Connection) -> Message:
    if answer is None:
        raise wrong_answer(connection, f"the server has no instance '{connection.instance}', or not this service")
    return answer


def _content(blob: Blob) -> bytes:
    return b"".join(_pieces(blob)) if blob.data is None else blob.data


def _pieces(blob: Blob) -> Iterator[bytes]:
    if blob.data is not None:
        return _cut(blob.data)
    return read_in_chunks(Path(blob.path), _CHUNK, offset=blob.offset, size=blob.digest.size)


def _cut(data: bytes) -> Iterator[bytes]:
    return (data[start : start + _CHUNK] for start in range(0, len(data), _CHUNK))


def _write_batch(connection: Connection, blobs: Sequence[Blob]) -> None:
    requests, sent = [], 0
    for blob in blobs:
        data, how = _content(blob), IDENTITY
        if connection.abilities.batched_zstd and len(data) >= _WORTH_COMPRESSING:
            data, how = zstandard.compress(data), ZSTD
        sent += len(data)
        requests.append(message("BlobToWrite", digest=blob.digest.message(), data=data, compressor=how))
    request = message(
        "BatchUpdateBlobsRequest", instance_name=connection.instance, requests=requests, digest_function=SHA256
    )
    answer = _required(call(connection, BATCH_UPDATE_BLOBS, request, size=sent), connection)
    connection.traffic.add(sent=sent)
    statuses = {digest_from(each.digest, connection): each.status for each in answer.responses}
    for blob in blobs:
        if blob.digest not in statuses:
            raise wrong_answer(connection, f"the server does not report the state of {blob.digest.hash}")
        _check_status(connection, statuses[blob.digest])


def _check_status(connection: Connection, status: Message) -> None:
    if status.code != _OK:
        raise N6Error(
            "N6-REMOTE-005",
            f"the server failed: {status.message[:300] or f'status {status.code}'}",
            where=str(connection.address),
        )


def _write_stream(connection: Connection, blob: Blob) -> None:
    """Send a blob as a stream, compressed if the server accepts that."""
    zstd, sent = connection.abilities.zstd, 0
    kind = "compressed-blobs/zstd" if zstd else "blobs"
    parts = (connection.instance, "uploads", str(uuid.uuid4()), kind, blob.digest.hash, str(blob.digest.size))
    name = "/".join(part for part in parts if part)

    def requests() -> Iterator[Message]:
        nonlocal sent
        sent = 0
        for data in _compressed(_pieces(blob)) if zstd else _pieces(blob):
            yield message("WriteRequest", resource_name="" if sent else name, write_offset=sent, data=data)
            sent += len(data)
        yield message("WriteRequest", resource_name="" if sent else name, write_offset=sent, finish_write=True)

    answer = _required(send(connection, WRITE, requests, size=blob.digest.size), connection)
    connection.traffic.add(sent=sent)
    # If another client has written the blob meanwhile, the server answers the whole size or -1 without reading all.
    if answer.committed_size not in (sent, blob.digest.size, -1):
        raise wrong_answer(connection, f"the server took {answer.committed_size} of {blob.digest.size} bytes")


def _compressed(pieces: Iterable[bytes]) -> Iterator[bytes]:
    compressor = zstandard.ZstdCompressor().compressobj()
    for piece in pieces:
        if data := compressor.compress(piece):
            yield data
    yield compressor.flush()


def _read_batch(connection: Connection, digests: Sequence[Digest]) -> dict[Digest, bytes]:
    request = message(
        "BatchReadBlobsRequest",
        instance_name=connection.instance,
        digests=[each.message() for each in digests],
        acceptable_compressors=[ZSTD] if connection.abilities.zstd else [],
        digest_function=SHA256,
    )
    size = sum(each.size for each in digests)
    answer = _required(call(connection, BATCH_READ_BLOBS, request, size=size), connection)
    found = {}
    for each in answer.responses:
        digest = digest_from(each.digest, connection)
        if digest not in digests:
            raise wrong_answer(connection, f"the server sends {digest.hash}, which n6build did not request")
        if each.status.code == _NOT_FOUND:
            continue
        _check_status(connection, each.status)
        connection.traffic.add(received=len(each.data))
        pieces = _expanded(connection, [each.data]) if each.compressor == ZSTD else _cut(each.data)
        found[digest] = b"".join(_checked(connection, digest, pieces, known=True))
    return found


def _read_stream(connection: Connection, digest: Digest) -> Iterator[bytes]:
    """Yield the pieces of a blob, none if the server does not have it."""
    zstd = connection.abilities.zstd
    kind = "compressed-blobs/zstd" if zstd else "blobs"
    parts = (connection.instance, kind, digest.hash, str(digest.size))
    request = message("ReadRequest", resource_name="/".join(part for part in parts if part))
    answers = receive(connection, READ, request, timeout_s=connection.access.timeout_s)
    pieces = _counted(connection, (each.data for each in answers))
    return _expanded(connection, pieces) if zstd else pieces


def _counted(connection: Connection, pieces: Iterable[bytes]) -> Iterator[bytes]:
    for piece in pieces:
        connection.traffic.add(received=len(piece))
        yield piece


def _expanded(connection: Connection, pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield expanded data in small parts.

    A small frame may claim to be a huge file. Small parts let the caller stop in time.
    """
    expander = zstandard.ZstdDecompressor().decompressobj()
    try:
        for piece in pieces:
            for start in range(0, len(piece), _EXPANDED_AT_ONCE):
                yield expander.decompress(piece[start : start + _EXPANDED_AT_ONCE])
    except zstandard.ZstdError as error:
        raise wrong_answer(connection, f"the server sends damaged data: {error}") from error


def _checked(
    connection: Connection, digest: Digest, pieces: Iterable[bytes], *, known: bool = False
) -> Iterator[bytes]:
    """Yield the pieces of a blob, the last one only if the digest of all is right.

    Args:
        known: whether the server has said that it has the blob; otherwise no pieces mean that it
            has not.
    """
    hashed, size, last = hashlib.sha256(), 0, None
    for piece in pieces:
        if last is not None:
            yield last
        hashed.update(piece)
        size += len(piece)
        if size > digest.size:
            break
        last = piece
    if last is None and not known and not size:
        return
    if Digest(hashed.hexdigest(), size) != digest:
        raise wrong_answer(connection, f"the server sends other data as {digest.hash}")
    yield last or b""
