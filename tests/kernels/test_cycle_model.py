"""The estimate of a Cortex-M55's cycles from executed instructions.

The estimate is in tools/benchmarks/cortex_m55_cycles.py.
"""

import subprocess
from pathlib import Path

import pytest
from benchmarks.cortex_m55_cycles import Cost, cost, disassembled

from kernels.cortex_m55 import CFLAGS, COMPILER


def cost_of(lines: str, folder: Path, executed: list[int] | None = None) -> Cost:
    """Return the cost of instructions, separated by semicolons.

    Args:
        executed: Indices of the instructions in their order of execution; None for the order of the
            text.
    """
    source, target = folder / "code.s", folder / "code.o"
    source.write_text(".syntax unified\n.thumb\n" + lines.replace(";", "\n") + "\nnop\n")
    subprocess.run([COMPILER, *CFLAGS, "-c", str(source), "-o", str(target)], check=True)
    program = disassembled(target)
    addresses = sorted(program)
    end = addresses[-1]
    order = [addresses[index] for index in executed] if executed else addresses[:-1]
    return cost([*order, end], program, set(addresses[:-1]))


@pytest.mark.parametrize(
    ("lines", "cycles"),
    [
        ("add r0, r1, r2", 1),
        ("vadd.i32 q0, q1, q2", 2),
        ("vadd.i32 q0, q1, q2; vadd.i32 q3, q1, q2", 4),
        ("vldrb.8 q0, [r0]; vmul.i8 q1, q0, q0; vadd.i8 q2, q1, q1", 4),
        ("vldrb.8 q0, [r0]; vmladava.s8 r0, q0, q1; vldrb.8 q2, [r1], #16; vmladava.s8 r2, q0, q2", 5),
        ("vldrb.8 q0, [r0]; add r0, r0, r1; vmul.i8 q1, q0, q0", 5),
        ("vldrb.u32 q0, [r0, q1]", 4),
        ("vldrb.u16 q0, [r0, q1]; vadd.i16 q2, q0, q0", 8 + 2),
        ("vldrw.u32 q0, [q1, #32]!", 4),
        ("vpst; vldrbt.8 q0, [r0]", 1 + 2),
        ("ldm r0, {r1-r4, r6}", 3),
        ("ldrd r0, r1, [r2]", 1),
        ("udiv r0, r1, r2", 8),
        ("vcvta.s32.f64 s0, d1", 1),
        ("vqrdmlah.s32 q0, q1, r2; vrshl.s32 q0, q1", 1 + 2),
    ],
)
def test_what_instructions_take(lines: str, cycles: int, tmp_path: Path) -> None:
    measured = cost_of(lines, tmp_path)
    assert measured == Cost(lines.count(";") + 1, cycles)


def test_a_branch_takes_a_cycle_more_where_it_is_taken(tmp_path: Path) -> None:
    lines = "1: subs r0, r0, #1; bne 1b"
    assert cost_of(lines, tmp_path, [0, 1, 0, 1, 0, 1]) == Cost(6, 3 + 2 + 2 + 1)


def test_the_ends_of_a_low_overhead_loop_overlap(tmp_path: Path) -> None:
    """LETP costs nothing: the loop's last instruction overlaps with its first."""
    lines = "dlstp.8 lr, r0; 1: vldrb.8 q0, [r1], #16; vmladava.s8 r2, q0, q1; letp lr, 1b"
    assert cost_of(lines, tmp_path, [0, 1, 2, 3, 1, 2, 3]) == Cost(7, 1 + 1 + 1 + 1 + 2)


def test_only_what_is_measured_counts(tmp_path: Path) -> None:
    source = "add r0, r0, r1; add r0, r0, r1"
    cost_of(source, tmp_path)
    program = disassembled(tmp_path / "code.o")
    first, second, end = sorted(program)
    assert cost([first, second, end], program, {second}) == Cost(1, 1)
