"""Signature settings of the build, and the C code that verifies signatures."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from n6build.base.console import say
from n6build.base.errors import N6Error
from n6build.base.files import files_in
from n6build.base.paths import FIRMWARE, project_path
from n6build.base.size_text import counted
from n6build.compile.toolchain import CPU
from n6build.describe.choices import Choices
from n6build.describe.formats.release import MOST_KEYS
from n6build.engine.step import Step
from n6build.place.image.rom_keys import read_rom_keys
from n6build.place.image.signing import Keys, find_keys
from n6build.place.trust.choice import LEVELS, Trust
from n6build.place.trust.encryption import Encryption, encryption_of
from n6build.place.trust.keys import is_private, other_readers, public_point
from n6build.place.trust.signers import SCHEME, token_key, words_of
from n6build.steps.compile_c import Compilation, compile_step, compile_steps
from n6build.steps.goal_checks import makes_appli
from n6build.steps.rom_signed_image import RomSigning

# Beginning of a value of option sign with which n6build signs, not ST's tool.
SIGNS_ITSELF = "n6build:"
_BEARSSL = FIRMWARE / "third_party" / "bearssl"
# BearSSL has its own warnings. With -O2 a signature takes 50 % longer. With sections, a link takes only called functions.
BEARSSL_FLAGS = ("-std=c99", *CPU, "-O3", "-g", "-W", "-Wall", "-ffunction-sections", "-fdata-sections")
_PARTS = ("codec", "ec", "hash", "int")


@dataclass(frozen=True)
class Signing:
    """Settings of the signing tool.

    Attributes:
        tool: Path of the signing tool.
        keys: Keys; None if the tool only writes the header.
    """

    tool: Path
    keys: Keys | None


def rom_signing_of(choices: Choices) -> RomSigning | None:
    """Return the keys of the boot ROM, or None if n6build does not sign the FSBL.

    Raises:
        N6Error: N6-SIGN-003, N6-FUSE-003, N6-TRUST-001 to N6-TRUST-003 if the keys cannot be used; N6-TRUST-006 if the
            private key is in the build folder; N6-SIGN-005 if n6build does not sign this FSBL; N6-SIGN-006.
    """
    if not choices.sign.startswith(SIGNS_ITSELF):
        if choices.fsbl_version:
            what = "'fsbl_version' has no effect on an FSBL that n6build does not sign"
            raise N6Error("N6-SIGN-005", what, hint="add sign=n6build:FOLDER, or omit fsbl_version")
        return None
    if choices.fsbl:
        what = "'sign' signs n6build's own FSBL, not the one of option fsbl"
        raise N6Error("N6-SIGN-005", what, hint="sign that FSBL with STM32_SigningTool_CLI, and omit sign")
    folder = Path(choices.sign.removeprefix(SIGNS_ITSELF))
    points, key = read_rom_keys(folder), find_keys(folder).private
    _check_secret(choices, key, "read this private key, and sign with it")
    point = public_point(key)
    if point not in points:
        what = "is the private half of no public key beside it"
        raise N6Error("N6-SIGN-006", what, where=str(key), hint="keep the keys of one run of ST's key generator")
    return RomSigning(
        project_path(key), tuple(each.hex() for each in points), points.index(point), choices.fsbl_version
    )


def trust_of(choices: Choices) -> Trust | None:
    """Return the signature settings, or None if nothing is signed.

    Raises:
        N6Error: N6-TRUST-001 to N6-TRUST-003 if the key cannot be used; N6-TRUST-005 to N6-TRUST-011 if
            choices contradict one another.
    """
    if choices.trust == "off":
        given = (choices.trust_key, choices.trust_keys, choices.trust_counter, choices.sign_with, choices.encrypt_key)
        if any(given) or choices.trust_advance == "on":
            names = "'trust_key', 'trust_keys', 'trust_counter', 'trust_advance', 'sign_with' and 'encrypt_key'"
            what = f"{names} have no effect without 'trust'"
            raise N6Error("N6-TRUST-005", what, hint="set trust=code or trust=full")
        return None
    if not choices.trust_key:
        what = f"'trust={choices.trust}' needs a key for the signatures"
        raise N6Error("N6-TRUST-005", what, hint="trust_key=FILE")
    _check_possible(choices)
    key, sign_with = Path(choices.trust_key), choices.sign_with
    point, private = public_point(key).hex(), is_private(key)
    if private and sign_with:
        what = "contains a private key, but with 'sign_with' another one signs"
        hint = "name its public half: openssl pkey -in KEY -pubout -out board.pub.pem"
        raise N6Error("N6-TRUST-005", what, where=str(key), hint=hint)
    if not private and not sign_with:
        hint = "name the private key, or what signs: sign_with=COMMAND"
        raise N6Error("N6-TRUST-005", "contains only a public key", where=str(key), hint=hint)
    if sign_with.startswith(SCHEME):
        token_key(sign_with)
    elif sign_with:
        words_of(sign_with)
    if private:
        _check_secret(choices, key, "read this private key, and sign with it")
    points = tuple(public_point(Path(each)).hex() for each in choices.trust_keys) or (point,)
    if point not in points or len(points) > MOST_KEYS or len(set(points)) < len(points):
        found = counted(len(points), "key")
        what = f"has {found}; it needs 'trust_key', and at most {MOST_KEYS} keys that differ"
        raise N6Error("N6-TRUST-011", what, where="trust_keys", hint="add a new key behind the others")
    return Trust(
        choices.trust,
        project_path(key),
        points,
        points.index(point),
        choices.trust_counter,
        sign_with,
        _encryption_of(choices),
        choices.trust_advance == "on",
    )


def _encryption_of(choices: Choices) -> Encryption | None:
    """Return the key of encrypted images, or None without option encrypt_key."""
    if not choices.encrypt_key:
        return None
    if choices.loader == "reloc":
        what = "'encrypt_key' does not encrypt relocatable models"
        raise N6Error("N6-TRUST-013", what, hint="set loader=linked, or remove encrypt_key")
    found = encryption_of(Path(project_path(Path(choices.encrypt_key))))
    _check_secret(choices, Path(choices.encrypt_key), "read this key, and decrypt with it")
    return found


def _check_secret(choices: Choices, key: Path, use: str) -> None:
    """Reject a secret key in the build folder, and warn of one that others can read."""
    if Path(choices.launched, choices.build).resolve() in key.resolve().parents:
        what = "is inside the build folder, whose files are copied and shared"
        raise N6Error("N6-TRUST-006", what, where=str(key), hint="keep private keys outside of the project")
    if others := other_readers(key):
        say("Warning", str(key), f"{others} can {use}: run chmod 600", style="bad")


def _check_possible(choices: Choices) -> None:
    if choices.fsbl or not makes_appli(choices):
        what = "'trust' needs n6build's own FSBL and Appli: it does not sign other programs"
        raise N6Error("N6-TRUST-007", what, hint="remove options fsbl and appli, or trust")
    if choices.loader == "reloc" and choices.load == "xip":
        what = "code that runs in place is read again after its verification"
        raise N6Error("N6-TRUST-007", what, hint="set load=copy, or trust=off")


def trusting(how: Compilation, trust: Trust) -> Compilation:
    """Return the settings for C code that uses signatures."""
    how = how.looking_in(FIRMWARE / "trust").looking_in_foreign(_BEARSSL / "inc")
    if trust.encryption:
        how = how.looking_in(FIRMWARE / "trust" / "encryption").defining("N6_ENCRYPTION=1")
    return how.defining(f"N6_TRUST={LEVELS[trust.level]}")


def trust_objects(folder: str, how: Compilation, *, decrypts: bool) -> tuple[Step, ...]:
    """Return the steps for the code that verifies signatures.

    BearSSL is compiled with the flags of its authors.

    Args:
        folder: Folder for the object files.
        how: Settings returned by `trusting`.
        decrypts: The board decrypts what it copies from flash.
    """
    of_bearssl = Compilation(replace(how.toolchain, flags=BEARSSL_FLAGS)).looking_in_foreign(
        _BEARSSL / "src", _BEARSSL / "inc"
    )
    parts = (*_PARTS, "symcipher") if decrypts else _PARTS
    vendored = [file for part in parts for file in files_in(_BEARSSL / "src" / part, "*.c")]
    own = files_in(FIRMWARE / "trust", "*.c")
    own = [*own, *(files_in(FIRMWARE / "trust" / "encryption", "*.c") if decrypts else ())]
    return (*compile_steps(f"{folder}/bearssl", vendored, of_bearssl), *compile_steps(f"{folder}/trust", own, how))


def release_objects(folder: str, release: Step | None, how: Compilation) -> tuple[Step, ...]:
    """Return the steps of the release in a signed Appli, the release first."""
    return (release, compile_step(f"{folder}/appli/n6_release.o", release.name, how)) if release else ()
