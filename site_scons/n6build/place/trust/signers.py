"""Signatures by a command or a token, without a private key on this computer.

Whatever they return is verified with the public key before it goes into an image.
"""

from __future__ import annotations

import hashlib
import re
import shlex
import subprocess
from dataclasses import dataclass
from urllib.parse import unquote

from n6build.base.environment import KEY_PASSWORD, key_password
from n6build.base.errors import N6Error
from n6build.describe.formats.release import SIGNATURE_BYTES
from n6build.place.trust.keys import is_signature, signature_numbers

SCHEME = "pkcs11:"
# A token may wait for a touch, and a server for somebody who releases the signature.
_TIMEOUT_S = 600
_SHOWN = 120
_EXAMPLE = "write it as in docs/signed-images.md"


@dataclass(frozen=True)
class TokenKey:
    """A private key in a PKCS#11 token, as a URI of RFC 7512 names it.

    Attributes:
        module: Library of the token's maker.
        token: Label of the token, or empty.
        serial: Serial number of the token, or empty.
        label: Label of the key (attribute `object`), or empty.
        id: Identifier of the key, or empty.
    """

    module: str
    token: str
    serial: str
    label: str
    id: bytes


def token_key(uri: str) -> TokenKey:
    """Read the URI of a key.

    Raises:
        N6Error: N6-TRUST-009 for a URI that names no key, or has a PIN.
    """
    path, _, query = uri.removeprefix(SCHEME).partition("?")
    found: dict[str, str] = {}
    for part in filter(None, (*path.split(";"), *query.split("&"))):
        name, equals, value = part.partition("=")
        if name in ("pin-value", "pin-source"):
            # Every user of this computer sees the arguments of a command.
            raise N6Error("N6-TRUST-009", "has a PIN", where="sign_with", hint=f"set {KEY_PASSWORD} to the PIN")
        if name not in ("module-path", "token", "serial", "object", "id", "type") or not equals or name in found:
            what = f"'{part[:_SHOWN]}' is not a part of a key's URI, or is there twice"
            raise N6Error("N6-TRUST-009", what, where="sign_with", hint=_EXAMPLE)
        found[name] = unquote(value)
    if "module-path" not in found or not ("object" in found or "id" in found):
        missing = "module-path" if "module-path" not in found else "object or id"
        raise N6Error("N6-TRUST-009", f"names no {missing}", where="sign_with", hint=_EXAMPLE)
    # RFC 7512 writes each byte of an id as %01; labels are UTF-8.
    id = unquote(_raw(path, "id"), "latin-1").encode("latin-1", "replace")
    return TokenKey(found["module-path"], found.get("token", ""), found.get("serial", ""), found.get("object", ""), id)


def _raw(path: str, name: str) -> str:
    return next((part.partition("=")[2] for part in path.split(";") if part.startswith(f"{name}=")), "")


def words_of(command: str) -> list[str]:
    """Return the words of a command, without a shell.

    Raises:
        N6Error: N6-TRUST-008 for an empty command, or an open quotation mark.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise N6Error("N6-TRUST-008", f"is not a command: {error}", where="sign_with") from error
    if not words:
        raise N6Error("N6-TRUST-008", "is not a command: it has no word", where="sign_with")
    return words


def signed_elsewhere(sign_with: str, point: bytes, data: bytes) -> bytes:
    """Return r and s of a signature, 32 bytes each, big endian.

    Args:
        sign_with: Command, or URI of a key in a token.
        point: Public key that the image is planned for.
        data: Signed bytes.

    Raises:
        N6Error: N6-TRUST-008 or N6-TRUST-009 if nothing is signed; N6-TRUST-010 if another key has signed.
    """
    made = _by_token(token_key(sign_with), data) if sign_with.startswith(SCHEME) else _by_command(sign_with, data)
    if not is_signature(point, made, data):
        what = "the signature is not by the private half of 'trust_key'"
        hint = "name the public half of the key that signs; nothing was signed"
        raise N6Error("N6-TRUST-010", what, where="sign_with", hint=hint)
    return made


def _by_command(command: str, data: bytes) -> bytes:
    words = words_of(command)
    try:
        done = subprocess.run(words, input=data, capture_output=True, timeout=_TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise N6Error("N6-TRUST-008", f"cannot be run: {error}", where=words[0]) from error
    said = _first_line(done.stderr.decode("utf-8", "replace"))
    if done.returncode:
        what = f"ended with status {done.returncode}{f': {said}' if said else ''}"
        raise N6Error("N6-TRUST-008", what, where=words[0], hint="nothing was signed; run it by hand to see why")
    return _numbers(done.stdout, words[0])


def _numbers(made: bytes, command: str) -> bytes:
    """Return r and s of the output of a command: these numbers themselves, or in DER."""
    if len(made) == SIGNATURE_BYTES:
        return made
    try:
        return signature_numbers(made)
    except (ValueError, OverflowError) as error:
        what = f"wrote {len(made)} bytes, which are no ECDSA signature"
        hint = "let it write the signature in DER, or r and s with 32 bytes each, and nothing else"
        raise N6Error("N6-TRUST-008", what, where=command, hint=hint) from error


def _by_token(key: TokenKey, data: bytes) -> bytes:
    try:
        import pkcs11  # noqa: PLC0415 - of an extra.
        from pkcs11.types import SignMixin  # noqa: PLC0415
    except ImportError as error:
        what = "package python-pkcs11, which reaches tokens, is not installed"
        raise N6Error("N6-TRUST-009", what, hint="install it with pip install 'n6build[pkcs11]'") from error
    try:
        token = pkcs11.lib(key.module).get_token(
            token_label=key.token or None, token_serial=key.serial.encode() or None
        )
        with token.open(user_pin=key_password() or None) as session:
            private = session.get_key(
                object_class=pkcs11.ObjectClass.PRIVATE_KEY,
                key_type=pkcs11.KeyType.EC,
                label=key.label or None,
                id=key.id or None,
            )
            if not isinstance(private, SignMixin):
                raise ValueError("the key must not sign")
            # All tokens with ECDSA sign a digest; not all compute it.
            return bytes(private.sign(hashlib.sha256(data).digest(), mechanism=pkcs11.Mechanism.ECDSA))
    except (pkcs11.PKCS11Error, RuntimeError, ValueError) as error:
        # Some errors of the package have a name and no text.
        said = _first_line(str(error)) or " ".join(re.findall("[A-Z][a-z]+", type(error).__name__)).lower()
        hint = "nothing was signed"
        if not key_password():
            hint = f"set {KEY_PASSWORD} to the token's PIN"
        elif "pin" in said.lower():
            hint = f"correct the PIN in {KEY_PASSWORD}: a token locks after a few wrong ones"
        raise N6Error("N6-TRUST-009", f"the token signs nothing: {said}", where="sign_with", hint=hint) from error


def _first_line(text: str) -> str:
    return next(iter(text.strip().splitlines()), "")[:_SHOWN]
