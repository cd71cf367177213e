"""The data cache, the memory behind it, and the access of other masters."""

from __future__ import annotations

from pathlib import Path

import pytest
from n6build.board.virtual_board.findings import Finding
from n6build.board.virtual_board.run import Limits, RunResult
from slow_rows import telling_rows

from virtual_board.small_programs import line_of, run_alone

SOON = Limits(20_000_000)


def at(text: str, source: str = "caches.c") -> str:
    return line_of(source, text)


def run(tmp_path: Path, does: str, *defines: str, limits: Limits = SOON) -> RunResult:
    return run_alone(tmp_path, "caches.c", f"DOES={does}", *defines, limits=limits)


GOOD = {
    "KEEP_CCR": "CCR keeps the bits of the caches, in each of its banks, and QEMU's others",
    "CLEAN_BY_ADDRESS": "a line that was cleaned is in memory",
    "CLEAN_BY_SET_AND_WAY": "so is each, behind a loop over all sets and ways",
    "INVALIDATE_BY_ADDRESS": "what the CPU wrote is lost with a line that is invalidated",
    "READ_STALE": "the CPU sees what a master wrote when it has invalidated the line, and not before",
    "INVALIDATE_BEFORE": "the CPU sees what a master wrote to lines that were invalidated before, once",
    "INVALIDATE_BEFORE_AND_WRITE": "unless the CPU wrote to them in between",
    "INTERLEAVE": "the CPU sees three works on bytes of the same lines, which were invalidated once before",
    "READ_BETWEEN_WORKS": "a line that the CPU read after the next work is in the cache",
    "READ_BEFORE_WORK": "the CPU keeps a line that it read between invalidation and work, and no other line",
    "REWRITE_BEFORE_WORK": "it also keeps a line in which it wrote the byte that was there",
    "READ_ACROSS_LINES": "a word across two lines brings in both",
    "READ_NON_SECURE": "the non-secure address brings in the line",
    "READ_VECTOR": "a vector across two lines brings in both",
    "READ_UNCACHED": "a read that the MPU keeps out of the cache brings in nothing",
    "READ_WHILE_OFF": "a read while the cache is off brings in nothing",
    "SWITCH_OFF_AND_CLEAN": "lines can be cleaned while the cache is off",
    "SWITCH_OFF_AND_ON": "switched on again, it has what it had",
    "RUN_CLEANED_CODE": "cleaned code runs",
    "RUN_REPLACED_CODE": "and other code after it",
    "USE_MPU": "a region of the MPU that is not cacheable is not cached",
    "RESET": "a system reset keeps memory, not the cache",
    "SHUT_DOWN": "a bank that is shut down loses what it held",
    "RISAF_FOR_NPU": "the NPU reads a region that is its compartment's",
    "RISAF_ELSEWHERE": "and beside one that is not",
    "DROP_AND_FILL": "a dirty line that is dropped before a master writes it is of no interest",
    "DROP_AND_WRITE": "nor is one that the CPU writes again and cleans",
}


@pytest.mark.parametrize("does", telling_rows(GOOD, list(GOOD)[::2].__contains__), ids=GOOD.values())
def test_nothing_is_found_where(tmp_path: Path, does: str) -> None:
    result = run(tmp_path, does)
    assert (result.exit_code, result.findings) == (0, ())


# Lines of one page; two lines in most pages; a page with one line in every two, so that there are more ranges than the emulator
# keeps apart.
@pytest.mark.parametrize("stride", telling_rows([32, 544, 2080], [544].__contains__))
def test_accesses_in_a_random_order_follow_the_rule(tmp_path: Path, stride: int) -> None:
    result = run(tmp_path, "FOLLOW_RULE", f"STRIDE={stride}u")
    assert (result.exit_code, result.findings) == (0, ())


NEVER_CLEANED = "the data cache has newer code that the CPU wrote, and was never cleaned"
STALE = "The NPU reads 8 stale cache lines, the first at 0x34080000: not cleaned since the CPU wrote them"
DROPPED = (
    "What the CPU wrote at 0x34080000 is lost: the line was invalidated by address and never cleaned, and the NPU reads what "
    "memory had before"
)
SUM_AT, FILL_AT = at("/* SUM */", "test_npu.h"), at("/* FILL */", "test_npu.h")
BAD = [
    ("OMIT_CLEAN", "stale-cache", STALE, SUM_AT),
    ("FORGET_A_WAY", "stale-cache", STALE, SUM_AT),
    (
        "WRITE_UNDER_DIRTY",
        "dirty-cache",
        "The NPU writes 8 cache lines that the CPU has changed, the first at 0x34080000: when they are written back, the NPU's "
        "data is lost",
        FILL_AT,
    ),
    (
        "SWITCH_OFF",
        "hidden-cache",
        "Read of 0x34080000 gives an old value: the data cache, which is off, has a newer one that the CPU wrote, and was never "
        "cleaned",
        at("/* READ */"),
    ),
    ("DROP", "cache-dropped", DROPPED, at("/* BY ADDRESS */")),
    ("DROP_AND_CLEAN", "cache-dropped", DROPPED, at("/* BY ADDRESS */")),
    ("RUN_CODE", "stale-code", f"Old code runs at 0x34080000: {NEVER_CLEANED}", at("/* CALL */")),
    (
        "RISAF_FOR_OTHERS",
        "rif",
        "The NPU reads zeros from 0x34080000: RIF denies the access (RISAF2, region 1)",
        SUM_AT,
    ),
    (
        "RISAF_READ_ONLY",
        "rif",
        "The NPU cannot write to 0x34080000: RIF denies the access (RISAF2, region 1)",
        FILL_AT,
    ),
    (
        "OMIT_RIF",
        "rif",
        "The NPU reads zeros from 0x34080000: RIF denies the access (RIFSC RIMC_ATTR1, SECCFGR3, PRIVCFGR3)",
        SUM_AT,
    ),
]


@pytest.mark.parametrize(("does", "kind", "text", "where"), BAD, ids=[row[0] for row in BAD])
def test_is_found_at_its_line(tmp_path: Path, does: str, kind: str, text: str, where: str) -> None:
    result = run(tmp_path, does)
    assert result.exit_code == 0
    (finding,) = result.findings
    assert (finding.kind, finding.text) == (kind, text)
    assert finding.where.startswith(where)


def test_code_in_lines_that_a_cache_hides_runs_as_memory_has_it(tmp_path: Path) -> None:
    """The range begins and ends within pages; it ended the emulator."""
    result = run(tmp_path, "RUN_HIDDEN_CODE")
    assert (result.ended, result.exit_code) == ("exited", 0)
    assert {finding.kind for finding in result.findings} == {"hidden-cache", "stale-code"}


def test_an_invalidation_by_set_and_way_loses_the_stack_too(tmp_path: Path) -> None:
    result = run(tmp_path, "INVALIDATE_BY_SET_AND_WAY")
    assert result.findings[0].kind == "cache-lost"
    assert result.findings[0].text.startswith("Data that the CPU wrote at 0x341ef")
    assert "the data cache is invalidated by set and way, and the line was never cleaned" in result.findings[0].text
    assert result.findings[0].where.startswith(at("/* BY SET AND WAY */"))


def test_a_filter_without_its_clock(tmp_path: Path) -> None:
    result = run(tmp_path, "RISAF_WITHOUT_CLOCK")
    first: Finding = result.findings[0]
    assert first.kind == "clock-off"
    assert "RISAF2 at 0x54027044 has no clock" in first.text
    assert "on the chip, a write ends the debug link" in first.text
    assert first.where.startswith(at("/* RISAF */"))


def test_a_program_that_stops_the_clock_of_its_own_ram(tmp_path: Path) -> None:
    # The program executes nothing of interest after that.
    few = Limits(20_000)
    result = run(tmp_path, "STOP_CLOCK", "MEMENR_BIT=N6_RCC_MEMENR_AXISRAM2EN", limits=few)
    assert result.findings[0].kind == "ram-off"
    assert "AXISRAM2 at 0x341" in result.findings[0].text
    assert result.ended != "exited" or result.exit_code != 0


RAMS = [("FLEXRAM", "0x34010000u"), ("AXISRAM1", "0x34080000u")]


@pytest.mark.parametrize(("ram", "place"), RAMS, ids=[row[0] for row in RAMS])
def test_a_ram_whose_clock_is_stopped_while_it_is_used(tmp_path: Path, ram: str, place: str) -> None:
    """The content comes back with the clock."""
    defines = [f"MEMENR_BIT=N6_RCC_MEMENR_{ram}EN", f"PLACE={place}"]
    result = run(tmp_path, "STOP_CLOCK", *defines)
    (finding,) = result.findings
    off = f"Read of {ram} at {place[:-1]}, which is off (its clock in RCC MEMENR is 0)"
    assert (result.exit_code, finding.kind, finding.text) == (0, "ram-off", off)
    assert finding.where.startswith(at("/* READ */"))
