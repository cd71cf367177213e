"""firmware/trust and BearSSL, compiled with sanitizers for this host.

The program verifies images.
"""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from n6build.base.c_format import header_text
from n6build.base.paths import FIRMWARE
from n6build.describe.formats.release import MOST_KEYS
from n6build.place.trust.anchor import board_identity
from n6build.place.trust.keys import public_point
from n6build.place.trust.release import release_bytes, subject
from n6build.steps.firmware_headers import FORMATS

BOARD = "nucleo-n657"
BEARSSL = FIRMWARE / "third_party" / "bearssl"
SOURCE = Path(__file__).with_name("verifier.c")
SANITIZED = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
_REQUEST = struct.Struct("=8I")
# The subject of all images of these tests.
SUBJECT = subject("weights", "keyword", "network_atonbuf.xSPI2.raw")


class Status(IntEnum):
    """A status of type n6_trust_status_t."""

    OK = 0x3A5C96E1
    UNSIGNED = 1
    ALTERED = 2
    OTHER_BOARD = 3
    OLD = 4
    REVOKED = 5


@dataclass(frozen=True)
class Image:
    """An image with the numbers that a firmware knows of it.

    Attributes:
        data: Bytes of the image in flash.
        is_appli: It is an Appli, and not a slot that a release lists.
        code: Bytes of its code; 0 for an Appli.
        weights: Bytes of its weights; 0 for an Appli.
        trailer: Bytes of its trailer; 0 for an Appli.
        floor: Lowest security counter that the board accepts.
        revoked: Keys that the board does not accept any more, a bit for each.
    """

    data: bytes
    is_appli: bool = False
    code: int = 0
    weights: int = 0
    trailer: int = 0
    floor: int = 0
    revoked: int = 0
    with_weights: bool = True


def key_file(folder: Path, secret: int = 18) -> Path:
    """Write a private key in PEM; return its file."""
    key = ec.derive_private_key(secret, ec.SECP256R1())
    path = folder / f"key-{secret}.pem"
    path.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return path


def bearssl_sources() -> list[Path]:
    """Return the vendored C files."""
    return sorted((BEARSSL / "src").glob("*/*.c"))


def built_verifier(folder: Path) -> Path:
    """Build the program with a host's compiler."""
    for described in FORMATS:
        (folder / described.header).write_text(header_text(described))
    program = folder / "verifier"
    includes = [f"-I{path}" for path in (folder, FIRMWARE / "trust", BEARSSL / "inc", BEARSSL / "src")]
    sources = [SOURCE, FIRMWARE / "trust" / "n6_trust.c", *bearssl_sources()]
    command = [
        "gcc",
        "-std=c11",
        "-O2",
        "-g",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-Wno-sign-compare",
        *SANITIZED,
        *includes,
    ]
    subprocess.run([*command, *map(str, sources), "-o", str(program)], check=True)
    return program


def statuses(program: Path, keys: Path | Sequence[Path], images: Iterable[Image], release: bytes = b"") -> list[Status]:
    """Return the status of each image on a board with these keys and this release."""
    release = release or release_bytes(2, ())
    points = [public_point(each) for each in ([keys] if isinstance(keys, Path) else keys)]
    asked = b"".join(points).ljust(MOST_KEYS * len(points[0]), b"\0") + board_identity(BOARD)
    asked += struct.pack("=2I", len(points), len(release)) + release
    for each in images:
        numbers = each.floor, each.revoked, each.with_weights, each.code, each.weights, each.trailer, len(each.data)
        asked += _REQUEST.pack(each.is_appli, *numbers) + SUBJECT + each.data
    result = subprocess.run([program], input=asked, capture_output=True, check=False)
    assert result.returncode == 0, result.stderr.decode()
    return [Status(int(line)) for line in result.stdout.split()]
