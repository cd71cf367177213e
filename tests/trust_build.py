"""Programs for the virtual board that verify signatures.

They are compiled as other programs of tests.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from compiled_objects import compile_objects
from firmware_build import BOARD, bring_up, build, compiler, image_of
from n6build.base.paths import FIRMWARE
from n6build.board.run.console_log import ends_run
from n6build.describe.formats.boot_header import BinaryType
from n6build.describe.hardware.program_places import fsbl_ram, program_script
from n6build.place.image.boot_header import with_boot_header
from n6build.place.image.elf_reader import payload_of
from n6build.place.trust.anchor import trust_header
from n6build.place.trust.keys import public_point, signature
from n6build.place.trust.sign import signed_appli
from n6build.steps.signing_settings import BEARSSL_FLAGS
from trust.host_verifier import BEARSSL, bearssl_sources, key_file
from virtual_board.small_programs import boot

# The build compiles programs with the same options.
SMALL = ("-O2", "-ffunction-sections", "-fdata-sections")
LOAD = BOARD.soc.load_and_run
ORIGIN = LOAD.load_address + LOAD.payload_offset
SLEEP_FOR_EVER = bytes.fromhex("30bf fde7")
STARTED = "n6 fsbl appli bytes="
# Payload sizes of the Applis whose verification is measured, and the distance between the Applis.
LENGTHS = (4096, 65536)
DISTANCE = 0x100000


def trust_header_of(*points: bytes) -> str:
    soc = BOARD.soc
    return trust_header(points, BOARD.name, soc.security_counter, soc.revoked_keys, soc.encryption_key)


def decides(line: str) -> bool:
    """Return whether an FSBL starts an Appli, or refuses it, with this line."""
    return ends_run(line) or line.startswith(STARTED)


def signed(
    folder: Path, content: bytes, *, secret: int = 18, counter: int = 0, board: str = BOARD.name, number: int = 0
) -> bytes:
    """Return a signed Appli of two vectors and this content."""
    payload = struct.pack("<II", ORIGIN + 0x1000, ORIGIN + 9) + content
    image = with_boot_header(payload, ORIGIN, BinaryType.SSBL, LOAD.payload_offset)
    key = key_file(folder, secret)
    return signed_appli(image, counter, board, partial(signature, key, public_point(key)), number)


def build_verifying(folder: Path, name: str, sources: Sequence[Path], *points: bytes, more: Sequence[str] = ()) -> Path:
    """Return the ELF file of a first program that knows these public keys."""
    generated = folder / "generated"
    generated.mkdir(parents=True)
    (generated / "n6_trust_key.h").write_text(trust_header_of(*points))
    includes = [generated, FIRMWARE / "trust", BEARSSL / "inc"]
    verifying = [*sorted((FIRMWARE / "trust").glob("*.c")), *_bearssl(folder / "bearssl")]
    extra = ["-DN6_TRUST=2", *SMALL, *more, *(f"-I{path}" for path in includes)]
    return build(folder, name, [*sources, *bring_up(), *verifying], program_script(fsbl_ram(BOARD.soc)), extra)


def _bearssl(folder: Path) -> list[Path]:
    """Return the object files of BearSSL."""
    folder.mkdir()
    includes = [f"-I{BEARSSL / part}" for part in ("src", "inc")]
    command = [compiler(), *BEARSSL_FLAGS, "-Werror", *includes]
    return [folder / name for name in compile_objects(folder, bearssl_sources(), command)]


@dataclass(frozen=True)
class Cost:
    """The cost of verifying an image on the virtual board.

    Attributes:
        signature: Instructions for its signature.
        byte: Instructions for each of its bytes.
        decrypted: Instructions for each byte that is decrypted.
        code: Bytes that verification adds to an FSBL.
    """

    signature: int
    byte: float
    decrypted: float
    code: int


def cost(folder: Path) -> Cost:
    """Measure the cost on the virtual board, with Applis of two lengths."""
    point = public_point(key_file(folder))
    program = FIRMWARE.parent / "tests" / "firmware" / "programs" / "trust_cost.c"
    elf = build_verifying(folder / "cost", "trust_cost", [program], point, more=[f"-DDISTANCE={DISTANCE}u"])
    parts = {BOARD.slots.fsbl.address: image_of(elf, BinaryType.FSBL)}
    for number, size in enumerate(LENGTHS):
        parts[BOARD.slots.appli.address + number * DISTANCE] = signed(folder, bytes(size))
    result = boot(folder, parts, stop=ends_run)
    found = re.findall(r"cost bytes=(\d+) cycles=(\d+) decrypt=(\d+) ok", "\n".join(result.lines))
    (short, fewer, little), (long, more, much) = (tuple(map(int, each)) for each in found)
    byte = (more - fewer) / (long - short)
    return Cost(round(fewer - short * byte), byte, (much - little) / (long - short), _code(folder, point))


def _code(folder: Path, point: bytes) -> int:
    """Return the bytes that verification adds to the image of an FSBL."""
    sources = sorted((FIRMWARE / "fsbl").glob("*.c"))
    plain = build(folder / "plain", "fsbl", [*sources, *bring_up()], program_script(fsbl_ram(BOARD.soc)), SMALL)
    verifying = build_verifying(folder / "verifying", "fsbl", sources, point)
    return len(payload_of(verifying).data) - len(payload_of(plain).data)
