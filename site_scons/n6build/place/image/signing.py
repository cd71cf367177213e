"""ST's STM32_SigningTool_CLI, as an alternative to n6build's own boot header.

It signs with keys, or serves projects that want the vendor's tool. Facts used: up to release 2.20 the
tool places the payload at 0x400 by itself, from 2.21 on only with -align. Without -s it asks before it
replaces a file. Its output file is read-only. For unsigned images neither -la nor -ep is given: both
have broken boots.
"""

from __future__ import annotations

import re
import stat
import struct
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from n6build.base.captured import run_captured
from n6build.base.environment import key_password, read_environment
from n6build.base.errors import N6Error
from n6build.base.files import files_in, read_bytes
from n6build.compile.toolchain import which
from n6build.describe.formats.boot_header import BASE, HEADER_BYTES, MAGIC, BinaryType

COMMAND = "STM32_SigningTool_CLI"
PUBLIC_KEYS, _PRIVATE = "publicKey*.pem", "privateKey*.pem"
_FIRST_WITH_ALIGN = (2, 21, 0)
_TIMEOUT_S = 60
_TYPES = {BinaryType.FSBL: "fsbl", BinaryType.SSBL: "ssbl"}

# A function that runs a command line, and returns its exit status and output.
Run = Callable[[Sequence[str]], tuple[int, str]]


@dataclass(frozen=True)
class Keys:
    """PEM files made by the tool's key generator."""

    public: tuple[Path, ...]
    private: Path


def run_tool(command: Sequence[str]) -> tuple[int, str]:
    """Run the tool and return (exit status, output).

    Raises:
        N6Error: N6-SIGN-002 if the command cannot be run or takes longer than 60 s.
    """
    try:
        return run_captured(command, _TIMEOUT_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise N6Error("N6-SIGN-002", f"cannot be run: {error}", where=COMMAND) from error


def find_signing_tool() -> Path:
    """Return the path of the signing tool.

    Raises:
        N6Error: N6-SIGN-001 if it is not in PATH.
    """
    found = which(COMMAND, read_environment().path)
    if found is None:
        hint = "install STM32CubeProgrammer, which contains it, or omit 'sign': n6build then writes the header itself"
        raise N6Error("N6-SIGN-001", f"{COMMAND} is not in PATH", hint=hint)
    return found


def find_keys(folder: Path) -> Keys:
    """Return a folder's files publicKey*.pem, sorted, and its one privateKey*.pem.

    Raises:
        N6Error: N6-SIGN-003 if the folder has no public key, or not exactly one private key.
    """
    public, private = files_in(folder, PUBLIC_KEYS), files_in(folder, _PRIVATE)
    if not public or len(private) != 1:
        what = (
            f"has {len(public)} public and {len(private)} private keys; it needs at least one public key and one "
            f"private key"
        )
        raise N6Error("N6-SIGN-003", what, where=str(folder), hint="name the keys publicKey00.pem..., privateKey00.pem")
    return Keys(tuple(public), private[0])


def is_private_key(path: str) -> bool:
    """Return True if the file's name is that of a private key.

    Provenance leaves out private keys.
    """
    return PurePath(path).match(_PRIVATE)


def tool_version(tool: Path, run: Run = run_tool) -> tuple[int, int, int]:
    """Return (major, minor, patch) of the tool.

    Raises:
        N6Error: N6-SIGN-002 if the tool does not report its version.
    """
    _, output = run([str(tool), "--version"])
    match = re.search(r"v(\d{1,4})\.(\d{1,4})\.(\d{1,4})", output)
    if not match:
        raise N6Error("N6-SIGN-002", "does not report its version", where=COMMAND)
    return int(match[1]), int(match[2]), int(match[3])


def signed_image(
    payload: bytes,
    kind: BinaryType,
    tool: Path,
    keys: Keys | None,
    load_address: int,
    payload_offset: int,
    run: Run = run_tool,
) -> bytes:
    """Return the image that the tool makes of a payload.

    Args:
        payload: Program, which begins with its vector table.
        kind: Type for the header.
        tool: Path of the signing tool.
        keys: Keys; None to write the header without signing.
        load_address: Load address in the header, passed only with keys.
        payload_offset: Bytes from the start of the image to the payload, as the chip requires.
        run: Function that runs the tool.

    Raises:
        N6Error: N6-SIGN-002 if the tool fails; N6-SIGN-004 if its output would not start.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "payload.bin").write_bytes(payload)
        out = folder / "image.bin"
        command = [
            str(tool),
            "-s",
            "-bin",
            str(folder / "payload.bin"),
            "-t",
            _TYPES[kind],
            "-hv",
            "2.3",
            "-o",
            str(out),
        ]
        if tool_version(tool, run) >= _FIRST_WITH_ALIGN:
            command.append("-align")
        command += _key_options(keys, load_address)
        status, output = run(command)
        errors = [line.strip() for line in output.splitlines() if line.lstrip().lower().startswith("error")]
        if status or errors or not out.is_file():
            what = errors[0] if errors else f"exit status {status}, {'an' if out.is_file() else 'no'} output file"
            raise N6Error("N6-SIGN-002", f"signing failed: {what}", where=COMMAND)
        image = read_bytes(out)
        # On some systems, a temporary folder with read-only files cannot be removed.
        out.chmod(stat.S_IRUSR | stat.S_IWUSR)
    check_signed(image, payload, payload_offset)
    return image


def _key_options(keys: Keys | None, load_address: int) -> list[str]:
    if keys is None:
        return ["-nk"]
    options = ["-pubk", *map(str, keys.public), "-prvk", str(keys.private), "-la", f"0x{load_address:08X}"]
    password = key_password()
    return [*options, "-pwd", password] if password else options


def check_signed(image: bytes, payload: bytes, payload_offset: int) -> None:
    """Check that a signed image would start.

    Raises:
        N6Error: N6-SIGN-004 if magic, place of the payload or entry point is wrong.
    """
    wrong = ""
    if image[: len(MAGIC)] != MAGIC:
        wrong = f"it has {len(image)} bytes and begins with {image[:4].hex()}"
    elif any(image[HEADER_BYTES:payload_offset]) or image[payload_offset : payload_offset + len(payload)] != payload:
        wrong = f"the payload is not at 0x{payload_offset:X}"
    elif struct.unpack_from("<I", image, BASE.offset_of("entry")) != struct.unpack_from(
        "<I", image, payload_offset + 4
    ):
        wrong = "its entry point is not the reset vector"
    if wrong:
        hint = "try another release of STM32CubeProgrammer, or omit 'sign': n6build then writes the header itself"
        raise N6Error("N6-SIGN-004", f"the signed image would not start: {wrong}", where=COMMAND, hint=hint)
