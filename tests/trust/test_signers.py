"""Signatures by a command, and by a key in a PKCS#11 token (SoftHSM)."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import given
from hypothesis import strategies as st
from n6build.base.errors import N6Error
from n6build.place.trust.keys import public_point
from n6build.place.trust.signers import signed_elsewhere, token_key, words_of

from trust.host_verifier import key_file

P256 = ec.derive_private_key(18, ec.SECP256R1())
POINT = P256.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
PIN = "4711"
SOFTHSM = next((path for path in Path("/usr/lib").glob("**/libsofthsm2.so")), None)


def is_of_the_key(made: bytes, data: bytes) -> bool:
    r, s = (int.from_bytes(made[at : at + 32], "big") for at in (0, 32))
    P256.public_key().verify(utils.encode_dss_signature(r, s), data, ec.ECDSA(hashes.SHA256()))
    return True


def test_openssl_signs_as_a_command(tmp_path: Path) -> None:
    command = f"openssl dgst -sha256 -sign '{key_file(tmp_path)}'"
    assert is_of_the_key(signed_elsewhere(command, POINT, b"image"), b"image")


def script(folder: Path, text: str) -> str:
    path = folder / "sign it.py"
    path.write_text(f"import sys\ndata = sys.stdin.buffer.read()\n{text}\n")
    return f"{sys.executable} '{path}'"


def test_a_command_may_write_the_two_numbers_themselves(tmp_path: Path) -> None:
    der = P256.sign(b"image", ec.ECDSA(hashes.SHA256()))
    numbers = b"".join(number.to_bytes(32, "big") for number in utils.decode_dss_signature(der))
    command = script(tmp_path, f"assert data == b'image'\nsys.stdout.buffer.write({numbers!r})")
    assert signed_elsewhere(command, POINT, b"image") == numbers


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sys.exit('the server is closed')", "N6-TRUST-008: ended with status 1: the server is closed"),
        ("sys.exit(3)", "N6-TRUST-008: ended with status 3"),
        ("print('Signature:')", "N6-TRUST-008: wrote 11 bytes, which are no ECDSA signature"),
        ("", "N6-TRUST-008: wrote 0 bytes"),
        ("sys.stdout.buffer.write(bytes(64))", "N6-TRUST-010: the signature is not by the private half"),
        ("sys.stdout.buffer.write(b'1' * 64)", "N6-TRUST-010: the signature is not by the private half"),
    ],
)
def test_what_a_command_writes_is_a_signature_of_the_key_or_an_error(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(N6Error, match=re.escape(said)):
        signed_elsewhere(script(tmp_path, text), POINT, b"image")


def test_a_signature_of_another_key_or_of_other_bytes_is_refused(tmp_path: Path) -> None:
    command = f"openssl dgst -sha256 -sign '{key_file(tmp_path, 19)}'"
    with pytest.raises(N6Error, match="N6-TRUST-010"):
        signed_elsewhere(command, POINT, b"image")
    other = P256.sign(b"imagf", ec.ECDSA(hashes.SHA256()))
    with pytest.raises(N6Error, match="N6-TRUST-010"):
        signed_elsewhere(script(tmp_path, f"sys.stdout.buffer.write({other!r})"), POINT, b"image")


def test_no_shell_reads_a_command(tmp_path: Path) -> None:
    with pytest.raises(N6Error, match="N6-TRUST-008"):
        signed_elsewhere(f"true; touch {tmp_path}/PWNED", POINT, b"image")
    with pytest.raises(N6Error, match="N6-TRUST-008: cannot be run"):
        signed_elsewhere("no-such-signer --key 1", POINT, b"image")
    assert not (tmp_path / "PWNED").exists()
    for command in ("'open", "  "):
        with pytest.raises(N6Error, match="N6-TRUST-008: is not a command"):
            words_of(command)


def test_a_uri_names_a_key_in_a_token() -> None:
    key = token_key("pkcs11:token=my%20releases;object=board;id=%01%ff;type=private?module-path=/usr/lib/p.so")
    assert (key.module, key.token, key.label, key.id) == ("/usr/lib/p.so", "my releases", "board", b"\x01\xff")


@pytest.mark.parametrize(
    ("uri", "said"),
    [
        ("pkcs11:", "names no module-path"),
        ("pkcs11:object=board", "names no module-path"),
        ("pkcs11:token=n6?module-path=/p.so", "names no object or id"),
        ("pkcs11:object=a;object=b?module-path=/p.so", "'object=b' is not a part"),
        ("pkcs11:colour=red", "'colour=red' is not a part"),
        ("pkcs11:object=board?module-path=/p.so&pin-value=4711", "has a PIN"),
        ("pkcs11:object=board?module-path=/p.so&pin-source=file:/pin", "has a PIN"),
    ],
)
def test_a_uri_that_names_no_key_or_has_a_pin_is_refused(uri: str, said: str) -> None:
    with pytest.raises(N6Error, match=f"N6-TRUST-009: {re.escape(said)}") as caught:
        token_key(uri)
    assert "4711" not in str(caught.value)


@given(st.text(max_size=60))
def test_any_uri_is_read_or_refused(text: str) -> None:
    try:
        assert token_key(f"pkcs11:{text}").module
    except N6Error as error:
        assert error.id == "N6-TRUST-009"


@pytest.fixture
def token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the URI of a key in a new token, whose PIN is set."""
    if SOFTHSM is None or shutil.which("softhsm2-util") is None:
        pytest.skip("SoftHSM is not installed")
    (tmp_path / "tokens").mkdir()
    (tmp_path / "softhsm2.conf").write_text(f"directories.tokendir = {tmp_path}/tokens\n")
    monkeypatch.setenv("SOFTHSM2_CONF", str(tmp_path / "softhsm2.conf"))
    monkeypatch.setenv("N6BUILD_KEY_PASSWORD", PIN)
    made = ["--init-token", "--free", "--label", "releases", "--pin", PIN, "--so-pin", "0815"]
    imported = [
        "--import",
        str(key_file(tmp_path)),
        "--token",
        "releases",
        "--label",
        "board",
        "--id",
        "01",
        "--pin",
        PIN,
    ]
    for arguments in (made, imported):
        subprocess.run(["softhsm2-util", *arguments], check=True, capture_output=True)
    return f"pkcs11:token=releases;object=board?module-path={SOFTHSM}"


# The library of a token is loaded once in a process, with the tokens that it then finds: each call gets a process.
CALL = """
import sys
from n6build.base.errors import N6Error
from n6build.place.trust.signers import signed_elsewhere
try:
    print(signed_elsewhere(sys.argv[1], bytes.fromhex(sys.argv[2]), b"image").hex())
except N6Error as error:
    print(error)
"""


def called(uri: str, point: bytes = POINT) -> str:
    command = [sys.executable, "-c", CALL, uri, point.hex()]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ).stdout


def test_a_token_signs_with_its_key(token: str) -> None:
    assert is_of_the_key(bytes.fromhex(called(token)), b"image")
    assert is_of_the_key(bytes.fromhex(called(token.replace("object=board", "id=%01"))), b"image")


def test_a_token_without_the_key_or_with_another_pin_signs_nothing(
    token: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "N6-TRUST-009: the token signs nothing: No token matching" in called(token.replace("releases", "none"))
    assert "N6-TRUST-009: the token signs nothing: No key matching" in called(token.replace("board", "none"))
    assert "N6-TRUST-010" in called(token, public_point(key_file(tmp_path, 19)))
    missing = called("pkcs11:object=board?module-path=/no/such.so")
    assert "N6-TRUST-009: the token signs nothing: " in missing
    assert "/no/such.so" in missing
    monkeypatch.setenv("N6BUILD_KEY_PASSWORD", "1234")
    wrong = called(token)
    assert "N6-TRUST-009: the token signs nothing: pin incorrect" in wrong
    assert "a token locks after a few wrong ones" in wrong
    monkeypatch.delenv("N6BUILD_KEY_PASSWORD")
    assert "set N6BUILD_KEY_PASSWORD to the token's PIN" in called(token)
