"""Servers that are gone, slow, full or lying.

A step is fetched correctly or done here, and the fault is reported once.
"""

from __future__ import annotations

import random
import re
import threading
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import grpc
import pytest
from build_grid import free_port
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from n6build.base.errors import N6Error
from n6build.engine.cache import Cache, open_cache
from n6build.engine.local import local_site
from n6build.engine.perform import Site
from n6build.engine.remote.messages import message
from n6build.engine.remote.server_store import ServerStore, open_server
from n6build.engine.remote.store import blob_of
from n6build.engine.step import Step
from n6build.engine.work import Work, work_of

from remote.odd_server import OddServer, odd_server

SMALL, LARGE = b"small" * 100, random.Random(1).randbytes(5_000_000)


@pytest.fixture
def server() -> Iterator[OddServer]:
    with odd_server() as server:
        yield server


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """Return a site whose step has made a small and a large file."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").write_text("input")
    make(tmp_path)
    return local_site(tmp_path / "build", {})


def make(top: Path) -> None:
    (top / "small").write_bytes(SMALL)
    (top / "large").write_bytes(LARGE)


def work(site: Site) -> Work:
    step = Step("Copy", "copy", ("small", "large"), ("in",), command=("cp", "in", "small"))
    found = work_of(step, site, ())
    assert found is not None
    return found


def taken_away(site: Site) -> None:
    for name in ("small", "large"):
        (site.top / name).unlink()


def kept(server: OddServer, site: Site) -> Cache:
    """Return a cache that has the step, whose local files are gone."""
    cache = Cache(open_server(server.address), may_write=True)
    cache.keep(work(site), site)
    cache.finish()
    assert cache.kept == 1
    taken_away(site)
    return Cache(open_server(server.address), may_write=True)


@pytest.mark.parametrize("zstd", [False, True])
def test_what_was_kept_is_fetched_compressed_where_the_server_can(zstd: bool, site: Site) -> None:
    with odd_server(zstd=zstd) as server:
        cache = kept(server, site)
        assert isinstance(cache.store, ServerStore)
        assert cache.fetch(work(site), site)
        received = cache.store.connection.traffic.received
    assert (site.top / "small").read_bytes() == SMALL
    assert (site.top / "large").read_bytes() == LARGE
    assert (received < len(SMALL) / 4 + len(LARGE) + 1000) == zstd or not zstd
    assert (site.top / "in").read_text() == "input"


def other(data: bytes) -> bytes:
    return data[:-1] + bytes([data[-1] ^ 1])


def lie_about_small(server: OddServer) -> None:
    def answer(request: Any, context: Any) -> Any:
        right = server.BatchReadBlobs(request, context)
        for each in right.responses:
            each.data = other(each.data)
        return right

    server.instead["BatchReadBlobs"] = answer


def lie_about_large(server: OddServer) -> None:
    def answer(request: Any, context: Any) -> Iterator[Any]:
        for each in server.Read(request, context):
            yield message("ReadResponse", data=other(each.data))

    server.instead["Read"] = answer


def stops(server: OddServer) -> None:
    """Let the server stop after half of a file, with the connection open."""
    server.instead["Read"] = lambda request, context: _half(server, request, context)


def _half(server: OddServer, request: Any, context: Any) -> Iterator[Any]:
    yield next(iter(server.Read(request, context)))
    over = threading.Event()
    context.add_callback(over.set)
    over.wait(60)


def too_much(server: OddServer) -> None:
    def answer(request: Any, context: Any) -> Iterator[Any]:
        yield from server.Read(request, context)
        while context.is_active():
            yield message("ReadResponse", data=bytes(100_000))

    server.instead["Read"] = answer


def too_little(server: OddServer) -> None:
    def answer(request: Any, context: Any) -> Iterator[Any]:
        yield next(iter(server.Read(request, context)))

    server.instead["Read"] = answer


def result_without_files(server: OddServer) -> None:
    server.instead["GetActionResult"] = lambda request, context: message("ActionResult")


def inline_lie(server: OddServer) -> None:
    """Let the server send other content in the answer: only the digest counts."""

    def answer(request: Any, context: Any) -> Any:
        right = server.GetActionResult(request, context)
        right.output_files[0].contents = b"lie"
        right.output_files[1].digest.size_bytes = -3
        return right

    server.instead["GetActionResult"] = answer


@pytest.mark.parametrize(
    "lie", [lie_about_small, lie_about_large, too_much, too_little, result_without_files, inline_lie]
)
def test_a_lie_is_a_miss_and_is_said_once(
    lie: Callable[[OddServer], None], server: OddServer, site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    cache = kept(server, site)
    lie(server)
    capsys.readouterr()
    assert not cache.fetch(work(site), site)
    assert not cache.fetch(work(site), site)
    said = capsys.readouterr().out
    assert len(re.findall("N6-REMOTE-006: .*, this computer runs the step", said)) == said.count("\n") == 1
    assert not (site.top / "large").exists()
    # The server may send the truth about the next step.
    server.instead.clear()
    server.results.clear()
    make(site.top)
    cache.keep(work(site), site)
    cache.finish()
    assert cache.kept == 1


def test_a_server_that_forgets_a_file_has_not_got_the_step(server: OddServer, site: Site) -> None:
    for data in (SMALL, LARGE):
        cache = kept(server, site)
        del server.blobs[blob_of(data).digest.hash]
        assert not cache.fetch(work(site), site)
        make(site.top)


def test_a_server_that_is_not_there_costs_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    address = f"grpc://127.0.0.1:{free_port()}/main"
    assert open_cache(address, lambda: open_server(address), may_write=True) is None
    said = capsys.readouterr().out
    assert "N6-REMOTE-003" in said
    assert said.count("\n") == 1
    with pytest.raises(N6Error, match="N6-REMOTE-001"):
        open_cache("http://host", lambda: open_server("http://host"), may_write=True)


def test_a_server_that_is_killed_in_the_middle_is_asked_no_more(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    with odd_server() as server:
        cache = kept(server, site)
        capsys.readouterr()
    assert not cache.fetch(work(site), site)
    make(site.top)
    cache.keep(work(site), site)
    assert not cache.fetch(work(site), site)
    cache.finish()
    said = capsys.readouterr().out
    assert len(re.findall("N6-REMOTE-003: .*, continuing without this cache", said)) == said.count("\n") == 1


def test_a_slow_server_is_waited_for_once(
    server: OddServer, site: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("N6BUILD_REMOTE_TIMEOUT", "0.3")
    cache = Cache(open_server(server.address), may_write=True)
    over = threading.Event()
    server.instead["GetActionResult"] = lambda request, context: over.wait(60)
    assert not cache.fetch(work(site), site)
    assert not cache.fetch(work(site), site)
    over.set()
    assert server.asked.count("GetActionResult") == 1
    assert "no answer in 0.3 s, continuing without this cache" in capsys.readouterr().out


def test_a_server_that_stops_in_the_middle_of_a_file_is_waited_for_once(
    server: OddServer, site: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("N6BUILD_REMOTE_TIMEOUT", "0.3")
    cache = kept(server, site)
    stops(server)
    assert not cache.fetch(work(site), site)
    assert not cache.fetch(work(site), site)
    assert server.asked.count("Read") == 1
    assert "no answer in 0.3 s, continuing without this cache" in capsys.readouterr().out


def full(request: Any, context: Any) -> Any:
    context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "the disk is full")


def test_a_server_that_lacks_something_for_what_it_is_asked_ends_no_build(
    server: OddServer, site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    """The status FAILED_PRECONDITION also means a missing worker."""
    server.instead["GetActionResult"] = lambda _, context: context.abort(
        grpc.StatusCode.FAILED_PRECONDITION, "no index"
    )
    assert not Cache(open_server(server.address), may_write=True).fetch(work(site), site)
    said = capsys.readouterr().out
    assert "N6-REMOTE-005: the server has lost a file: no index, continuing without this cache" in said


@pytest.mark.parametrize("method", ["BatchUpdateBlobs", "Write", "UpdateActionResult"])
def test_a_full_server_is_still_read(
    method: str, server: OddServer, site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    kept(server, site)
    make(site.top)
    server.blobs.clear()
    server.instead[method] = full
    capsys.readouterr()
    cache = Cache(open_server(server.address), may_write=True)
    for _ in range(2):
        cache.keep(work(site), site)
    cache.finish()
    said = capsys.readouterr().out
    assert "N6-REMOTE-005" in said
    assert said.count("the disk is full, no further results go into this cache") == said.count("\n") == 1
    assert cache.may_read


def test_who_may_not_write_reads(
    site: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with odd_server(tokens=("of-ci",)) as server:
        cache = Cache(open_server(server.address), may_write=True)
        cache.keep(work(site), site)
        cache.finish()
        assert "N6-REMOTE-004: the server rejects the request: only CI may write" in capsys.readouterr().out
        assert server.results == {}
        monkeypatch.setenv("N6BUILD_REMOTE_TOKEN", "of-ci")
        kept(server, site)
        monkeypatch.delenv("N6BUILD_REMOTE_TOKEN")
        assert Cache(open_server(server.address), may_write=False).fetch(work(site), site)


def self_signed() -> tuple[bytes, bytes]:
    """Return a key and a certificate of localhost."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    made = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key()).serial_number(1)
    made = made.not_valid_before(datetime(2000, 1, 1)).not_valid_after(datetime(2200, 1, 1))
    made = made.add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
    certificate = made.sign(key, hashes.SHA256()).public_bytes(Encoding.PEM)
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()), certificate


def test_a_server_is_known_by_its_certificate(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    key, certificate = self_signed()
    with odd_server(certificate=(key, certificate), tokens=("of-ci",)) as server:
        with pytest.raises(N6Error, match="N6-REMOTE-003"):
            open_server(server.address)
        (site.top / "ca.pem").write_bytes(certificate)
        monkeypatch.setenv("N6BUILD_REMOTE_CA", str(site.top / "ca.pem"))
        monkeypatch.setenv("N6BUILD_REMOTE_TOKEN", "of-ci")
        assert kept(server, site).fetch(work(site), site)


ANSWERS = st.binary(max_size=80) | st.builds(
    lambda path, hash, size, data: message(
        "ActionResult",
        output_files=[{"path": path, "digest": {"hash": hash, "size_bytes": size}, "contents": data}] * 2,
    ).SerializeToString(),
    st.sampled_from(["small", "large", "../../etc", ""]),
    st.sampled_from([blob_of(SMALL).digest.hash, "0" * 64, "../" * 9, ""]),
    st.integers(-1, 1 << 62),
    st.binary(max_size=20),
)
METHODS = ("GetActionResult", "BatchReadBlobs", "FindMissingBlobs", "BatchUpdateBlobs", "Read", "Write")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.sampled_from(METHODS), ANSWERS, min_size=1))
def test_whatever_a_server_says_the_files_are_right_or_the_step_is_done_here(
    server: OddServer, site: Site, answers: dict[str, bytes]
) -> None:
    server.instead.clear()
    make(site.top)
    cache = kept(server, site)
    before = sorted(path.name for path in site.top.iterdir())
    for name, data in answers.items():
        server.instead[name] = (lambda *_, data=data: iter([data])) if name == "Read" else (lambda *_, data=data: data)
    if cache.fetch(work(site), site):
        assert (site.top / "small").read_bytes() == SMALL
        assert (site.top / "large").read_bytes() == LARGE
    make(site.top)
    cache.keep(work(site), site)
    cache.finish()
    assert {path.name for path in site.top.iterdir()} == {*before, "small", "large"}
