"""Applis behind a real MCUboot on the virtual board, in its RAM-load mode.

N6BUILD_MCUBOOT names a checkout of MCUboot, which is not part of n6build. Without it the tests are skipped.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from compiled_objects import compile_objects
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key
from firmware_build import BOARD, CPU, bring_up, build, compiler, headers
from n6build.base.paths import FIRMWARE
from n6build.describe.hardware.program_places import fsbl_ram, program_script
from trust.host_verifier import key_file
from trust_build import SMALL

from end_to_end.conftest import EQUAL, ROOT, Project

pytestmark = pytest.mark.slow

PORT = ROOT / "tests/firmware/mcuboot"
FIRST_SLOT = 0x72000000
SECOND_SLOT = FIRST_SLOT + BOARD.soc.load_and_run.max_bytes
BOOTUTIL = (
    "bootutil_area bootutil_find_key bootutil_img_hash bootutil_img_security_cnt bootutil_loader bootutil_misc "
    "bootutil_public caps fault_injection_hardening image_ecdsa image_validate loader ram_load swap_misc swap_scratch tlv"
)
TINYCRYPT = "ecc ecc_dsa ecc_platform_specific sha256 utils"
INCLUDES = ("boot/bootutil/include", "boot/bootutil/src", "ext/tinycrypt/lib/include", "ext/mbedtls-asn1/include")


@pytest.fixture
def mcuboot() -> Path:
    """Return the folder of MCUboot."""
    named = os.environ.get("N6BUILD_MCUBOOT", "")
    if not named:
        pytest.skip("N6BUILD_MCUBOOT names no checkout of MCUboot")
    return Path(named)


@pytest.fixture
def fsbl(mcuboot: Path, tmp_path: Path) -> Path:
    """Return an FSBL with MCUboot in place of its loader."""
    folder = tmp_path / "fsbl"
    headers(folder / "include")
    (folder / "include/n6_mcuboot_key.h").write_text(key_header(key_file(tmp_path)))
    includes = [f"-I{PORT}", *(f"-I{mcuboot / name}" for name in INCLUDES)]
    extra = [*SMALL, f"-DN6_MCUBOOT_SLOT={FIRST_SLOT:#x}u", *includes]
    theirs = [
        *(mcuboot / f"boot/bootutil/src/{name}.c" for name in BOOTUTIL.split()),
        *(mcuboot / f"ext/tinycrypt/lib/source/{name}.c" for name in TINYCRYPT.split()),
        *(mcuboot / f"ext/mbedtls-asn1/src/{name}.c" for name in ("asn1parse", "platform_util")),
    ]
    # Their code has warnings of gcc, and is C with GNU's extensions.
    command = [compiler(), "-std=gnu11", "-w", *CPU, f"-I{FIRMWARE / 'bring_up'}", "-Iinclude", *extra]
    objects = [folder / name for name in compile_objects(folder, theirs, command)]
    sources = [
        FIRMWARE / "fsbl/n6_load_appli.c",
        FIRMWARE / "fsbl/main.c",
        PORT / "n6_mcuboot.c",
        *bring_up(),
        *objects,
    ]
    script = program_script(fsbl_ram(BOARD.soc))
    return build(folder, "mcuboot", sources, script, extra, of_first=["-Dn6_load_appli=n6_load_appli_of_n6build"])


def key_header(key: Path) -> str:
    """Return the header with the public half of a key, as imgtool's getpub writes it."""
    public = load_pem_private_key(key.read_bytes(), password=None).public_key()
    encoded = public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return f"static const uint8_t n6_mcuboot_key[] = {{{', '.join(map(str, encoded))}}};\n"


def signed_image(project: Project, key: Path, version: str) -> bytes:
    """Return the Appli of a release, as an image for MCUboot."""
    project.done("model=keyword", "trust=full", f"trust_key={key}", "mcuboot", f"mcuboot_version={version}")
    return (project.root / "build/nucleo-n657-trust-full/keyword/appli_mcuboot.bin").read_bytes()


def altered(image: bytes) -> bytes:
    return image[:0x1000] + bytes([image[0x1000] ^ 1]) + image[0x1001:]


def run_with(project: Project, fsbl: Path, slots: Sequence[bytes]) -> str:
    """Return the output of a run with these images in the slots of MCUboot."""
    given = []
    for address, image in zip((FIRST_SLOT, SECOND_SLOT), slots, strict=False):
        file = project.home / f"slot_{address:x}.bin"
        file.write_bytes(image)
        given.append(f"{file}@{address:#x}")
    return project.scons(
        "model=keyword", f"fsbl={fsbl}", f"data={','.join(given)}", "probe=virtual", "flash", "run"
    ).output


def test_mcuboot_starts_a_signed_appli(project: Project, fsbl: Path) -> None:
    image = signed_image(project, key_file(fsbl.parents[1]), "1.2.3")
    assert EQUAL in run_with(project, fsbl, [image])
    # The newer image is damaged: MCUboot takes the older one.
    newer = altered(signed_image(project, key_file(fsbl.parents[1]), "1.3.0"))
    output = run_with(project, fsbl, [image, newer])
    assert "mcuboot: Image in the %s slot is not valid!" in output
    assert EQUAL in output


def test_mcuboot_starts_no_other_appli(project: Project, fsbl: Path) -> None:
    image = signed_image(project, key_file(fsbl.parents[1]), "1.2.3")
    theirs = signed_image(project, key_file(fsbl.parents[1], 19), "1.2.3")
    for wrong in (altered(image), theirs):
        output = run_with(project, fsbl, [wrong])
        assert "mcuboot: Image in the %s slot is not valid!" in output
        assert "n6 appli start" not in output
