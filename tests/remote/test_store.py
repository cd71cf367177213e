"""Files and results on a real server."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from build_grid import Server
from n6build.engine.remote.address import Access, parse_address
from n6build.engine.remote.connection import Connection, connected
from n6build.engine.remote.messages import message
from n6build.engine.remote.server_store import known_result, remember_result
from n6build.engine.remote.store import (
    EMPTY,
    Digest,
    blob_of,
    blob_of_file,
    download,
    missing,
    pieces_of_file,
    read_blobs,
    upload,
)

ABSENT = Digest("0" * 64, 5)
LARGE = Digest("1" * 64, 64 << 20)


@pytest.fixture
def connection(server: Server) -> Iterator[Connection]:
    with connected(parse_address(server.address), Access()) as connection:
        yield connection


def noise(size: int, seed: int) -> bytes:
    return random.Random(seed).randbytes(size)


def test_files_come_back_as_they_were_sent(connection: Connection, tmp_path: Path) -> None:
    """Small files go together in several calls, large ones as streams.

    Some of them are in memory, others are not.
    """
    large = tmp_path / "large"
    large.write_bytes(noise(9_000_000, 1))
    blobs = [blob_of(b""), *(blob_of(noise(1_000_000, seed)) for seed in range(2, 8)), blob_of_file(str(large))]
    blobs.append(blob_of(noise(5_000_000, 9)))
    digests = [blob.digest for blob in blobs]
    assert missing(connection, digests) == {*digests} - {EMPTY}
    assert upload(connection, blobs) == 20_000_000
    assert missing(connection, digests) == set()
    assert upload(connection, blobs) == 0
    found = read_blobs(connection, [*digests, ABSENT, LARGE])
    assert found == {blob.digest: large.read_bytes() if blob.data is None else blob.data for blob in blobs}
    for blob in blobs:
        assert download(connection, blob.digest, tmp_path / "back")
        assert (tmp_path / "back").read_bytes() == found[blob.digest]
    assert not download(connection, ABSENT, tmp_path / "absent")
    assert not download(connection, LARGE, tmp_path / "absent")
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["back", "large"]


def test_a_file_is_stored_in_pieces_of_which_equal_ones_are_sent_once(connection: Connection, tmp_path: Path) -> None:
    """The file is an erased memory with some bytes at its end.

    The pieces do not stay in memory.
    """
    large = tmp_path / "large"
    large.write_bytes(bytes(3 << 18) + noise(1000, 10))
    pieces = pieces_of_file(str(large))
    assert [(each.offset >> 18, each.digest.size, each.data) for each in pieces] == [
        (0, 1 << 18, None),
        (1, 1 << 18, None),
        (2, 1 << 18, None),
        (3, 1000, None),
    ]
    assert upload(connection, pieces) == (1 << 18) + 1000
    found = read_blobs(connection, {each.digest for each in pieces})
    assert b"".join(found[each.digest] for each in pieces) == large.read_bytes()
    large.write_bytes(b"")
    assert [each.digest for each in pieces_of_file(str(large))] == [EMPTY]
    with pytest.raises(FileNotFoundError):
        pieces_of_file(str(tmp_path / "absent"))


def test_a_result_is_remembered_with_its_files(connection: Connection) -> None:
    made = blob_of(b"made")
    command = blob_of(message("Command", arguments=["true"]).SerializeToString())
    root = blob_of(message("Directory").SerializeToString())
    action = message(
        "Action", command_digest=command.digest.message(), input_root_digest=root.digest.message(), salt=b"test"
    )
    stored = blob_of(action.SerializeToString())
    assert known_result(connection, stored.digest) is None
    upload(connection, [made, command, stored])
    result = message("ActionResult", output_files=[message("OutputFile", path="out", digest=made.digest.message())])
    remember_result(connection, stored.digest, result)
    found = known_result(connection, stored.digest)
    assert found is not None
    (file,) = found.output_files
    assert (file.path, file.digest.hash) == ("out", made.digest.hash)
