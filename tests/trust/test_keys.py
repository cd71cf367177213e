"""Private keys: accepted ones, errors for others, and equal signatures.

The signature of equal data is always the same.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, utils
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)
from hypothesis import given
from hypothesis import strategies as st
from n6build.base.environment import read_environment
from n6build.base.errors import N6Error
from n6build.describe.choices import Choices
from n6build.place.trust.keys import is_private, public_point, signature
from n6build.steps.pipeline import application_plan
from n6build.steps.signing_settings import trust_of

from trust.host_verifier import key_file

P256 = ec.derive_private_key(18, ec.SECP256R1())
PEM = Encoding.PEM, PrivateFormat.PKCS8


@pytest.fixture(autouse=True)
def without_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("N6BUILD_KEY_PASSWORD", raising=False)


def test_a_signature_is_the_same_every_time_and_that_of_the_key(tmp_path: Path) -> None:
    key = key_file(tmp_path)
    point = public_point(key)
    made = signature(key, point, b"image")
    assert made == signature(key, point, b"image")
    assert made != signature(key, point, b"imagf")
    r, s = (int.from_bytes(made[at : at + 32], "big") for at in (0, 32))
    P256.public_key().verify(utils.encode_dss_signature(r, s), b"image", ec.ECDSA(hashes.SHA256()))


def encrypted(path: Path, password: bytes) -> Path:
    path.write_bytes(P256.private_bytes(*PEM, BestAvailableEncryption(password)))
    return path


def test_a_password_comes_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = encrypted(tmp_path / "key.pem", b"secret")
    monkeypatch.setenv("N6BUILD_KEY_PASSWORD", "secret")
    assert public_point(key) == public_point(key_file(tmp_path))
    # A key without a password is accepted, too.
    assert public_point(key_file(tmp_path)) == public_point(key)


@pytest.mark.parametrize("password", [None, "", "wrong"])
def test_a_key_does_not_open_without_its_password(
    password: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if password is not None:
        monkeypatch.setenv("N6BUILD_KEY_PASSWORD", password)
    with pytest.raises(N6Error, match="N6-TRUST-003: .*password") as caught:
        public_point(encrypted(tmp_path / "key.pem", b"secret"))
    assert "wrong" not in str(caught.value)


OTHERS = {
    "on P-384": (ec.derive_private_key(18, ec.SECP384R1()), "a key on secp384r1; P-256 is needed"),
    "on secp256k1": (ec.derive_private_key(18, ec.SECP256K1()), "a key on secp256k1; P-256 is needed"),
    "of Ed25519": (
        ed25519.Ed25519PrivateKey.from_private_bytes(bytes(32)),
        "a key that is not for ECDSA; P-256 is needed",
    ),
}


@pytest.mark.parametrize(("key", "said"), OTHERS.values(), ids=list(OTHERS))
def test_a_key_of_another_kind_is_refused(
    key: ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "key.pem"
    path.write_bytes(key.private_bytes(*PEM, NoEncryption()))
    with pytest.raises(N6Error, match=f"N6-TRUST-002: contains {re.escape(said)}"):
        public_point(path)


def public_file(folder: Path) -> Path:
    path = folder / "board.pub.pem"
    path.write_bytes(P256.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    return path


def test_a_public_key_signs_nothing(tmp_path: Path) -> None:
    path = public_file(tmp_path)
    assert public_point(path) == public_point(key_file(tmp_path))
    assert (is_private(path), is_private(key_file(tmp_path))) == (False, True)
    with pytest.raises(N6Error, match="N6-TRUST-004"):
        signature(path, public_point(path), b"image")


@given(
    st.binary(max_size=300)
    | st.binary(max_size=200).map(
        lambda body: b"-----BEGIN PRIVATE KEY-----\n" + body + b"\n-----END PRIVATE KEY-----\n"
    )
    | st.binary(max_size=200).map(lambda body: b"-----BEGIN PUBLIC KEY-----\n" + body + b"\n-----END PUBLIC KEY-----\n")
    | st.integers(0, 200).map(lambda end: P256.private_bytes(*PEM, NoEncryption())[:end])
)
def test_whatever_the_file_holds_is_a_key_or_an_error(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any.pem"
    path.write_bytes(data)
    with pytest.raises(N6Error, match=r"N6-TRUST-00[123]"):
        public_point(path)


def test_a_file_that_is_no_key_not_there_or_too_large(tmp_path: Path) -> None:
    (tmp_path / "readme.pem").write_text("see the wiki")
    with pytest.raises(N6Error, match="N6-TRUST-001: contains no key in PEM"):
        public_point(tmp_path / "readme.pem")
    with pytest.raises(N6Error, match="N6-FILE-002"):
        public_point(tmp_path / "none.pem")
    (tmp_path / "large.pem").write_bytes(bytes(1 << 20))
    with pytest.raises(N6Error, match="N6-FILE-003"):
        public_point(tmp_path / "large.pem")


def test_nothing_is_signed_with_a_key_that_was_replaced(tmp_path: Path) -> None:
    key, other = key_file(tmp_path), key_file(tmp_path, 19)
    with pytest.raises(N6Error, match="N6-TRUST-004: is not the key of this build's plan"):
        signature(other, public_point(key), b"image")


def chosen(tmp_path: Path, **values: object) -> Choices:
    return Choices(models=("keyword",), build=str(tmp_path / "build"), launched=str(tmp_path), **values)  # type: ignore[arg-type]


def test_choices_that_would_not_protect_anything_are_refused(tmp_path: Path) -> None:
    key = str(key_file(tmp_path))
    (tmp_path / "build").mkdir()
    public = str(public_file(tmp_path))
    nine = tuple(str(key_file(tmp_path, secret)) for secret in range(18, 27))

    def code(key: str, **more: object) -> dict[str, object]:
        return {"trust": "code", "trust_key": key, **more}

    refused: dict[str, dict[str, object]] = {
        "N6-TRUST-005: 'trust=full' needs a key": {"trust": "full"},
        "N6-TRUST-005: 'trust_key', 'trust_keys', 'trust_counter', 'trust_advance', 'sign_with' and": {
            "trust_key": key
        },
        "N6-TRUST-005: contains a private key, but": code(key, sign_with="signer"),
        "N6-TRUST-005: contains only a public key": code(public),
        "N6-TRUST-009: has a PIN": code(public, sign_with="pkcs11:object=a?pin-value=1"),
        "N6-TRUST-008: is not a command": code(public, sign_with="'sign"),
        "N6-TRUST-011: has 1 key;": code(key, trust_keys=nine[1:2]),
        "N6-TRUST-011: has 2 keys;": code(key, trust_keys=(key, public)),
        "N6-TRUST-011: has 9 keys;": code(key, trust_keys=nine),
        "N6-TRUST-006: is inside the build folder": code(str(key_file(tmp_path / "build"))),
        "N6-TRUST-007: 'trust' needs n6build's own": code(key, appli="a.elf"),
        "N6-TRUST-007: code that runs in place": code(key, loader="reloc", load="xip"),
    }
    for said, values in refused.items():
        with pytest.raises(N6Error, match=re.escape(said)):
            trust_of(chosen(tmp_path, **values))
    assert trust_of(chosen(tmp_path)) is None


def test_a_release_names_the_place_of_its_key(tmp_path: Path) -> None:
    keys = tuple(str(key_file(tmp_path, secret)) for secret in (18, 19, 20))
    trust = trust_of(chosen(tmp_path, trust="code", trust_key=keys[1], trust_keys=keys))
    assert trust is not None
    assert trust.points == tuple(public_point(Path(key)).hex() for key in keys)
    assert trust.number == 1


@pytest.mark.parametrize(
    ("mode", "reader"), [(0o640, "its group"), (0o644, "everybody"), (0o604, "everybody"), (0o600, "")]
)
def test_a_key_that_others_can_read_draws_a_warning(
    mode: int, reader: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key = key_file(tmp_path)
    key.chmod(mode)
    assert trust_of(chosen(tmp_path, trust="code", trust_key=str(key))) is not None
    said = capsys.readouterr().out
    assert said == (
        f"    Warning {key}, {reader} can read this private key, and sign with it: run chmod 600\n" if reader else ""
    )


def test_a_plan_follows_from_the_public_key_and_never_from_the_private_one(tmp_path: Path) -> None:
    """A plan has the same steps for the same key in another file.

    The file may have a password or none; only the name of the file differs.
    """
    key = key_file(tmp_path)
    choices = chosen(tmp_path, trust="full", trust_key=str(key), trust_counter=3)
    plan = application_plan(choices, read_environment(), ["build"])
    signing = [step for step in plan.steps if step.verb == "Sign"]
    assert {step.outputs[0].rpartition("/")[2] for step in signing} == {"appli_image.bin"}
    for step in signing:
        assert not step.shared, "a cache would hand out signatures"
        assert str(key) in step.state
        assert str(key) not in step.sources
        assert public_point(key).hex() in step.parameters
    assert ['"counter":3' in step.parameters for step in signing] == [True]
