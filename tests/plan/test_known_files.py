"""Remembered digests of files are always those that reading would give."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest
from n6build.base import uses
from n6build.engine.known_files import keep_known_files, remember_known_files


@pytest.fixture
def weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a large file, old enough for its times to be trusted, in a fresh process."""
    monkeypatch.setattr(uses, "_digests", {})
    monkeypatch.setattr(uses, "_YOUNG_NS", -1)
    path = tmp_path / "weights.bin"
    path.write_bytes(bytes(uses.LARGE_BYTES))
    return path


def in_another_build(weights: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the digest in a process that knows only the kept digests."""
    keep_known_files(weights.parent)
    monkeypatch.setattr(uses, "_digests", {})
    remember_known_files(weights.parent)
    return uses.digest_of(weights)


def kept_file(weights: Path) -> Path:
    return weights.parent / ".n6build" / "files.json"


def test_a_file_is_read_by_one_build_only(weights: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    digest = uses.digest_of(weights)
    assert digest == hashlib.sha256(weights.read_bytes()).hexdigest()
    monkeypatch.setattr(hashlib, "file_digest", None)
    assert in_another_build(weights, monkeypatch) == digest


def test_a_file_of_the_same_size_and_time_is_read_again(weights: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = uses.digest_of(weights)
    found = weights.stat()
    weights.write_bytes(b"\1" * uses.LARGE_BYTES)
    os.utime(weights, ns=(found.st_atime_ns, found.st_mtime_ns))
    assert in_another_build(weights, monkeypatch) not in ("", before)


def test_a_file_that_changed_just_before_is_not_relied_on_later(weights: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uses, "_YOUNG_NS", 1 << 62)
    uses.digest_of(weights)
    keep_known_files(weights.parent)
    assert not kept_file(weights).exists()


def test_what_is_kept_is_not_written_again_if_nothing_is_new(weights: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    uses.digest_of(weights)
    keep_known_files(weights.parent)
    written = kept_file(weights).stat().st_mtime_ns
    in_another_build(weights, monkeypatch)
    keep_known_files(weights.parent)
    assert kept_file(weights).stat().st_mtime_ns == written


def test_a_small_file_is_read_by_one_build_only(weights: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = weights.with_name("small")
    small.write_bytes(b"small")
    digest = uses.digest_of(small)
    keep_known_files(weights.parent)
    assert not kept_file(weights).exists()
    uses.digest_of(weights)
    keep_known_files(weights.parent)
    monkeypatch.setattr(uses, "_digests", {})
    monkeypatch.setattr(hashlib, "file_digest", None)
    remember_known_files(weights.parent)
    assert uses.digest_of(small) == digest


@pytest.mark.parametrize("damage", [b"", b"[]", b'{"a": 1}', b'{"a": [1, 2, 3]}', b'{"a": ["x", 0, 0, 0, ""]}'])
def test_what_is_damaged_counts_as_nothing(weights: Path, monkeypatch: pytest.MonkeyPatch, damage: bytes) -> None:
    digest = uses.digest_of(weights)
    keep_known_files(weights.parent)
    kept_file(weights).write_bytes(damage)
    monkeypatch.setattr(uses, "_digests", {})
    remember_known_files(weights.parent)
    assert uses.digest_of(weights) == digest
