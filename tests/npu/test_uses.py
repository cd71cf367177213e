"""Units of the NPU that a network uses.

They come from its blobs and from the structures in network.c.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from n6build.base.errors import N6Error
from n6build.judge.npu.blobs import Blob
from n6build.judge.npu.names import names_of
from n6build.judge.npu.settings import EpochSettings, epochs_of_blob
from n6build.judge.npu.source_settings import epochs_of_source
from n6build.judge.npu.uses import NpuUse, Unmodelled, modelled_lines, npu_use, require_modelled, summarised
from samples import sample
from virtual_board.npu.model import END, NPU, label, offset_of, poll, unit, value_of, write_bits, write_many, write_word

NAMES = names_of(NPU)
EN, CONFCLR = 1, 1 << 30
# The unit takes a frame of source 1, then one of source 2.
TWO_SOURCES = 1 | 1 << 1 | 1 << 8 | 1 << 16 | 2 << 17 | 1 << 24


def set_to(kind: str, index: int, register: str, **fields: int) -> list[int]:
    return write_word(unit(kind, index), offset_of(kind, register), value_of(kind, register, **fields))


def switch_on(kind: str, index: int) -> list[int]:
    return write_bits(unit(kind, index), 0, 0, 1, 1)


def wait(engine: int) -> list[int]:
    return poll(unit("STRENG", engine), 0, 31, 31, 0)


def blob(*parts: list[int]) -> Blob:
    words = tuple(word for part in (*parts, END) for word in part)
    return Blob("blob", "file.h: blob", words, 2, relocatable=False)


def epochs(*parts: list[int]) -> list[EpochSettings]:
    return list(epochs_of_blob(blob(*parts), NAMES))


def use_of(*parts: list[int]) -> NpuUse:
    return summarised(epochs(*parts), NPU, by_blob=True)


CONVACC = set_to("CONVACC", 0, "DFORMAT", OBYTES=2)
TRELU = [
    *set_to("ACTIV", 0, "CTRL", EN=1, TYPE=2, FBYTES=1, OBYTES=1, FSHIFT=16),
    *set_to("ACTIV", 0, "ACTIVPARAM", PARAM=-128),
    *set_to("ACTIV", 0, "ACTIVPARAM2", PARAM2=-128),
    *set_to("ACTIV", 0, "FUNC", SIGNEDOP=1),
]


def test_an_epoch_is_what_is_set_when_the_controller_waits_for_its_engines() -> None:
    copy = [
        set_to("STRENG", 1, "CTRL", DIR=1, SIZE0=8),
        set_to("STRENG", 6, "CTRL", SIZE0=8),
        # The switch is cleared and polled before anything is on.
        poll(unit("STRSWITCH"), 0, 1, 1, 0),
        switch_on("STRENG", 1),
        switch_on("STRENG", 6),
        wait(1),
        wait(6),
    ]
    made = epochs(label(4), *copy, write_word(unit("STRENG", 6), 0, CONFCLR), label(5), switch_on("STRENG", 3), wait(3))
    assert [(epoch.number, [each.name for each in epoch.units]) for epoch in made] == [
        (4, ["STRENG1", "STRENG6"]),
        (5, ["STRENG1", "STRENG3"]),
    ]
    assert made[0].units[0].fields["CTRL", "DIR"] == 1
    assert made[0].units[1].fields["CTRL", "DIR"] == 0


def test_registers_begin_as_the_chip_resets_them_and_return_to_that() -> None:
    engine = [switch_on("STRENG", 0), wait(0)]
    off = write_word(unit("STRENG"), 0, CONFCLR)
    arith = unit("ARITH", 1)
    before, after = epochs(
        label(1),
        switch_on("ARITH", 1),
        *engine,
        off,
        write_many(arith, 0, [value_of("ARITH", "CTRL", EN=1, OP=7), 0, 3]),
        write_word(arith, 0, CONFCLR),
        switch_on("ARITH", 1),
        label(2),
        *engine,
    )
    assert before.units[1].fields["CTRL", "OBYTES"] == 2
    assert after.units[1] == before.units[1]


def test_what_a_network_uses_is_summarised_by_kind_of_unit() -> None:
    first = [set_to("POOL", 0, "CTRL", EN=1, TYPE=2), switch_on("STRENG", 0), wait(0)]
    second = [set_to("POOL", 1, "CTRL", EN=1, TYPE=10), write_word(unit("STRENG"), 0, CONFCLR)]
    use = use_of(label(1), *first, label(2), *second, switch_on("STRENG", 0), wait(0))
    assert (use.epochs, use.by_blob, use.unmodelled) == (2, True, ())
    (pool,) = [kind for kind in use.kinds if kind.kind == "POOL"]
    assert (pool.units, pool.epochs) == (("POOL0", "POOL1"), 2)
    (kind,) = [field for field in pool.fields if field.field == "TYPE"]
    assert (kind.register, kind.values, kind.count) == ("CTRL", (2, 10), 2)


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        (switch_on("DECUN", 1), ("DECUN1",)),
        (switch_on("RECBUF", 0), ("RECBUF",)),
        (set_to("POOL", 1, "CTRL", EN=1, TYPE=12), ("POOL1", "CTRL", "TYPE", 12, (0, 1, 2, 8, 9, 10))),
        (set_to("ARITH", 3, "CTRL", EN=1, OP=0x33, OBYTES=1), ("ARITH3", "CTRL", "OP", 51, (0, 1, 2, 7, 55))),
        (set_to("ARITH", 3, "CTRL", EN=1, OP=0x37, OBYTES=1, COEFFA=1), ("ARITH3", "CTRL", "COEFFA", 1, (0,))),
        (
            [*set_to("ARITH", 3, "SHIFT", RES=5), *set_to("ARITH", 3, "CTRL", EN=1, OP=0x37, OBYTES=1)],
            ("ARITH3", "SHIFT", "RES", 5, (0,)),
        ),
        (
            [*TRELU, *set_to("ACTIV", 0, "ACTIVPARAM", PARAM=-100)],
            ("ACTIV0", "ACTIVPARAM", "PARAM", 0xFF9C, (0xFF80,)),
        ),
        ([*TRELU, *set_to("ACTIV", 0, "FSUB", FSUB=3)], ("ACTIV0", "FSUB", "FSUB", 3, (0,))),
        (
            [*CONVACC, *set_to("CONVACC", 0, "SAMPLE", FSTATCNT=2), *set_to("CONVACC", 0, "CTRL", EN=1, NOSUM=1)],
            ("CONVACC0", "SAMPLE", "FSTATCNT", 2, (0,)),
        ),
        (
            [*CONVACC, *set_to("CONVACC", 0, "CTRL", EN=1, NOSUM=1, FSTAT=1)],
            ("CONVACC0", "SAMPLE", "FSTATCNT", 0, (1, 2)),
        ),
        (
            [*CONVACC, *set_to("CONVACC", 0, "SAMPLE", FSTATCNT=2), *set_to("CONVACC", 0, "CTRL", EN=1, FSTAT=1)],
            ("CONVACC0", "CTRL", "NOSUM", 0, (1,)),
        ),
        (set_to("STRENG", 2, "CTRL", EN=1, SIZE0=4), ("STRENG2", "CTRL", "SIZE0", 4, (0, 8))),
        (set_to("STRENG", 2, "CTRL", EN=1, NOINC=1), ("STRENG2", "CTRL", "NOINC", 1, (0,))),
        (
            [
                *set_to("CONVACC", 0, "KFORMAT", WIDTH=3, HEIGHT=1),
                *set_to("CONVACC", 0, "DFORMAT", OBYTES=2),
                *set_to("CONVACC", 0, "CTRL", EN=1, DEEPMODE=1),
            ],
            ("CONVACC0", "KFORMAT", "WIDTH", 3, (1,)),
        ),
        (
            [*write_word(unit("STRSWITCH"), 0, 1), *write_word(unit("STRSWITCH"), 8 + 4 * 12, TWO_SOURCES)],
            ("STRSWITCH", "DST12", "LINK1", 2, (1,)),
        ),
    ],
)
def test_what_is_not_modelled_is_told_with_epoch_unit_register_field_and_value(
    setting: list[int], told: tuple[Any, ...]
) -> None:
    missing = Unmodelled(9, *told)
    use = use_of(label(9), setting, switch_on("STRENG", 0), wait(0))
    assert use.unmodelled == (missing,)
    with pytest.raises(N6Error) as error:
        require_modelled(use, "mnist")
    assert (error.value.id, error.value.where) == ("N6-NPU-004", "mnist: epoch 9")
    assert missing.what in error.value.what


def test_all_missing_settings_are_in_the_error_for_programs() -> None:
    """The text names the first one, and `--json` and last_error.json name all."""
    units = [switch_on("DECUN", 0), switch_on("RECBUF", 0), set_to("POOL", 1, "CTRL", EN=1, TYPE=12)]
    with pytest.raises(N6Error) as error:
        require_modelled(use_of(label(9), *units, switch_on("STRENG", 0), wait(0)), "mnist")
    assert ", and 2 more" in error.value.what
    assert error.value.as_dict()["details"] == [
        "epoch 9: DECUN0 is not modelled",
        "epoch 9: POOL1 CTRL TYPE is 12; modelled: 0, 1, 2, 8, 9, 10",
        "epoch 9: RECBUF is not modelled",
    ]


@pytest.mark.parametrize(
    "settings",
    [
        [],
        [
            *CONVACC,
            *set_to("CONVACC", 0, "SAMPLE", FSTATCNT=3),
            *set_to("CONVACC", 0, "CTRL", EN=1, NOSUM=1, FSTAT=1, KUNSIGNED=1),
        ],
        set_to("ARITH", 3, "CTRL", EN=1, OP=0x37, OBYTES=1),
        TRELU,
    ],
)
def test_a_network_of_modelled_units_passes(settings: list[int]) -> None:
    require_modelled(use_of(label(9), settings, switch_on("STRENG", 0), wait(0)), "mnist")


@given(st.lists(st.tuples(st.sampled_from([0, 1, 2, 3, 4, 29]), st.integers(0, 0xFFFF_FFFF)), max_size=80))
def test_hostile_blobs_are_carried_out_or_refused(words: list[tuple[int, int]]) -> None:
    hostile = [word & ~31 | opcode for opcode, word in words]
    try:
        use = use_of(hostile)
    except N6Error as error:
        assert error.id == "N6-NPU-003"
    else:
        assert use.epochs <= len(hostile)


def test_what_is_not_modelled_is_listed_by_kind_of_unit() -> None:
    lines = modelled_lines(NPU)
    assert "ACTIV: only CTRL TYPE 2/3, CTRL FBYTES 1/2/3, CTRL OBYTES 1/2/3" in lines
    assert "POOL: without CTRL FROUND FSAT, PDIMS TPAD BPAD LPAD RPAD; only CTRL TYPE 0/1/2/8/9/10" in lines
    assert lines[-1] == "not at all: DECUN, RECBUF"
    assert not [line for line in lines if line.startswith("BUSIF")]


SOURCE = """
static void LL_ATON_Start_EpochBlock_{number}(const void *epoch_block)
{{
  /* Unit= 6 [ARITH_ACC_V2 0] */
  static const LL_Arithacc_InitTypeDef Add_init{number} = {{
    .outbytes_o = 1, .operation = {operation},
    .A_vector = {{((unsigned char *)(0x70180000UL + 3580352))}},
    .shift_x = 2,
  }};
  LL_Arithacc_Init(3, &Add_init{number});
  static const LL_Convacc_InitTypeDef Conv_init{number} = {{
    .simd = 1,
    .accumulate = 0, /* .kseten = 3, */
  }};
  LL_Convacc_Init(2, &Conv_init{number});
  static const LL_Streng_TensorInitTypeDef in_{number} = {{
    .dir = 0,
    .nbits_in = {bits},
    .nbits_out = 24,
  }};
  LL_Streng_TensorInit(6, &in_{number}, 1);
  static const LL_ATON_EnableUnits_InitTypeDef Enable_epoch_{number}_all_units[] = {{
    {{ {{ARITH, 3}} }}, /* ARITH_ACC_V2 */
    {{ {{RECBUF, 0}} }},
  }};
}}
"""


def test_structures_in_network_c_tell_what_they_set() -> None:
    text = SOURCE.format(number=5, operation="ARITH_MUL", bits=16) + SOURCE.format(
        number=8, operation="ARITH_SIGN_X", bits=12
    )
    first, second = epochs_of_source(text, NAMES)
    assert (first.number, second.number) == (5, 8)
    assert [each.name for each in first.units] == ["STRENG6", "CONVACC2", "ARITH3", "RECBUF"]
    engine, convacc, arith, _ = (each.fields for each in first.units)
    assert [engine["CTRL", f"SIZE{lane}"] for lane in range(3)] == [8, 8, 0]
    assert convacc == {("CTRL", "SIMD"): 1, ("CTRL", "NOSUM"): 1}
    assert arith == {("CTRL", "OBYTES"): 1, ("CTRL", "OP"): 7, ("INSHIFTER", "FSHIFTX"): 18}
    missing = summarised([first, second], NPU, by_blob=False).unmodelled
    assert [(each.epoch, each.unit, each.field, each.value) for each in missing] == [
        (5, "RECBUF", "", 0),
        (8, "STRENG6", "SIZE1", 4),
        (8, "ARITH3", "OP", 0x33),
        (8, "RECBUF", "", 0),
    ]


@given(st.text("abc{};=.,&()0 \n*/", max_size=200), st.sampled_from(["}", ""]))
def test_hostile_sources_are_read(inside: str, end: str) -> None:
    text = (
        f"void LL_ATON_Start_EpochBlock_1(const void *e) {{\nstatic const LL_Convacc_InitTypeDef a = {{{inside}\n{end}"
    )
    list(epochs_of_source(text, NAMES))


@pytest.mark.parametrize(
    "piece", ["void LL_ATON_Start_EpochBlock_1(void) {", "static const LL_Convacc_InitTypeDef a = {", "/* ", ".a = "]
)
def test_the_time_for_a_large_source_grows_with_its_length(piece: str) -> None:
    """A search that starts again at every place would take hours for this text."""
    began = time.process_time()
    list(epochs_of_source("void LL_ATON_Start_EpochBlock_1(void) {" + piece * (1 << 16) + "\n}", NAMES))
    assert time.process_time() - began < 30


@pytest.mark.parametrize(
    ("source", "count", "by_blob", "kinds"),
    [
        ("npu/reid-mobilenetv2-core-3.0/reid.c", 52, True, {"STRSWITCH", "STRENG", "CONVACC", "ARITH", "POOL"}),
        ("npu/fallguard-ssd-core-2.1/network.c", 58, True, {"STRSWITCH", "STRENG", "CONVACC", "ARITH", "POOL"}),
        ("npu/yolox-core-2.2/network.c", 217, True, {"STRSWITCH", "STRENG", "CONVACC", "ARITH", "POOL"}),
        ("npu/yamnet-core-2.2/network.c", 36, False, {"STRENG", "CONVACC", "ARITH", "POOL"}),
        # Its units have FSTAT and a thresholded ReLU.
        ("npu/pose-movenet-core-2.1/network.c", 69, True, {"STRSWITCH", "STRENG", "CONVACC", "ARITH", "ACTIV"}),
    ],
)
def test_real_networks_use_nothing_that_is_not_modelled(
    source: str, count: int, by_blob: bool, kinds: set[str]
) -> None:
    """The virtual NPU computes all of these networks' epochs.

    The numbers of epochs of ReID and YAMNet are those of the facts.
    """
    use = npu_use(sample(source), NPU)
    assert (use.epochs, use.by_blob, {kind.kind for kind in use.kinds}) == (count, by_blob, kinds)
    assert use.unmodelled == ()


def test_a_network_without_epochs_of_the_npu_uses_none(tmp_path: Path) -> None:
    (tmp_path / "network.c").write_text(
        "const EpochBlock_ItemTypeDef *LL_ATON_EpochBlockItems_Default(void) {\n  return 0;\n}\n"
    )
    assert npu_use(tmp_path / "network.c", NPU) == NpuUse(0, False, (), ())
