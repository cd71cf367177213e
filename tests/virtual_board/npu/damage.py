"""Damaged blobs, run with address and undefined-behaviour sanitizers."""

from __future__ import annotations

import os
import random
import struct
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from virtual_board.npu.assembler import Epoch
from virtual_board.npu.model import BLOB, END, assembled, gcc, model_files, offset_of, unit

SANITIZERS = ("-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer")
LONGEST = 0x8_0000 // 4
EXTREMES = (0, 1, 2, 0xFF, 0xFFFF, 0x1_0000, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF)
OUTSIDE = (0x10_0000, 0xF_FFF0, 0x3400_0000, 0x7100_0000, 0xFFFF_FFF0)
Program = list[list[int]]


def _opcode(instruction: Sequence[int]) -> int:
    return instruction[0] & 31


def _writes(program: Program) -> Program:
    """Return the writes of one word."""
    return [one for one in program if _opcode(one) == 0 and len(one) == 2]


def _any_bits(rng: random.Random, program: Program) -> None:
    for _ in range(rng.randint(1, 4)):
        instruction = rng.choice(program)
        at = rng.randrange(len(instruction))
        instruction[at] ^= rng.choice((1 << rng.randrange(32), rng.getrandbits(32)))


def _another_unit(rng: random.Random, program: Program) -> None:
    instruction = rng.choice(program)
    instruction[0] = instruction[0] & 0x03FF_FFFF | rng.randrange(64) << 26


def _an_extreme_value(rng: random.Random, program: Program) -> None:
    instruction = rng.choice([one for one in program if len(one) > 1] or [[0, 0]])
    instruction[rng.randrange(1, len(instruction))] = rng.choice(EXTREMES)


def _a_pointer_outside(rng: random.Random, program: Program) -> None:
    address = offset_of("STRENG", "ADDR") // 4
    writes = [
        one for one in _writes(program) if one[0] >> 16 & 0x3FF == address and 0 <= (one[0] >> 26) - unit("STRENG") < 10
    ]
    for one in writes[:1] and [rng.choice(writes)]:
        one[1] = rng.choice((*OUTSIDE, rng.getrandbits(32)))


def _without_an_instruction(rng: random.Random, program: Program) -> None:
    del program[rng.randrange(len(program))]


def _twice(rng: random.Random, program: Program) -> None:
    first = rng.randrange(len(program))
    again = [list(one) for one in program[first : first + rng.randint(1, 20)]]
    at = rng.randrange(len(program))
    program[at:at] = again * rng.randint(1, 5)


def _exchanged(rng: random.Random, program: Program) -> None:
    one, other = rng.randrange(len(program)), rng.randrange(len(program))
    program[one], program[other] = program[other], program[one]


def _in_a_circle(rng: random.Random, program: Program) -> None:
    """Give a port another source, which may be its own unit."""
    ports = [one for one in _writes(program) if one[0] >> 26 == unit("STRSWITCH") and one[0] >> 16 & 0x3FF]
    for one in ports[:1] and [rng.choice(ports)]:
        one[1] = 1 | rng.randrange(32) << 1 | rng.choice((0, 0x0101_0100))


MUTATIONS: tuple[Callable[[random.Random, Program], None], ...] = (
    _any_bits,
    _another_unit,
    _an_extreme_value,
    _a_pointer_outside,
    _without_an_instruction,
    _twice,
    _exchanged,
    _in_a_circle,
)


def damaged(rng: random.Random, epochs: Sequence[Epoch]) -> list[int]:
    program = [list(one) for epoch in rng.choices(epochs, k=rng.randint(1, 2)) for one in epoch.program()] + [list(END)]
    for _ in range(rng.randint(1, 3)):
        rng.choice(MUTATIONS)(rng, program)
    words = assembled(*program)[:LONGEST]
    if not rng.randrange(20):
        words[1] = rng.choice((*EXTREMES, rng.randrange(len(words)), len(words) + rng.randrange(1000)))
    if not rng.randrange(50):
        words[0] ^= 1 << rng.randrange(32)
    if not rng.randrange(50):
        words = words[: rng.randrange(1, len(words))]
    return words


@dataclass(frozen=True)
class Outcome:
    microseconds: int
    sentence: str


def build_main(folder: Path, flags: Sequence[str]) -> Path:
    program = folder / "blobs_main"
    main = Path(__file__).parent / "blobs_main.c"
    gcc(folder, [*flags, *map(str, model_files()), str(main), "-o", str(program)])
    return program


def run_all(program: Path, memory: np.ndarray, blobs: Sequence[Sequence[int]]) -> tuple[list[Outcome], int]:
    """Run each blob in the same memory.

    Returns:
        The outcomes, and the process's peak memory in bytes.
    """
    given = program.parent / "blobs"
    with given.open("wb") as file:
        file.write(struct.pack("=I", memory.size) + memory.tobytes())
        for words in blobs:
            file.write(struct.pack(f"=II{len(words)}I", BLOB, len(words), *words))
    environment = {**os.environ, "ASAN_OPTIONS": "quarantine_size_mb=1:malloc_context_size=5"}
    done = subprocess.run([str(program), str(given)], capture_output=True, text=True, env=environment, check=False)
    given.unlink()
    lines = done.stdout.splitlines()
    assert done.returncode == 0, f"blob {len(lines)}: {done.stderr[-3000:]}"
    outcomes = [Outcome(int(time), sentence) for time, sentence in (line.split(" ", 1) for line in lines[:-1])]
    return outcomes, int(lines[-1]) * 1024
