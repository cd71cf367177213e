"""The private key that signs images: ECDSA P-256 over SHA-256.

The library `cryptography` computes signatures. They are deterministic (RFC 6979), so that equal
images are equal bytes. Nothing here returns the private key, or writes it.
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
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

_LARGEST_KEY_FILE = 64 << 10
_HINT = "create one with `openssl ecparam -name prime256v1 -genkey -noout -out key.pem`"


def public_point(key: Path) -> bytes:
    """Return the public key as an uncompressed point of 65 bytes.

    Raises:
        N6Error: N6-FILE-002, N6-FILE-003, N6-TRUST-001 to -003.
    """
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat  # noqa: PLC0415 - only to sign.

    return _read(key).public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


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
    from cryptography.hazmat.primitives.asymmetric import ec, utils  # noqa: PLC0415
    from cryptography.hazmat.primitives.hashes import SHA256  # noqa: PLC0415

    if public_point(key) != point:
        what = "is not the key of this build's plan"
        raise N6Error("N6-TRUST-004", what, where=str(key), hint="build again; n6build signed nothing")
    made = _read(key).sign(data, ec.ECDSA(SHA256(), deterministic_signing=True))
    return b"".join(number.to_bytes(SIGNATURE_BYTES // 2, "big") for number in utils.decode_dss_signature(made))


def _read(path: Path) -> EllipticCurvePrivateKey:
    from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric import ec  # noqa: PLC0415
    from cryptography.hazmat.primitives.serialization import load_pem_private_key  # noqa: PLC0415

    data, password = read_at_most(path, _LARGEST_KEY_FILE), key_password()
    try:
        key = load_pem_private_key(data, password.encode() if password and b"ENCRYPTED" in data else None)
    except TypeError as error:
        what = "is protected by a password"
        raise N6Error("N6-TRUST-003", what, where=str(path), hint=f"set {KEY_PASSWORD} to the password") from error
    except (ValueError, UnsupportedAlgorithm) as error:
        if password and b"ENCRYPTED" in data:
            what = f"does not open with the password in {KEY_PASSWORD}"
            raise N6Error("N6-TRUST-003", what, where=str(path)) from error
        raise N6Error("N6-TRUST-001", "contains no private key in PEM", where=str(path), hint=_HINT) from error
    if not isinstance(key, ec.EllipticCurvePrivateKey) or not isinstance(key.curve, ec.SECP256R1):
        found = (
            f"a key on {key.curve.name}"
            if isinstance(key, ec.EllipticCurvePrivateKey)
            else ("a key that is not for ECDSA")
        )
        raise N6Error("N6-TRUST-002", f"contains {found}; P-256 is needed", where=str(path), hint=_HINT)
    return key
