"""Boots of a verifying FSBL with a glitch, and with a wrong Appli.

If all executions of an instruction are skipped, it is replaced by NOP in the image. That is more than a
glitch does, which skips one. NOPs have the instruction's length, so that IT blocks keep their
conditions. The emulator skips one execution, or flips a bit before it.
"""

from __future__ import annotations

import json
import random
import re
import struct
import subprocess
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import Literal

import trust_build
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256, Hash
from firmware_build import BOARD, write_nor
from n6build.base.errors import N6Error
from n6build.base.paths import FIRMWARE
from n6build.board.virtual_board.build import find_emulator
from n6build.board.virtual_board.run import Limits, NorBoot, RunResult, run_nor
from n6build.describe.formats.boot_header import BASE, HEADER_BYTES, BinaryType
from n6build.describe.formats.release import SIGNATURE_BYTES
from n6build.describe.hardware.fuse import Fuse
from n6build.place.image.boot_header import with_boot_header
from n6build.place.image.elf_reader import Payload, payload_of, symbols_of
from n6build.place.trust.keys import public_point, signature
from n6build.place.trust.sign import signed_appli
from trust.host_verifier import key_file
from trust_build import LOAD, ORIGIN, build_verifying

# A NOP, then sleep for ever, and data.
CONTENT = bytes.fromhex("00bf 30bf fde7") + bytes(range(80))
# The Appli has two vectors, then its first instruction. A run ends before the second one: the breakpoint of the virtual board
# also stops a processor that jumps to where the MPU lets nothing run.
FIRST = ORIGIN + 8
SECOND = FIRST + 2
SECRET, REVOKED, OF_AN_ATTACKER = 18, 19, 20
_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
# The decision of FSBL and verifier, and all that it calls but arithmetic; loops of bytes are short here.
DECISION = re.compile(
    r"main|stop|key_of|n6_(trust|load_appli|start_appli|sleep_for_ever|line_error)\w*"
    r"|memcmp|memcpy|__popcount\w*|br_ecdsa_i31_vrfy_raw|api_muladd|multiply_and_add|check_again"
)
# The part of it that only matters to signatures which numbers must refuse.
ONLY_SIGNED = frozenset({"br_ecdsa_i31_vrfy_raw", "api_muladd", "multiply_and_add"})
# Curve, numbers and SHA-256.
ARITHMETIC = re.compile(r"br_\w+|p256_\w+|\w+_f256|point_\w+|sha2\w*|api_\w+")
ARITHMETIC_SHARE = 0.15
# A refused Appli takes 39 million instructions, of which 18 million come before the verification.
LIMITS = Limits(60_000_000, 40_000_000, until=SECOND)
# Slots of FSBL and Appli are in the first 4 MiB.
NOR_BYTES = 4 << 20
# The board refuses releases below 1, and has revoked its second key.
_FUSES = Fuse(BOARD.soc.security_counter, 1), Fuse(BOARD.soc.revoked_keys, 0b10)
FLOORED = replace(BOARD, fuses=(*BOARD.fuses, *_FUSES))
_NOPS = {2: bytes.fromhex("00bf"), 4: bytes.fromhex("aff30080")}
_LINE = re.compile(r"^\s*([0-9a-f]+):\t([0-9a-f]{4}(?: [0-9a-f]{4})?) *\t(\S+)(?:\t([^;@<]*))?")
_NAMES = ("r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "sl", "fp", "ip", "sp", "lr")
_REGISTER = re.compile(rf"\b({'|'.join(_NAMES)})\b")
# Instructions that only write their first register, or only read it.
_LOADS = re.compile(r"ldr|mov(?!t)|mvn|mrs|adr|[us]xt|clz|rev|cset")
_STORES = re.compile(r"str|stm|push|[us]mlal|bfi|cmp|cmn|tst|teq")
# Their condition, or their carry, is in the flags.
_READS_FLAGS = re.compile(r"(?:adc|sbc|cs|cin|cneg).*|.+(?:eq|ne|cs|cc|mi|pl|hi|ls|ge|lt|gt|le)(?:\.[nw])?")
_SP, FLAGS = 13, 16
_SYMBOL = re.compile(r"^([0-9a-f]{8}) <([^>]+)>:$")
End = Literal["refused", "stopped", "started", "not executed"]


@dataclass(frozen=True)
class Instruction:
    """An instruction of the FSBL.

    Attributes:
        function: Symbol that it belongs to.
        address: Address in RAM.
        size: Bytes, 2 or 4.
        text: Its mnemonic.
        operands: Text of its operands.
    """

    function: str
    address: int
    size: int
    text: str
    operands: str = ""

    @property
    def reads(self) -> list[int]:
        """Return the numbers of the registers that it reads.

        The flags are `FLAGS`. If it writes two registers, the second is among them.
        """
        named = [_NAMES.index(name) for name in _REGISTER.findall(self.operands)]
        operands = re.sub(r"[\[{].*?[\]}]", "", self.operands).count(",") + 1
        if self.text.startswith("pop"):
            named = []
        elif self.text.startswith("ldm"):
            named = named[:1]
        elif _LOADS.match(self.text) or (operands > 2 and not _STORES.match(self.text)):
            named = named[1:]
        stack = [_SP] if self.text.startswith(("push", "pop")) else []
        return sorted({*named, *stack, *([FLAGS] if _READS_FLAGS.fullmatch(self.text) else [])})


@dataclass(frozen=True)
class Glitch:
    """A glitch at an instruction.

    Attributes:
        execution: Number of the execution, from 1; 0 for all, which are skipped.
        register: Register in which a bit flips before the execution; None to skip it.
        bit: Number of the bit.
    """

    at: Instruction
    execution: int = 0
    register: int | None = None
    bit: int = 0

    @property
    def numbers(self) -> tuple[int, ...]:
        """Return the property of the virtual board, empty for all executions."""
        if not self.execution:
            return ()
        what = (self.at.size,) if self.register is None else (self.register, self.bit)
        return (self.at.address, self.execution, *what)


def program() -> bytes:
    """Return an unsigned Appli that only sleeps."""
    payload = struct.pack("<II", ORIGIN + 0x1000, FIRST | 1) + CONTENT
    return with_boot_header(payload, ORIGIN, BinaryType.SSBL, LOAD.payload_offset)


def signed(folder: Path, *, counter: int = 1, board: str = BOARD.name) -> bytearray:
    """Return a signed program that only sleeps."""
    return bytearray(trust_build.signed(folder, CONTENT, secret=SECRET, counter=counter, board=board))


def _by_revoked(folder: Path) -> bytearray:
    return bytearray(trust_build.signed(folder, CONTENT, secret=REVOKED, counter=1, number=1))


def _with_key(folder: Path) -> bytearray:
    """Return an Appli that names a key in its own bytes, behind those of the board."""
    key = key_file(folder, OF_AN_ATTACKER)
    point = public_point(key)
    image = bytearray(program())
    at = len(image) - len(point)
    image[at:] = point
    struct.pack_into("<I", image, BASE.offset_of("checksum"), sum(image[HEADER_BYTES:]) % 2**32)
    keys = next(each.address for each in symbols_of(folder / "fsbl" / "fsbl.elf") if each.name == "n6_trust_points")
    # Addresses wrap, and the size of a key is odd: some number reaches any byte.
    number = (LOAD.load_address + at - keys) * pow(len(point), -1, 2**32) % 2**32
    return bytearray(signed_appli(bytes(image), 1, BOARD.name, partial(signature, key, point), number))


def _altered(folder: Path, offset: int) -> bytearray:
    image = signed(folder)
    image[offset] ^= 0x10
    struct.pack_into("<I", image, BASE.offset_of("checksum"), sum(image[HEADER_BYTES:]) % 2**32)
    return image


def _unsigned(folder: Path) -> bytearray:
    image = signed(folder)
    at = BASE.offset_of("signature")
    image[at : at + SIGNATURE_BYTES] = bytes(SIGNATURE_BYTES)
    return image


def _x_of(secret: int) -> int:
    return ec.derive_private_key(secret % _ORDER, ec.SECP256R1()).public_key().public_numbers().x % _ORDER


def _forged(of_key: bool) -> bytearray:
    """Return an Appli whose signature holds if one of the two points is not added.

    It takes only the public key: r is the abscissa of that key, or of a multiple of the generator.
    """

    def forge(data: bytes) -> bytes:
        digest = Hash(SHA256())
        digest.update(data)
        z, factor = int.from_bytes(digest.finalize(), "big"), 7
        r = _x_of(SECRET) if of_key else _x_of(factor)
        s = r if of_key else z * pow(factor, -1, _ORDER) % _ORDER
        return r.to_bytes(32, "big") + s.to_bytes(32, "big")

    return bytearray(signed_appli(program(), 1, BOARD.name, forge))


# Applis that are refused, with the error. Each differs from a good one in one thing, so that one check refuses it.
WRONG: Mapping[str, tuple[Callable[[Path], bytearray], str]] = {
    "a bit of the program": (lambda folder: _altered(folder, LOAD.payload_offset + 20), "N6-FW-091"),
    "no signature": (_unsigned, "N6-FW-090"),
    "a bit behind the signature": (
        lambda folder: _altered(folder, BASE.offset_of("signature") + SIGNATURE_BYTES),
        "N6-FW-091",
    ),
    "a bit that the digest leaves out": (lambda folder: _altered(folder, BASE.size - 1), "N6-FW-091"),
    "another board": (lambda folder: signed(folder, board="stm32n6570-dk"), "N6-FW-092"),
    "a revoked key": (_by_revoked, "N6-FW-096"),
    "a key in the Appli": (_with_key, "N6-FW-091"),
    "an old counter": (lambda folder: signed(folder, counter=0), "N6-FW-093"),
    "forged: only the key's point": (lambda _: _forged(True), "N6-FW-091"),
    "forged: only the generator's point": (lambda _: _forged(False), "N6-FW-091"),
}


def instructions_of(elf: Path) -> list[Instruction]:
    """Return the instructions of a program, without its data."""
    command = ["arm-none-eabi-objdump", "-d", str(elf)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found, function = [], ""
    for line in text.splitlines():
        if symbol := _SYMBOL.match(line):
            function = symbol[2]
        elif (match := _LINE.match(line)) and not match[3].startswith("."):
            found.append(
                Instruction(function, int(match[1], 16), len(match[2].replace(" ", "")) // 2, match[3], match[4] or "")
            )
    return found


# Those that only the arithmetic of a signature refuses.
SIGNED = ("a bit of the program", "forged: only the key's point", "forged: only the generator's point")


@dataclass(frozen=True)
class Try:
    """A boot with a glitch, and its end.

    Attributes:
        wrong: The Appli, a key of `WRONG`.
    """

    wrong: str
    glitch: Glitch
    end: End


@dataclass(frozen=True)
class Fsbl:
    """A verifying FSBL.

    Attributes:
        folder: Folder for files.
    """

    folder: Path
    elf: Path

    @cached_property
    def instructions(self) -> tuple[Instruction, ...]:
        return tuple(instructions_of(self.elf))

    @cached_property
    def payload(self) -> Payload:
        return payload_of(self.elf)

    @cached_property
    def emulator(self) -> Path:
        return find_emulator(BOARD.soc)

    @cached_property
    def applis(self) -> dict[str, bytes]:
        return {name: bytes(make(self.folder)) for name, (make, _) in WRONG.items()}

    def end_of(self, wrong: str, glitch: Glitch | None) -> End:
        """Boot with an Appli of `WRONG` and with a glitch; return the end."""
        return self._end(self.applis[wrong], glitch)

    def end_of_good(self, glitch: Glitch | None = None) -> End:
        """Boot with a good Appli; return the end."""
        return self._end(bytes(signed(self.folder)), glitch)

    @cached_property
    def executed(self) -> dict[str, frozenset[int]]:
        """Return the addresses of the code that refuses each wrong Appli."""
        return {name: self._executed(appli) for name, appli in self.applis.items()}

    def _executed(self, appli: bytes) -> frozenset[int]:
        profile = self.folder / "profile.json"
        boot = replace(self._boot(appli, self.payload.data), profile=profile)
        run_nor(self.emulator, boot, programs=[], stop=lambda _: False, limits=LIMITS)
        # Code is translated immediately before it runs, by blocks.
        places = json.loads(profile.read_text())["places"]
        starts = [(address, size // blocks) for address, _, _, blocks, size in places if blocks]
        return frozenset(at for address, size in starts for at in range(address, address + size, 2))

    def _boot(self, appli: bytes, program: bytes) -> NorBoot:
        fsbl = with_boot_header(program, self.payload.address, BinaryType.FSBL, BOARD.soc.boot.payload_offset)
        parts = {BOARD.slots.fsbl.address: fsbl, BOARD.slots.appli.address: appli}
        return NorBoot(write_nor(self.folder / f"nor-{threading.get_ident()}.bin", parts, NOR_BYTES), FLOORED)

    def run(self, appli: bytes, glitch: Glitch | None, stops: Collection[int] = ()) -> RunResult:
        """Boot with an Appli and a glitch, and with the stops of `RunOptions`."""
        data = bytearray(self.payload.data)
        numbers = glitch.numbers if glitch else ()
        if glitch and not numbers:
            at = glitch.at.address - self.payload.address
            data[at : at + glitch.at.size] = _NOPS[glitch.at.size]
        limits = replace(LIMITS, glitch=numbers)
        # It does not end with the refusal: a refusal that runs on into a start counts as a start.
        boot = self._boot(appli, bytes(data))
        return run_nor(self.emulator, boot, programs=[], stop=lambda _: False, limits=limits, stops=stops)

    def _end(self, appli: bytes, glitch: Glitch | None) -> End:
        try:
            result = self.run(appli, glitch)
        except N6Error as error:
            if error.id == "N6-FILE-003":
                # A copy that runs wild, until the limit, lists more registers than are read.
                return "stopped"
            raise
        # The virtual board writes the state before a glitch.
        states = (state.registers[15] for state in result.stops.functions)
        if glitch and glitch.execution and glitch.at.address not in states:
            return "not executed"
        if result.ended == "until":
            return "started"
        return "refused" if any("N6-FW-09" in line for line in result.lines) else "stopped"

    @cached_property
    def decision(self) -> list[tuple[str, Instruction]]:
        """Return the wrong Applis, each with the instructions that may refuse it."""
        decision = [each for each in self.instructions if DECISION.fullmatch(each.function)]
        return [
            (name, each) for name in WRONG for each in decision if name in SIGNED or each.function not in ONLY_SIGNED
        ]

    @cached_property
    def arithmetic(self) -> list[tuple[str, Instruction]]:
        """Return the same for the arithmetic."""
        others = [each for each in self.instructions if ARITHMETIC.fullmatch(each.function)]
        return [(name, each) for name in SIGNED for each in others if not DECISION.fullmatch(each.function)]

    def skips(self, stride: int = 1, arithmetic: int = 100, jobs: int = 1) -> Iterator[Try]:
        """Skip all executions of instructions one by one, with each wrong Appli.

        Args:
            stride: 1 tries each instruction of the decision, 20 every twentieth.
            arithmetic: The same for the arithmetic.
            jobs: Boots at the same time.
        """
        wanted = [*self.decision[::stride], *self.arithmetic[::arithmetic]]
        return self._tries(((name, Glitch(each)) for name, each in wanted), jobs)

    def random_flips(self, count: int, jobs: int = 1, seed: int = 39) -> Iterator[Try]:
        """Flip a bit of a register before an execution that reads it."""
        return self._tries(islice(self._random(random.Random(seed), _flip), count), jobs)

    def random_skips(self, count: int, jobs: int = 1, seed: int = 39) -> Iterator[Try]:
        """Skip one execution of an instruction."""
        skips = self._random(random.Random(seed), lambda _, at, execution: Glitch(at, execution))
        return self._tries(islice(skips, count), jobs)

    def _random(
        self, source: random.Random, glitch: Callable[[random.Random, Instruction, int], Glitch | None]
    ) -> Iterator[tuple[str, Glitch]]:
        """Yield random glitches of the decision, and some of the arithmetic, for ever."""
        while True:
            is_arithmetic = source.random() < ARITHMETIC_SHARE
            name, at = source.choice(self.arithmetic if is_arithmetic else self.decision)
            # Instructions of the decision run a few times, those of the arithmetic often.
            execution = int(2 ** source.uniform(0, 10)) if is_arithmetic else source.choice((1, 1, 1, 2, 3))
            if at.address in self.executed[name] and (chosen := glitch(source, at, execution)):
                yield name, chosen

    def _tries(self, wanted: Iterable[tuple[str, Glitch]], jobs: int) -> Iterator[Try]:
        self.applis, self.payload, self.emulator  # noqa: B018 - threads share what is computed before.
        with ThreadPoolExecutor(jobs) as pool:
            yield from pool.map(lambda each: Try(each[0], each[1], self.end_of(*each)), wanted)


def _flip(source: random.Random, at: Instruction, execution: int) -> Glitch | None:
    if not at.reads:
        return None
    register = source.choice(at.reads)
    return Glitch(at, execution, register, source.randrange(28, 32) if register == FLAGS else source.randrange(32))


def verifying_fsbl(folder: Path) -> Fsbl:
    """Build an FSBL as the build does."""
    sources = sorted((FIRMWARE / "fsbl").glob("*.c"))
    points = [public_point(key_file(folder, secret)) for secret in (SECRET, REVOKED)]
    return Fsbl(folder, build_verifying(folder / "fsbl", "fsbl", sources, *points))
