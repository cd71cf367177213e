"""Addresses of servers, and the credentials for them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from n6build.base.errors import N6Error
from n6build.engine.remote.address import Access, Address, is_remote, parse_address, read_access

LOCAL = Address("localhost", 8980)


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("grpc://localhost:8980", Address("localhost", 8980)),
        ("grpc://cache.example:80/main", Address("cache.example", 80, "main")),
        ("grpcs://cache.example:443/team/n6/", Address("cache.example", 443, "team/n6", secure=True)),
        ("grpc://[::1]:8980/main", Address("::1", 8980, "main")),
        ("GRPC://Cache:1", Address("cache", 1)),
    ],
)
def test_an_address_has_host_port_and_instance(text: str, address: Address) -> None:
    assert parse_address(text) == address
    assert parse_address(str(address)) == address


@pytest.mark.parametrize(
    "text",
    [
        "http://host:80",
        "grpc://",
        "grpc://host",
        "grpc://host:0",
        "grpc://host:65536",
        "grpc://host:x",
        "grpc://:80",
        "grpc://token@host:80/main",
        "grpc://host:80/main?token=1",
        "grpc://host:80/main#1",
        "grpc://host:80/a//b",
        "grpc://host:80/blobs",
        "grpc://host:80/a/../b",
        "grpc://host:80/a b",
        "grpc://ho st:80",
        "grpc://unix:/socket:80",
        "grpc://[::1:80",
        "grpc://[fe80::1%eth0]:80",
        "grpc://-host:80",
        "grpc://host..:80",
        "://host:80",
    ],
)
def test_what_is_no_address_is_refused(text: str) -> None:
    assert is_remote(text)
    with pytest.raises(N6Error, match="error N6-REMOTE-001: "):
        parse_address(text)


@given(st.text(st.characters(codec="utf-8"), max_size=60) | st.text("grpcs:/[]@%.0189ahost", max_size=40))
def test_any_text_is_an_address_or_refused(text: str) -> None:
    for each in (text, f"grpc://{text}", f"grpcs://host:1/{text}"):
        try:
            address = parse_address(each)
        except N6Error as error:
            assert error.id == "N6-REMOTE-001"
            continue
        assert 0 < address.port < 65536
        assert address.target.startswith("dns:///")
        assert address.target.isascii()
        assert parse_address(str(address)) == address


def test_folders_are_no_addresses() -> None:
    assert not any(map(is_remote, ("/var/cache", "~/cache", "cache", "C:\\cache", "grpc:cache")))


def test_the_environment_has_what_is_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_access(LOCAL) == Access()
    for name in ("ca", "cert", "key", "token"):
        (tmp_path / name).write_text(f"the {name}"[4:] + "\n")
        monkeypatch.setenv(f"N6BUILD_REMOTE_{name.upper()}", str(tmp_path / name))
    monkeypatch.delenv("N6BUILD_REMOTE_TOKEN")
    monkeypatch.setenv("N6BUILD_REMOTE_TOKEN_FILE", str(tmp_path / "token"))
    monkeypatch.setenv("N6BUILD_REMOTE_TIMEOUT", "2.5")
    access = read_access(LOCAL)
    assert access == Access("token", b"ca\n", b"cert\n", b"key\n", 2.5)
    assert "token'" not in repr(access)
    assert "key\\n" not in repr(access)


@pytest.mark.parametrize(
    ("values", "address", "said"),
    [
        ({"TOKEN": "a b"}, LOCAL, "printable ASCII"),
        ({"TOKEN": "secret"}, Address("example.com", 80), "without encryption"),
        ({"TOKEN_FILE": "/nowhere/token"}, LOCAL, "/nowhere/token"),
        ({"CERT": __file__}, LOCAL, "a certificate needs its key"),
        ({"TIMEOUT": "-1"}, LOCAL, "not a time"),
        ({"TIMEOUT": "0"}, LOCAL, "not a time"),
        ({"TIMEOUT": "nan"}, LOCAL, "not a time"),
    ],
)
def test_what_cannot_be_used_is_refused(
    values: dict[str, str], address: Address, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in values.items():
        monkeypatch.setenv(f"N6BUILD_REMOTE_{name}", value)
    with pytest.raises(N6Error, match=said) as refused:
        read_access(address)
    assert refused.value.id == "N6-REMOTE-002"
    assert "secret" not in str(refused.value)
