"""Reports for the tests: a small build with all parts, and a very large one.

The large one is far too large for a screen.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from n6build.base.findings import Finding
from n6build.check.run import Result
from n6build.engine.perform import DoneStep
from n6build.tell.content import AddressRange, EpochRow, NetworkSection, Part, Report, Space

KIB = 1 << 10
RAM = Space(
    "AXISRAM3",
    0x34200000,
    400 * KIB,
    (
        Part("weights, pool npuRAM3", "weights", 0x34200000, 100 * KIB),
        Part("activations, pool npuRAM3", "activations", 0x34200000 + 100 * KIB, 200 * KIB),
    ),
)
SLOT = Space("appli", 0x70000000, 1 << 20, (Part("appli_image.bin", "program", 0x70000000, 512 * KIB),))
REPORT = Report(
    application="keyword",
    board="NUCLEO-N657X0-Q",
    profile="extflash",
    versions=(("reference", "1.0"),),
    networks=(
        NetworkSection(
            "keyword",
            "reference",
            ("in: int8 1 x 10",),
            ("out: int8 1 x 2",),
            100 * KIB,
            200 * KIB,
            (EpochRow(1, "Conv2D", "NPU", 3000, 5 * KIB, 500), EpochRow(2, "Softmax", "CPU", 0, 64, 70)),
        ),
    ),
    memory=(
        AddressRange("RAM in the chip", RAM.address, RAM.size, (RAM,), (Part("pool a", "pool", RAM.address, 4096),)),
    ),
    flash=AddressRange("Flash", SLOT.address, SLOT.size, (SLOT,), ()),
    elsewhere=(),
    checks=(
        Result("N6-CHECK-001", "pools hold", "error", "passed", ()),
        Result(
            "N6-CHECK-003", "stay inside", "warning", "failed", (Finding("keyword: pool x", "9 MiB outside", "less"),)
        ),
        Result("N6-CHECK-014", "types", "error", "waived", (Finding("keyword", "is int8", "h"),), "known & accepted"),
        Result("N6-CHECK-021", "mapped", "error", "not applicable", ()),
    ),
    actions=(DoneStep("network", "build/network.c", 0.25),),
    seconds=1.5,
)


def with_network(report: Report = REPORT, **changes: Any) -> Report:
    """Return a report with these changes of its network."""
    return replace(report, networks=(replace(report.networks[0], **changes),))


LARGE = replace(
    with_network(
        epochs=tuple(EpochRow(n, "Conv", "NPU" if n % 3 else "CPU", n * 100, n * 1000, None) for n in range(1, 601))
    ),
    actions=tuple(DoneStep("compile", f"build/{'long_folder_name/' * 8}{n}.o", 0.1) for n in range(60)),
)
