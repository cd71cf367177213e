"""Keys that sign images: ECDSA P-256 over SHA-256.

The library `cryptography` computes signatures. They are deterministic (RFC 6979), so that equal
images are equal bytes. Nothing here returns a private key, or writes it.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from n6build.base.environment import KEY_PASSWORD, key_password
from n6build.base.errors import N6Error
from n6build.base.files import read_at_most
from n6build.describe.formats.release import SIGNATURE_BYTES

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey, EllipticCurvePublicKey

_LARGEST_KEY_FILE = 64 << 10
_PUBLIC = b"-----BEGIN PUBLIC KEY-----"
_HINT = "create one with `openssl ecparam -name prime256v1 -genkey -noout -out key.pem`"


def public_point(key: Path) -> bytes:
    """Return the public key of a file as an uncompressed point of 65 bytes.

    Args:
        key: File of a private key, or of its public half.

    Raises:
        N6Error: N6-FILE-002, N6-FILE-003, N6-TRUST-001 to -003.
    """
    return _point(_read(key))


def is_private(key: Path) -> bool:
    """Return whether a file has a private key, and not only its public half.

    Raises:
        N6Error: N6-FILE-002, N6-FILE-003.
    """
    # A private key is not opened for this: its password may take long on purpose.
    return _PUBLIC not in read_at_most(key, _LARGEST_KEY_FILE)


def other_readers(key: Path) -> str:
    """Return who else can read the file of a key, for a warning; empty if nobody can.

    On Windows, which has access lists instead of these permissions, it is empty.
    """
    if os.name != "posix":
        return ""
    mode = key.stat().st_mode
    readers = [name for bit, name in ((stat.S_IRGRP, "its group"), (stat.S_IROTH, "everybody")) if mode & bit]
    return readers[-1] if readers else ""


def signature(key: Path, point: bytes, data: bytes) -> bytes:
    """Return r and s of a signature, 32 bytes each, big endian.

    Args:
        key: File of the private key.
        point: Public key that the image is planned for.
        data: Signed bytes.

    Raises:
        N6Error: N6-TRUST-004 if the file holds another key by now; and as `public_point`.
    """
    # A build that signs nothing does not load these modules.
    from cryptography.hazmat.primitives.asymmetric import ec  # noqa: PLC0415
    from cryptography.hazmat.primitives.hashes import SHA256  # noqa: PLC0415

    read = _read(key)
    if not isinstance(read, ec.EllipticCurvePrivateKey) or _point(read) != point:
        what = "is not the key of this build's plan"
        raise N6Error("N6-TRUST-004", what, where=str(key), hint="build again; n6build signed nothing")
    return signature_numbers(read.sign(data, ec.ECDSA(SHA256(), deterministic_signing=True)))


def signature_numbers(der: bytes) -> bytes:
    """Return r and s of a signature in DER, 32 bytes each, big endian.

    Raises:
        ValueError: It is no signature in DER.
        OverflowError: A number is longer.
    """
    from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature  # noqa: PLC0415 - only to sign.

    return b"".join(number.to_bytes(SIGNATURE_BYTES // 2, "big") for number in decode_dss_signature(der))


def is_signature(point: bytes, numbers: bytes, data: bytes) -> bool:
    """Return whether a signature is that of a key.

    Args:
        point: Public key, as an uncompressed point of 65 bytes.
        numbers: r and s, 32 bytes each, big endian.
        data: Signed bytes.
    """
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - only to sign.
    from cryptography.hazmat.primitives.asymmetric import ec  # noqa: PLC0415
    from cryptography.hazmat.primitives.hashes import SHA256  # noqa: PLC0415

    try:
        public = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)
        public.verify(der_signature(numbers), data, ec.ECDSA(SHA256()))
    except (InvalidSignature, ValueError):
        # A point that is not on the curve is a ValueError.
        return False
    return True


def key_info(point: bytes) -> bytes:
    """Return a public key in DER, as SubjectPublicKeyInfo."""
    from cryptography.hazmat.primitives.asymmetric import ec  # noqa: PLC0415 - only to sign.
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat  # noqa: PLC0415

    public = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)
    return public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)


def der_signature(numbers: bytes) -> bytes:
    """Return a signature in DER.

    Args:
        numbers: r and s, with equally many bytes, big endian.
    """
    from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature  # noqa: PLC0415 - only to sign.

    half = len(numbers) // 2
    return encode_dss_signature(int.from_bytes(numbers[:half], "big"), int.from_bytes(numbers[half:], "big"))


def _point(key: EllipticCurvePrivateKey | EllipticCurvePublicKey) -> bytes:
    from cryptography.hazmat.primitives.asymmetric import ec  # noqa: PLC0415 - only to sign.
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat  # noqa: PLC0415

    public = key.public_key() if isinstance(key, ec.EllipticCurvePrivateKey) else key
    return public.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def _read(path: Path) -> EllipticCurvePrivateKey | EllipticCurvePublicKey:
    from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric import ec  # noqa: PLC0415
    from cryptography.hazmat.primitives.serialization import (  # noqa: PLC0415
        load_pem_private_key,
        load_pem_public_key,
    )

    data, password = read_at_most(path, _LARGEST_KEY_FILE), key_password()
    is_public = _PUBLIC in data
    try:
        key = (
            load_pem_public_key(data)
            if is_public
            else load_pem_private_key(data, password.encode() if password and b"ENCRYPTED" in data else None)
        )
    except TypeError as error:
        what = "is protected by a password"
        raise N6Error("N6-TRUST-003", what, where=str(path), hint=f"set {KEY_PASSWORD} to the password") from error
    except (ValueError, UnsupportedAlgorithm) as error:
        if password and b"ENCRYPTED" in data:
            what = f"does not open with the password in {KEY_PASSWORD}"
            raise N6Error("N6-TRUST-003", what, where=str(path)) from error
        raise N6Error("N6-TRUST-001", "contains no key in PEM", where=str(path), hint=_HINT) from error
    if isinstance(key, (ec.EllipticCurvePrivateKey, ec.EllipticCurvePublicKey)):
        if isinstance(key.curve, ec.SECP256R1):
            return key
        found = f"a key on {key.curve.name}"
    else:
        found = "a key that is not for ECDSA"
    raise N6Error("N6-TRUST-002", f"contains {found}; P-256 is needed", where=str(path), hint=_HINT)
