"""Every pre-flight check finds its fault and reports the numbers.

A sound application passes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from n6build.base.errors import N6Error
from n6build.check.checked_board import checked_board
from n6build.check.run import CHECKS, Result, counts, raise_if_failed, run_checks, summary
from n6build.check.subject import CheckedModel, ForeignProgram, InstalledModel, NetworkSubject, Subject, given_pools
from n6build.compile.artifacts.description import PoolRange, Quantised, StateBuffer
from n6build.compile.artifacts.read_artifacts import read_artifacts
from n6build.compile.board_pools import pools_of
from n6build.compile.model_facts import ModelFacts, read_model_facts
from n6build.compile.reference.compile_model import compile_network
from n6build.compile.runtimes import own_runtime
from n6build.describe.hardware.boards import load_board
from n6build.describe.model import Model, load_model
from n6build.describe.postprocess import Postprocess
from n6build.judge.npu.saturation import CutChannel, Reach
from n6build.place.image.elf_reader import Section, Symbol
from n6build.place.image.foreign import StartedProgram
from n6build.place.image.memory_regions import MemoryRegion
from n6build.place.image.mpu_tables import MpuRegion
from n6build.place.memory_plan.board_memory import memory_of
from n6build.place.memory_plan.build_plan import CompiledNetwork, make_plan, make_reloc_plan
from n6build.place.memory_plan.plan import OwnBuffer, PlannedModel
from n6build.place.memory_plan.vectors import NO_VECTORS
from n6build.place.reloc.slots import ModelSlot


def make_subject(folder: Path, board_name: str, profile: str) -> Subject:
    board, model = load_board(board_name), load_model("keyword")
    pools = pools_of(board, profile)
    assert model.file is not None
    compile_network(model.file, pools, folder)
    artifacts = read_artifacts(folder, "network")
    plan = make_plan(memory_of(board, {}), profile, [CompiledNetwork(model.name, artifacts, NO_VECTORS, True)])
    return Subject(
        board=checked_board(board),
        networks=(NetworkSubject(checked(model), False, artifacts, given_pools(pools), read_model_facts(model.file)),),
        plan=plan,
        runtime=own_runtime().identity,
        appli_bytes=16000,
    )


def facts_of(subject: Subject) -> ModelFacts:
    facts = subject.networks[0].facts
    assert facts is not None
    return facts


def checked(model: Model) -> CheckedModel:
    return CheckedModel(model.name, model.waived, model.network.input_type, model.network.output_type)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Subject:
    return make_subject(tmp_path_factory.mktemp("nucleo"), "nucleo-n657", "extflash")


@pytest.fixture(scope="module")
def with_psram(tmp_path_factory: pytest.TempPathFactory) -> Subject:
    return make_subject(tmp_path_factory.mktemp("openmv"), "openmv-n6", "allmems")


def with_artifacts(subject: Subject, **changes: Any) -> Subject:
    network = subject.networks[0]
    return replace(subject, networks=(replace(network, artifacts=replace(network.artifacts, **changes)),))


def with_pool(subject: Subject, name: str, **changes: Any) -> Subject:
    pools = subject.networks[0].artifacts.pools
    return with_artifacts(subject, pools=tuple(replace(p, **changes) if p.name == name else p for p in pools))


def with_input(subject: Subject, **changes: Any) -> Subject:
    """Return the subject with another quantisation of its input."""
    quantised = subject.networks[0].artifacts.quantised
    first = next(buffer for buffer in quantised if buffer.is_io)
    return with_artifacts(subject, quantised=tuple(replace(b, **changes) if b is first else b for b in quantised))


def with_output_of(subject: Subject, values: int) -> Subject:
    """Return the subject with a single int8 output of this many values."""
    output = replace(subject.networks[0].artifacts.outputs[0], bytes=values, type="int8")
    return with_artifacts(subject, outputs=(output,))


def with_network(subject: Subject, **changes: Any) -> Subject:
    return replace(subject, networks=(replace(subject.networks[0], **changes),))


def with_choices(subject: Subject, **changes: Any) -> Subject:
    model = subject.networks[0].model
    return with_network(subject, model=replace(model, **changes))


def failed(subject: Subject) -> dict[str, Result]:
    return {result.id: result for result in run_checks(subject) if result.state in ("failed", "waived")}


@pytest.mark.parametrize("fixture", ["sound", "with_psram"])
def test_a_sound_application_passes_every_check(fixture: str, request: pytest.FixtureRequest) -> None:
    assert not failed(request.getfixturevalue(fixture))


FOREIGN = ("026", "027", "028", "029", "030", "031", "032", "033", "034", "035")
START = StartedProgram(0x3400_0400, 4096, 0x3410_0000, 0x3400_0501)


def with_program(subject: Subject, **what: Any) -> Subject:
    """Return the subject with a third-party program in the Appli's place."""
    given = {"symbols": (Symbol("main", 0x3400_0500, 4),), **what}
    return replace(subject, programs=(ForeignProgram("app.elf", **given),))


def on_npu(subject: Subject) -> Subject:
    """Return the subject with its first epoch on the NPU."""
    first, *others = subject.networks[0].artifacts.epochs
    return with_artifacts(subject, epochs=(replace(first, mapping="NODE_HW"), *others))


def with_own_input(subject: Subject, *symbols: Symbol) -> Subject:
    """Return the subject with a network whose input belongs to a third-party program.

    The input has 512 bytes, and the program has these variables.
    """
    (network,) = subject.plan.networks
    own = replace(network, own_buffers=(OwnBuffer("input", 0, 512),))
    return with_program(replace(subject, plan=replace(subject.plan, networks=(own,))), symbols=symbols)


Damage = Callable[[Subject], Subject]
MIB = 1 << 20


# Each row has a fault, the check that finds it, the damage, and words with its numbers.
def with_cut(subject: Subject, channels: int) -> Subject:
    """Return the subject with so many channels whose product needs more than 16 bits."""
    cut = tuple(CutChannel(12, "ARITH3", 47 + place, 16, 40086, 32767, 61, 127) for place in range(channels))
    return with_network(subject, for_npu=True, reach=Reach(1, 0, cut))


CASES: list[tuple[str, str, Damage, str]] = [
    (
        "a decoder of another network",
        "N6-CHECK-042",
        lambda subject: with_choices(subject, postprocess=Postprocess("ssd")),
        "decoder ssd needs 3 or 4 outputs, not 1",
    ),
    (
        "a pool overflows",
        "N6-CHECK-001",
        lambda s: with_pool(s, "npuRAM3", used_bytes=458752 + 1000),
        "1000 bytes are missing",
    ),
    (
        "weights in a memory that the board lacks",
        "N6-CHECK-002",
        lambda s: with_pool(s, "octoFlash", address=0x7800_0000),
        "28.4 KiB of weights are outside the memories of nucleo-n657",
    ),
    (
        "activations in a memory that the board lacks",
        "N6-CHECK-002",
        lambda s: with_pool(s, "npuRAM3", address=0x9000_0000),
        "of activations are outside the memories of nucleo-n657",
    ),
    (
        "a pool where the Appli runs",
        "N6-CHECK-005",
        lambda s: with_pool(s, "npuRAM3", address=0x3400_0000),
        "overlaps the RAM of the Appli (0x34000000..0x34100000) by 17064 bytes",
    ),
    (
        "a stack of somebody else's program in the network's memory",
        "N6-CHECK-026",
        lambda s: replace(s, programs=(ForeignProgram("app.elf", sections=(Section(".stack", 0x2420_0000, 4096),)),)),
        "section .stack of app.elf has 4096 bytes at 0x34200000",
    ),
    (
        "a stack pointer of somebody else's program in RAM that is off",
        "N6-CHECK-027",
        lambda s: with_program(s, start=replace(START, stack=0x3427_0000)),
        "app.elf the vector table of app.elf: the initial stack pointer 0x34270000 is in AXISRAM3, which is off",
    ),
    (
        "frames of somebody else's program in RAM that is off",
        "N6-CHECK-028",
        lambda s: with_program(s, sections=(Section(".frames", 0x3430_0000, 4096),)),
        "section .frames of app.elf has 4096 bytes in AXISRAM5, which is off after reset",
    ),
    (
        "a linker script for another chip",
        "N6-CHECK-029",
        lambda s: with_program(s, regions=(MemoryRegion("RAM", 0x2400_0400, 5 << 20, "own.ld", 4),)),
        "own.ld:4 region RAM is 0x24000400..0x24500400, and nucleo-n657 has no memory at 0x34420000: 918528 bytes too many",
    ),
    (
        "a program of somebody else that only enables the data cache",
        "N6-CHECK-030",
        lambda s: on_npu(with_program(s, functions=frozenset({"SCB_EnableDCache"}))),
        "app.elf calls SCB_EnableDCache(), but no function that cleans the data cache",
    ),
    (
        "an input of a network in memory of the CPU",
        "N6-CHECK-031",
        lambda s: with_own_input(s, Symbol("network_input_0", 0x2000_0000, 512)),
        "'network_input_0' of app.elf, 0x20000000, is in DTCM, which the NPU cannot reach",
    ),
    (
        "a program of somebody else that only comes as bytes",
        "N6-CHECK-032",
        lambda s: replace(s, programs=(ForeignProgram("app.bin", has_elf=False),)),
        "app.bin has no ELF file beside it: n6build checked its vector table and its slot",
    ),
    (
        "an FSBL where the Appli is copied to",
        "N6-CHECK-033",
        lambda s: replace(
            s, programs=(ForeignProgram("boot.elf", "fsbl", sections=(Section(".bss", 0x3400_0000, 64),)),)
        ),
        "section .bss of boot.elf has 64 bytes at 0x34000000 where it copies the Appli (0x34000000..0x34003E80)",
    ),
    (
        "a vector table of somebody else's program for another chip",
        "N6-CHECK-034",
        lambda s: on_npu(with_program(s, start=START, symbols=(Symbol("NPU0_IRQHandler", 0x3400_0700, 4),))),
        "vector 69 of app.elf, for NPU0, is 0x00000000 instead of NPU0_IRQHandler",
    ),
    (
        "activations in a region of the MPU for reading",
        "N6-CHECK-035",
        lambda s: with_program(s, mpu=(MpuRegion(Symbol("table", 0x3400_0800, 8), 0x3420_0000, 0x3420_1000, False),)),
        "region 0x34200000..0x34201000 of 'table' in app.elf is read-only, but network network uses 0x34200000..",
    ),
    (
        "a relocatable model that is larger than its part of the RAM",
        "N6-CHECK-025",
        lambda s: replace(s, installed=(InstalledModel("keyword", "copy", 8448, 4096),)),
        "8.2 KiB are needed with load=copy, 4.2 KiB more than the 4.0 KiB of a model",
    ),
    (
        "a relocatable model that asks for more external RAM than the board's region has",
        "N6-CHECK-025",
        lambda s: replace(s, installed=(InstalledModel("keyword", "copy", 8, 4096, 30 << 20, 28 << 20),)),
        "30.0 MiB are needed, 2.0 MiB more than the 28.0 MiB of a model",
    ),
    (
        "a pool in the other alias",
        "N6-CHECK-010",
        lambda s: with_pool(s, "npuRAM3", address=0x2420_0000),
        "non-secure alias",
    ),
    ("an absurd scale", "N6-CHECK-011", lambda s: with_input(s, scales=(0.1, 2956686.0)), "scale 2.95669e+06"),
    ("a scale that is not a number", "N6-CHECK-011", lambda s: with_input(s, scales=(float("nan"),) * 2), "scale nan"),
    ("an infinite scale", "N6-CHECK-011", lambda s: with_input(s, scales=(0.1, float("inf"))), "scale inf"),
    ("a scale of zero", "N6-CHECK-011", lambda s: with_input(s, scales=(0.0, 0.1)), "scale 0"),
    ("a negative scale", "N6-CHECK-011", lambda s: with_input(s, scales=(-0.5, 0.1)), "scale -0.5"),
    (
        "an absurd scale inside",
        "N6-CHECK-012",
        lambda s: with_artifacts(
            s,
            quantised=(
                *s.networks[0].artifacts.quantised,
                Quantised("Sub_7", "int8", (29842.9, 29842.9), (0, 0), False),
            ),
        ),
        "keyword: Sub_7",
    ),
    (
        "a zero point beyond its type",
        "N6-CHECK-013",
        lambda s: with_input(s, zero_points=(200, 200)),
        "zero point 200, but int8 ends at 127",
    ),
    (
        "another type than declared",
        "N6-CHECK-014",
        lambda s: with_choices(s, output_type="float32"),
        "is int8, but model.yaml declares float32",
    ),
    (
        "a float model for the NPU",
        "N6-CHECK-016",
        lambda s: with_network(s, for_npu=True, facts=replace(facts_of(s), quantised_operators=0, float_operators=12)),
        "all 12 operators with weights compute in float",
    ),
    ("dropped quantisation", "N6-CHECK-017", lambda s: with_artifacts(s, quantised=()), "dropped the quantisation"),
    (
        "a network for another runtime",
        "N6-CHECK-018",
        lambda s: with_artifacts(s, ll_aton=(1, 1, 3, 262)),
        "asks for ll_aton 1.1.3-262 (ST Edge AI Core 4.0.0), but n6build's own runtime is 1.1.3-8 (ST Edge AI Core 3.0)",
    ),
    (
        "a version of ONNX that the compiler does not read",
        "N6-CHECK-020",
        lambda s: with_artifacts(
            with_network(s, for_npu=True, facts=replace(facts_of(s), format="onnx", ir_version=10)),
            tools=(("ST.EdgeAI.Core", "2.2.0-20266"),),
        ),
        "ONNX IR version 10, but ST Edge AI Core up to 2.2 reads 9",
    ),
    (
        "a product that 16 bits do not hold",
        "N6-CHECK-041",
        lambda s: with_cut(s, 1),
        "channel 47 may need 40,086 in ARITH3, whose format of 16 bits ends at 32,767: its output then ends at 61, not at 127",
    ),
    (
        "many products that 16 bits do not hold",
        "N6-CHECK-041",
        lambda s: with_cut(s, 11),
        "channel 54 may need 40,086 in ARITH3, whose format of 16 bits ends at 32,767: its output then ends at 61, not "
        "at 127 (and 3 more channels)",
    ),
    (
        "other pools than the board's",
        "N6-CHECK-023",
        lambda s: with_pool(s, "npuRAM3", address=0x3427_0000),
        "begins at 0x34270000, but the board has this pool at 0x34200000",
    ),
]


@pytest.mark.parametrize(("id", "damage", "text"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_what_is_wrong_is_found_with_its_numbers(sound: Subject, id: str, damage: Damage, text: str) -> None:
    result = failed(damage(sound))[id]
    assert any(text in f"{finding.where} {finding.what}" for finding in result.findings)
    assert all(finding.hint and finding.where for finding in result.findings)


@pytest.mark.parametrize(("beyond", "is_refused"), [(8, False), (9, True)])
def test_only_what_the_compiler_prints_too_small_may_exceed_a_pool(
    sound: Subject, beyond: int, is_refused: bool
) -> None:
    """The size of the last of several adjacent pools may be 8 bytes too small."""
    own = next(pool for pool in sound.networks[0].artifacts.pools if pool.name == "npuRAM3")
    given = next(pool for pool in sound.networks[0].pools if pool.fname == own.fname)
    used = given.size + beyond
    found = failed(with_pool(sound, "npuRAM3", size=used, used_bytes=used))
    assert ("N6-CHECK-023" in found) is is_refused
    if is_refused:
        (finding,) = found["N6-CHECK-023"].findings
        assert finding.what == f"uses {used} bytes, 9 more than this pool has on the board"
    assert ("N6-CHECK-001" in failed(with_pool(sound, "npuRAM3", used_bytes=own.size + beyond))) is is_refused


@pytest.mark.parametrize("address", [0x7018_0000, 0x7138_0000, 0x7200_0000])
def test_weights_may_be_anywhere_in_the_nor(sound: Subject, address: int) -> None:
    """They are programmed to the network's address; the flash manifest finds overlaps."""
    assert not failed(with_pool(sound, "octoFlash", address=address))


def with_model(subject: Subject, file_bytes: int) -> Subject:
    """Return the subject with a relocatable model in slot 'weights'.

    The model has two slots of this size.
    """
    slots = tuple(ModelSlot(0x7100_0000 + part * file_bytes, file_bytes, 0, 0) for part in range(2))
    model = PlannedModel(subject.networks[0].artifacts.name, "weights.bin", "", slots)
    return replace(subject, plan=replace(subject.plan, models=(model,)))


def without_psram(subject: Subject) -> Subject:
    """Return the subject without a description of its external RAM's part."""
    assert subject.board.external_ram
    return replace(subject, board=replace(subject.board, maps_external_ram=False))


EXTERNAL: list[tuple[str, str, Damage, str]] = [
    (
        "activations in external RAM",
        "N6-CHECK-003",
        lambda s: with_pool(s, "hyperRAM", used_bytes=3 * 17064),
        "50.0 KiB of activations, 75% of all, are in external RAM, about 5 to 20 times slower",
    ),
    (
        "external RAM that nobody maps",
        "N6-CHECK-021",
        lambda s: with_pool(without_psram(s), "hyperRAM", used_bytes=100),
        "the Appli does not map the external RAM",
    ),
    (
        "external RAM for an installed model",
        "N6-CHECK-021",
        lambda s: with_model(with_pool(without_psram(s), "hyperRAM", used_bytes=100, relative=True), 1 << 20),
        "the Appli does not map the external RAM: board.yaml does not describe the part at XSPI1",
    ),
    (
        "a pool in the framebuffer",
        "N6-CHECK-006",
        lambda s: with_pool(s, "hyperRAM", used_bytes=30 * MIB, size=40 * MIB),
        "overlaps region 'uma' of the external RAM (0x91800000..0x93700000) by 6291456 bytes",
    ),
    (
        "a small model that is read from a file",
        "N6-CHECK-040",
        lambda s: replace(
            s, installed=(InstalledModel("keyword", "xip", 1, 2, refused_in_heap="the loader returns -7"),)
        ),
        "the firmware reads a file of less than 1.0 MiB to 0x34100000: the loader returns -7",
    ),
    (
        "float copies of 512 x 512 x 5 outputs beside 23.7 MB of activations",
        "N6-CHECK-015",
        lambda s: with_output_of(with_pool(s, "hyperRAM", used_bytes=23_700_000, size=28 * MIB), 512 * 512 * 5),
        "22.6 MiB of activations and 5.0 MiB for outputs as float need 3.6 MiB more than the heap's 24.0 MiB",
    ),
    (
        "float copies that the heap has no room for",
        "N6-CHECK-015",
        lambda s: with_pool(s, "hyperRAM", used_bytes=24 * MIB - 10, size=24 * MIB),
        "need 38 B more than the heap's 24.0 MiB",
    ),
]


@pytest.mark.parametrize(("id", "damage", "text"), [case[1:] for case in EXTERNAL], ids=[case[0] for case in EXTERNAL])
def test_external_ram(with_psram: Subject, id: str, damage: Damage, text: str) -> None:
    result = failed(damage(with_psram))[id]
    assert any(text in finding.what for finding in result.findings)


def with_two_networks(subject: Subject, kept: dict[str, Any], used_by_other: int, **kept_artifacts: Any) -> Subject:
    """Return the subject with two networks whose pools begin at the same address.

    Args:
        kept: Values of the first network's pool, which has 1000 used bytes.
        used_by_other: Bytes that the other network uses.
        kept_artifacts: Further artifacts of the first network.
    """
    first = subject.networks[0]
    pool = PoolRange("npuRAM5", "AXISRAM5", 0x342E0000, 458752, 1000, 0, "ACC_WRITE", False)
    artifacts = replace(first.artifacts, pools=(replace(pool, **kept),), **kept_artifacts)
    of_other = replace(first.artifacts, pools=(replace(pool, used_bytes=used_by_other),))
    other = replace(first, model=replace(first.model, name="other"), artifacts=of_other)
    return replace(subject, networks=(replace(first, artifacts=artifacts), other))


STATE = StateBuffer("State_0_out_0", 0x342E0000 + 900, 64)


def test_weights_in_ram_of_one_network_under_the_activations_of_another(sound: Subject) -> None:
    (finding,) = failed(with_two_networks(sound, {"weights_bytes": 1000}, 300))["N6-CHECK-022"].findings
    assert "300 bytes of its weights lie where other has pool npuRAM5" in finding.what


def test_a_state_of_one_network_under_the_activations_of_another(sound: Subject) -> None:
    (finding,) = failed(with_two_networks(sound, {}, 940, states=(STATE,)))["N6-CHECK-022"].findings
    assert "40 bytes of its state lie where other has pool npuRAM5" in finding.what


@pytest.mark.parametrize("overlap", [0, 1])
def test_neighbours_may_touch_and_overlap_by_no_byte(sound: Subject, with_psram: Subject, overlap: int) -> None:
    appli_end, framebuffer = 0x3410_0000, 0x9180_0000
    for id, subject in (
        ("N6-CHECK-005", with_pool(sound, "npuRAM3", address=appli_end - overlap)),
        ("N6-CHECK-006", with_pool(with_psram, "hyperRAM", used_bytes=framebuffer - 0x9000_0000 + overlap)),
        ("N6-CHECK-022", with_two_networks(sound, {}, 900 + overlap, states=(STATE,))),
    ):
        assert (id in failed(subject)) is bool(overlap), id


def test_what_had_nothing_to_look_at_has_not_passed(sound: Subject, with_psram: Subject) -> None:
    results = run_checks(sound)
    idle = {result.id[-3:] for result in results if result.state == "not applicable"}
    # The application has no external RAM, no heap in it, no output of ST's compiler, no second network, no relocatable
    # model, no blob of the NPU, no decoder and no third-party program.
    assert idle == {"003", "006", "015", "016", "020", "021", "022", "025", "040", "041", "042", *FOREIGN}
    assert summary(results) == f"{len(CHECKS) - 21} passed, 21 had nothing to check"
    assert counts(results) == {"passed": len(CHECKS) - 21, "failed": 0, "warned": 0, "waived": 0, "not applicable": 21}
    assert {"003", "006", "015", "021"}.isdisjoint(
        {result.id[-3:] for result in run_checks(with_psram) if result.state == "not applicable"}
    )


def test_a_failed_warning_is_counted_as_one(with_psram: Subject) -> None:
    results = run_checks(with_pool(with_psram, "hyperRAM", used_bytes=100))
    assert "0 failed" not in summary(results) and "1 warned" in summary(results)
    assert counts(results)["failed"] == 0


def test_ids_are_in_order_and_of_one_form() -> None:
    ids = [check.id for check in CHECKS]
    assert ids == sorted(ids)
    assert all(re.fullmatch(r"N6-CHECK-0\d\d", id) for id in ids)


@pytest.mark.parametrize(
    ("fixture", "profile", "cases"), [("sound", "extflash", CASES), ("with_psram", "allmems", EXTERNAL)]
)
def test_nothing_before_the_checks_refuses_what_they_find(
    fixture: str, profile: str, cases: list[tuple[str, str, Damage, str]], request: pytest.FixtureRequest
) -> None:
    """A check would be useless if an earlier stage always came first.

    A waiver of it would be useless, too.
    """
    for _, _, damage, _ in cases:
        subject = damage(request.getfixturevalue(fixture))
        networks = [CompiledNetwork(each.model.name, each.artifacts, NO_VECTORS, True) for each in subject.networks]
        memory = memory_of(load_board(subject.board.name), {})
        if subject.plan.models:
            make_reloc_plan(memory, profile, networks, subject.plan.models)
        else:
            make_plan(memory, profile, networks)


def test_every_check_has_a_case() -> None:
    tried = {id for _, id, _, _ in [*CASES, *EXTERNAL]} | {"N6-CHECK-022"}
    assert {check.id for check in CHECKS} == tried


def test_a_check_is_waived_by_its_id_with_a_reason(sound: Subject) -> None:
    model = replace(sound.networks[0].model, waived={"N6-CHECK-014": "the application converts"})
    results = run_checks(with_choices(with_network(sound, model=model), output_type="float32"))
    (result,) = [result for result in results if result.id == "N6-CHECK-014"]
    assert (result.state, result.reason) == ("waived", "the application converts")
    assert len(result.findings) == 1
    raise_if_failed(results)


def test_a_waiver_of_one_network_does_not_cover_another(sound: Subject) -> None:
    first = sound.networks[0]
    wrong = replace(first.model, output_type="float32")
    waived = replace(wrong, name="one", waived={"N6-CHECK-014": "known"})
    subject = replace(sound, networks=(replace(first, model=waived), replace(first, model=replace(wrong, name="two"))))
    assert failed(subject)["N6-CHECK-014"].state == "failed"


def test_a_waiver_of_an_unknown_check_names_the_nearest(sound: Subject) -> None:
    model = replace(sound.networks[0].model, waived={"N6-CHECK-14": "x"})
    with pytest.raises(N6Error, match="N6-CHECK-100: no check 'N6-CHECK-14'") as caught:
        run_checks(with_network(sound, model=model))
    assert "did you mean 'N6-CHECK-" in str(caught.value)


def test_a_failed_check_stops_the_build_with_its_id_and_how_to_accept_it(sound: Subject) -> None:
    results = run_checks(with_choices(sound, output_type="float32"))
    with pytest.raises(N6Error, match="N6-CHECK-014") as caught:
        raise_if_failed(results)
    assert "checks.waive.N6-CHECK-014 in model.yaml" in (caught.value.hint or "")


def test_a_warning_does_not_stop_the_build(with_psram: Subject) -> None:
    results = [r for r in run_checks(with_pool(with_psram, "hyperRAM", used_bytes=100)) if r.id == "N6-CHECK-003"]
    assert results[0].state == "failed"
    raise_if_failed(results)


def test_results_are_the_same_bytes_every_time(sound: Subject) -> None:
    assert run_checks(sound) == run_checks(sound)


@pytest.mark.parametrize(
    ("start", "size", "taken"),
    [(-64, 64, 0), (-64, 65, 1), (0, 16, 16), (-64, 1 << 20, None), (0x100000, 64, 0), (-(1 << 28), 16, 16)],
    ids=["just below", "by a byte", "inside", "around", "behind", "in the other alias"],
)
def test_a_program_of_somebody_else_leaves_a_network_its_memory(
    start: int, size: int, taken: int | None, sound: Subject
) -> None:
    (pool,) = [pool for pool in sound.plan.pools if pool.used and pool.address >> 28 == 3]
    section = Section(".heap", pool.address + start, size)
    program = ForeignProgram(
        "app.elf", sections=(section,), symbols=(Symbol("ring", pool.address + 4), Symbol("main", 0x34000401))
    )
    found = failed(replace(sound, programs=(program,)))
    taken = pool.used if taken is None else taken
    assert set(found) - {"N6-CHECK-028"} == ({"N6-CHECK-026"} if taken else set())
    if taken:
        (finding,) = found["N6-CHECK-026"].findings
        assert finding.where == "app.elf"
        assert f"section .heap of app.elf has {taken} bytes at 0x{pool.address:08X}" in finding.what
        assert ("'ring' among them" in finding.what) == (taken > 4)
