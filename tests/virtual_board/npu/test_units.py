"""Each unit of the NPU against a plain oracle, over the configurations that ST's compiler was seen to use."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from virtual_board.npu.model import Npu, build_model, offset_of, unit, value_of

SOURCE_CONVACC, SOURCE_ARITH, SOURCE_POOL, SOURCE_ACTIV = 10, 18, 22, 16
CONVACC_FEATURES, CONVACC_KERNELS, ARITH_X, ARITH_Y, POOL_IN, ACTIV_IN = 10, 11, 28, 29, 36, 26
FEATURES, KERNELS, OUTPUT = 0x1000, 0x20000, 0x40000


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    return build_model(tmp_path_factory.mktemp("npu"))


@pytest.fixture
def npu(library: ctypes.CDLL) -> Iterator[Npu]:
    npu = Npu(library)
    yield npu
    npu.close()


def rounded(value: np.ndarray, shift: int) -> np.ndarray:
    """To the nearest, halves away from zero."""
    if not shift:
        return value
    half = 1 << (shift - 1)
    return np.where(value >= 0, (value + half) >> shift, -((-value + half) >> shift))


def saturated(value: np.ndarray, width: int) -> np.ndarray:
    limit = 1 << (width - 1)
    bounded: np.ndarray = np.minimum(np.maximum(value, -limit), limit - 1)
    return bounded


def test_versions_are_those_that_st_s_runtime_asks_for(npu: Npu) -> None:
    assert npu.read(unit("CONVACC", 3), 4) & 0xFFFF == 0x5117
    assert npu.read(unit("EPOCHCTRL"), 4) & 0xFFFF == 0x1121


def test_a_copy_moves_bytes_and_ends_with_the_interrupt_of_the_writer(npu: Npu) -> None:
    data = np.arange(300, dtype=np.uint8)
    npu.put(FEATURES, data)
    npu.link(5, 2)
    npu.raw_writer(5, OUTPUT, 300)
    npu.raw_reader(2, FEATURES, 300)
    # Line 0 waits for all of engine 5 alone, others are masked.
    npu.write(unit("INTCTRL"), offset_of("INTCTRL", "INTORMSK"), 0xFFFF_FFFF)
    npu.write(unit("INTCTRL"), offset_of("INTCTRL", "INTANDMSK"), ~(1 << 5))
    assert npu.has_work
    assert not npu.line(0)
    assert npu.run() is None
    assert np.array_equal(npu.get(OUTPUT, 300, "uint8"), data)
    assert npu.line(0)
    npu.write(unit("INTCTRL"), offset_of("INTCTRL", "INTCLR"), 1 << 5)
    assert not npu.line(0)


@given(
    frames=st.integers(1, 5),
    count=st.integers(1, 40),
    step=st.integers(0, 64),
    depth=st.integers(1, 4),
    gap=st.integers(0, 7),
)
@settings(max_examples=60)
def test_an_engine_reads_lines_of_pixels_with_gaps(
    library: ctypes.CDLL, frames: int, count: int, step: int, depth: int, gap: int
) -> None:
    npu = Npu(library)
    width, height = count, 3
    pixel, line = depth + gap, (depth + gap) * count + 5
    rng = np.random.default_rng(count)
    npu.put(FEATURES, rng.integers(0, 256, 0x8000).astype(np.uint8))
    npu.link(0, 1)
    elements = width * height * depth
    npu.raw_writer(0, OUTPUT, elements, frames=frames, step=elements)
    npu.write(unit("STRENG", 1), offset_of("STRENG", "ADDR"), FEATURES)
    npu.set("STRENG", 1, "FSIZE", WIDTH=width, HEIGHT=height)
    npu.set("STRENG", 1, "DEPTH", SIZE=depth, OFFSET=pixel)
    npu.set("STRENG", 1, "STRD", LOFF=line)
    npu.write(unit("STRENG", 1), offset_of("STRENG", "FOFFSET"), step)
    npu.write(unit("STRENG", 1), offset_of("STRENG", "LIMIT"), frames)
    npu.set("STRENG", 1, "CTRL", EN=1, SIZE0=8)
    assert npu.run() is None
    frame, y, x, b = np.indices((frames, height, width, depth))
    wanted = npu.memory[FEATURES + frame * step + y * line + x * pixel + b].ravel()
    assert np.array_equal(npu.get(OUTPUT, wanted.size, "uint8"), wanted)
    npu.close()


def oracle_convolution(
    features: np.ndarray, kernels: np.ndarray, subtract: int, pads: tuple[int, int, int, int], fill: int, step: int
) -> np.ndarray:
    """features: height x width x batch. kernels: number x height x width x batch. pads: left, right, top, bottom."""
    left, right, top, bottom = pads
    framed = np.pad(features.astype(np.int64) - subtract, ((top, bottom), (left, right), (0, 0)), constant_values=fill)
    count, height, width, _ = kernels.shape
    rows = (framed.shape[0] - height) // step + 1
    columns = (framed.shape[1] - width) // step + 1
    out = np.zeros((rows, columns, count), np.int64)
    for y in range(rows):
        for x in range(columns):
            window = framed[y * step : y * step + height, x * step : x * step + width]
            out[y, x] = (kernels.astype(np.int64) * window).sum(axis=(1, 2, 3))
    return out


@st.composite
def convolutions(draw: st.DrawFn) -> dict[str, int]:
    return {
        "height": draw(st.integers(3, 9)),
        "width": draw(st.integers(3, 9)),
        "batch": draw(st.integers(1, 12)),
        "kernels": draw(st.integers(1, 10)),
        "size": draw(st.sampled_from((1, 3))),
        "step": draw(st.sampled_from((1, 2))),
        "subtract": draw(st.integers(-128, 255)),
        "fill": draw(st.sampled_from((0, -128))),
        "left": draw(st.integers(0, 1)),
        "right": draw(st.integers(0, 1)),
        "top": draw(st.integers(0, 1)),
        "bottom": draw(st.integers(0, 1)),
        "shift": draw(st.integers(0, 12)),
        "unsigned": draw(st.integers(0, 1)),
        "seed": draw(st.integers(0, 1 << 16)),
    }


def set_convolution(npu: Npu, c: dict[str, int]) -> None:
    npu.set("CONVACC", 0, "KFORMAT", WIDTH=c["size"], HEIGHT=c["size"], BTCDEPTH=c["batch"], NR=c["kernels"])
    npu.set(
        "CONVACC",
        0,
        "SAMPLE",
        HSTRD=c["step"],
        VSTRD=c["step"],
        LPAD=c["left"],
        RPAD=c["right"],
        TPAD=c["top"],
        BPAD=c["bottom"],
    )
    npu.set("CONVACC", 0, "DFORMAT", OUTSHIFT=c["shift"], ORNDMODE=1, ROUND=1, SAT=1, OBYTES=2, FBYTES=1, FSHIFT=16)
    npu.set("CONVACC", 0, "FFORMAT", WIDTH=c["width"] * c["batch"], HEIGHT=c["height"])
    npu.set("CONVACC", 0, "FSUB", FSUB=c["subtract"])
    npu.set("CONVACC", 0, "ZFBIAS", ZFBIAS=c["fill"])
    npu.set("CONVACC", 0, "CTRL", EN=1, NOSUM=1, SIMD=1, FUNSIGNED=c["unsigned"])


def run_convolution(npu: Npu, c: dict[str, int]) -> tuple[np.ndarray, np.ndarray]:
    """(what the model makes, what the oracle makes), both 16 bits."""
    rng = np.random.default_rng(c["seed"])
    features = rng.integers(0, 256, (c["height"], c["width"], c["batch"])).astype(np.uint8)
    kernels = rng.integers(-128, 128, (c["kernels"], c["size"], c["size"], c["batch"])).astype(np.int8)
    npu.put(FEATURES, features)
    npu.put(KERNELS, kernels)
    values = features if c["unsigned"] else features.view(np.int8)
    pads = (c["left"], c["right"], c["top"], c["bottom"])
    wanted = saturated(
        rounded(oracle_convolution(values, kernels, c["subtract"], pads, c["fill"], c["step"]), c["shift"]), 16
    )
    set_convolution(npu, c)
    npu.link(0, SOURCE_CONVACC)
    npu.link(CONVACC_FEATURES, 1)
    npu.link(CONVACC_KERNELS, 2)
    npu.raw_writer(0, OUTPUT, wanted.size, SIZE1=8)
    npu.raw_reader(1, FEATURES, features.size)
    npu.raw_reader(2, KERNELS, kernels.size, CONT=1)
    assert npu.run() is None
    return npu.get(OUTPUT, wanted.size, "int16"), wanted.ravel()


@given(c=convolutions())
@settings(max_examples=120)
def test_convolutions(library: ctypes.CDLL, c: dict[str, int]) -> None:
    if c["height"] + c["top"] + c["bottom"] < c["size"] or c["width"] + c["left"] + c["right"] < c["size"]:
        return
    npu = Npu(library)
    made, wanted = run_convolution(npu, c)
    assert np.array_equal(made, wanted)
    npu.close()


@given(
    batch=st.integers(1, 24),
    count=st.integers(1, 20),
    pixels=st.integers(1, 12),
    packed=st.booleans(),
    seed=st.integers(0, 999),
)
@settings(max_examples=60)
def test_deep_mode_takes_kernels_in_groups_of_eight(
    library: ctypes.CDLL, batch: int, count: int, pixels: int, packed: bool, seed: int
) -> None:
    npu = Npu(library)
    rng = np.random.default_rng(seed)
    features = rng.integers(-128, 128, (1, pixels, batch)).astype(np.int8)
    kernels = rng.integers(-128, 128, (count, batch)).astype(np.int8)
    groups = [kernels[first : first + 8].T.ravel() for first in range(0, count, 8)]
    stream = np.concatenate(groups)
    npu.put(KERNELS, np.concatenate([stream, np.zeros(-stream.size % 3, np.int8)]))
    surplus = 0 if packed else -batch % 3
    npu.put(FEATURES, np.pad(features[0], ((0, 0), (0, surplus))))
    wanted = (kernels.astype(np.int64) @ features[0].T.astype(np.int64)).T
    npu.set("CONVACC", 0, "KFORMAT", WIDTH=1, HEIGHT=1, BTCDEPTH=batch, NR=count)
    npu.set("CONVACC", 0, "SAMPLE", HSTRD=1, VSTRD=1)
    npu.set("CONVACC", 0, "DFORMAT", ORNDMODE=1, ROUND=1, SAT=1, OBYTES=3, FBYTES=3 if packed else 1, FSHIFT=16)
    npu.set("CONVACC", 0, "FFORMAT", WIDTH=pixels * batch, HEIGHT=1)
    npu.set("CONVACC", 0, "CTRL", EN=1, NOSUM=1, SIMD=1, DEEPMODE=1)
    npu.link(0, SOURCE_CONVACC)
    npu.link(CONVACC_FEATURES, 1)
    npu.link(CONVACC_KERNELS, 2)
    npu.raw_writer(0, OUTPUT, wanted.size, SIZE1=8, SIZE2=8)
    npu.raw_reader(1, FEATURES, pixels * (batch + surplus))
    npu.raw_reader(2, KERNELS, stream.size + -stream.size % 3, CONT=1)
    assert npu.run() is None
    made = npu.get(OUTPUT, wanted.size * 3, "uint8").reshape(-1, 3).astype(np.int64)
    made = made[:, 0] | made[:, 1] << 8 | made[:, 2] << 16
    assert np.array_equal(np.where(made >= 1 << 23, made - (1 << 24), made), wanted.ravel())
    npu.close()


@given(
    a=st.integers(-32768, 32767),
    c=st.integers(-(1 << 31), (1 << 31) - 1),
    shift=st.integers(0, 30),
    saturate=st.booleans(),
)
def test_arith_scales_adds_a_constant_of_32_bits_and_narrows(
    library: ctypes.CDLL, a: int, c: int, shift: int, saturate: bool
) -> None:
    npu = Npu(library)
    x = np.arange(-128, 128, dtype=np.int64)
    npu.put(FEATURES, x.astype(np.int8))
    npu.set("ARITH", 0, "COEFFAC", A=a & 0xFFFF, C=c & 0xFFFF)
    npu.set("ARITH", 0, "COEFFB", B=c >> 16 & 0xFFFF)
    npu.set("ARITH", 0, "SHIFT", RES=shift)
    npu.set("ARITH", 0, "INSHIFTER", FBYTESX=1, FSHIFTX=16)
    npu.set("ARITH", 0, "CTRL", EN=1, ROUND=1, SAT=int(saturate), COMBINEBC=1, ORNDMODE=1, OBYTES=1)
    npu.link(0, SOURCE_ARITH)
    npu.link(ARITH_X, 1)
    npu.raw_writer(0, OUTPUT, x.size)
    npu.raw_reader(1, FEATURES, x.size)
    assert npu.run() is None
    value = rounded(a * x + c, shift)
    wanted = saturated(value, 8) if saturate else (value + 128) % 256 - 128
    assert np.array_equal(npu.get(OUTPUT, x.size), wanted)
    npu.close()


def test_arith_takes_a_coefficient_for_each_channel(npu: Npu) -> None:
    width, batch, channels = 5, 4, 12
    rng = np.random.default_rng(1)
    x = rng.integers(-100, 100, (channels // batch, width, batch))
    a, c = rng.integers(-50, 50, channels), rng.integers(-3000, 3000, channels)
    npu.put(FEATURES, x.astype(np.int8))
    npu.set("ARITH", 0, "TRANSLATEADDR", EN=1)
    for channel in range(channels):
        npu.write(unit("ARITH"), 0x400 + 8 * channel, int(a[channel]) & 0xFFFF)
        npu.write(unit("ARITH"), 0x404 + 8 * channel, int(c[channel]) & 0xFFFF)
    counts = (batch - 1, width * batch - 1, width * channels - 1)
    for number, count in enumerate(counts, 1):
        npu.write(unit("ARITH"), offset_of("ARITH", f"RSTCNT{number}"), count)
    npu.set("ARITH", 0, "ADDROFFSET", OFFSET1=-(batch - 1), OFFSET2=1, OFFSET3=-(channels - 1))
    npu.set("ARITH", 0, "INCOFFSET", VAL=1)
    npu.set("ARITH", 0, "INSHIFTER", FBYTESX=1, FSHIFTX=16)
    npu.set("ARITH", 0, "CTRL", EN=1, CNT1=1, CNT2=1, CNT3=1, COEFFA=1, COEFFC=1, SAT=1, OBYTES=2)
    npu.link(0, SOURCE_ARITH)
    npu.link(ARITH_X, 1)
    npu.raw_writer(0, OUTPUT, x.size, SIZE1=8)
    npu.raw_reader(1, FEATURES, x.size)
    assert npu.run() is None
    wanted = x * a.reshape(channels // batch, 1, batch) + c.reshape(channels // batch, 1, batch)
    assert np.array_equal(npu.get(OUTPUT, x.size, "int16"), wanted.ravel())


def test_arith_adds_two_streams(npu: Npu) -> None:
    rng = np.random.default_rng(2)
    x, y = rng.integers(-128, 128, (2, 64))
    npu.put(FEATURES, x.astype(np.int8))
    npu.put(KERNELS, y.astype(np.int8))
    npu.set("ARITH", 0, "COEFFAC", A=3, C=7)
    npu.set("ARITH", 0, "COEFFB", B=-5 & 0xFFFF)
    npu.set("ARITH", 0, "SHIFT", AX=1, C=2, RES=2)
    npu.set("ARITH", 0, "INSHIFTER", FBYTESX=1, FSHIFTX=16, FBYTESY=1, FSHIFTY=16)
    npu.set("ARITH", 0, "CTRL", EN=1, ROUND=1, SAT=1, DUALIN=1, OBYTES=2)
    npu.link(0, SOURCE_ARITH)
    npu.link(ARITH_X, 1)
    npu.link(ARITH_Y, 2)
    npu.raw_writer(0, OUTPUT, 64, SIZE1=8)
    npu.raw_reader(1, FEATURES, 64)
    npu.raw_reader(2, KERNELS, 64)
    assert npu.run() is None
    assert np.array_equal(npu.get(OUTPUT, 64, "int16"), rounded((3 * x >> 1) - 5 * y + (7 << 2), 2))


@pytest.mark.parametrize(("kind", "name"), [(0, "max"), (1, "min"), (2, "mean")])
@pytest.mark.parametrize("step", [1, 2])
def test_pool_goes_over_windows(npu: Npu, kind: int, name: str, step: int) -> None:
    rng = np.random.default_rng(3)
    x = rng.integers(-128, 128, (6, 8, 4))
    npu.put(FEATURES, x.astype(np.int8))
    npu.set("POOL", 0, "PDIMS", WINX=2, WINY=2, STRDX=step, STRDY=step, BSIZE=4)
    npu.set("POOL", 0, "FDIMS", FEATX=32, FEATY=6)
    npu.set("POOL", 0, "MULVAL", MULVAL=1 << 8)
    npu.set("POOL", 0, "RNDCTRL", OBYTES=2, ORNDMODE=1)
    npu.set("POOL", 0, "CTRL", EN=1, TYPE=kind, ROUND=1, SAT=1, OUTSHIFT=2, FBYTES=1, FSHIFT=16)
    windows = np.lib.stride_tricks.sliding_window_view(x, (2, 2), (0, 1))[::step, ::step]
    wanted = {"max": windows.max((3, 4)), "min": windows.min((3, 4)), "mean": windows.sum((3, 4)) << 6}[name]
    npu.link(0, SOURCE_POOL)
    npu.link(POOL_IN, 1)
    npu.raw_writer(0, OUTPUT, wanted.size, SIZE1=8)
    npu.raw_reader(1, FEATURES, x.size)
    assert npu.run() is None
    assert np.array_equal(npu.get(OUTPUT, wanted.size, "int16"), wanted.ravel())


def test_activ_looks_up_parabolas(npu: Npu) -> None:
    """Four outer segments of two inner ones each, y = (a x^2 + b x + c) >> 4."""
    x = np.arange(-128, 128, dtype=np.int64)
    rng = np.random.default_rng(4)
    a, b, c = rng.integers(-2, 3, 8), rng.integers(-40, 40, 8), rng.integers(-500, 500, 8)
    npu.put(FEATURES, x.astype(np.int8))
    for outer in range(4):
        npu.write(unit("ACTIV"), 0x400 + 4 * outer, 2 * outer | 1 << 6)
    for index in range(8):
        npu.write(unit("ACTIV"), 0x800 + 8 * index, int(a[index]) & 0xFFFF | (int(b[index]) & 0xFFFF) << 16)
        npu.write(unit("ACTIV"), 0x804 + 8 * index, int(c[index]) & 0xFFFF)
    npu.set("ACTIV", 0, "ACTIVPARAM", FUNC=8)
    npu.set("ACTIV", 0, "FUNC", OUTSHIFT=4, SIGNEDOP=1, BWIDTH=2)
    npu.set("ACTIV", 0, "CTRL", EN=1, TYPE=3, FBYTES=1, FSHIFT=16, ROUND=1, SAT=1, OBYTES=2, ORNDMODE=1)
    npu.link(0, SOURCE_ACTIV)
    npu.link(ACTIV_IN, 1)
    npu.raw_writer(0, OUTPUT, 256, SIZE1=8)
    npu.raw_reader(1, FEATURES, 256)
    assert npu.run() is None
    segment = (x + 128) // 32
    wanted = saturated(rounded(a[segment] * x * x + b[segment] * x + c[segment], 4), 16)
    assert np.array_equal(npu.get(OUTPUT, 256, "int16"), wanted)


def test_sums_go_through_memory_behind_the_engine_that_writes_them(npu: Npu) -> None:
    """Three frames of features, each added to what was written before, at one address."""
    rng = np.random.default_rng(5)
    features = rng.integers(-20, 20, (3, 16)).astype(np.int8)
    npu.put(FEATURES, features)
    npu.put(KERNELS, np.array([2, 3, 5], np.int8))
    npu.set("CONVACC", 0, "KFORMAT", WIDTH=1, HEIGHT=1, BTCDEPTH=1, NR=1)
    npu.set("CONVACC", 0, "SAMPLE", HSTRD=1, VSTRD=1)
    npu.set("CONVACC", 0, "DFORMAT", ORNDMODE=1, ROUND=1, SAT=1, OBYTES=2, FBYTES=1, FSHIFT=16)
    npu.set("CONVACC", 0, "FFORMAT", WIDTH=16, HEIGHT=1)
    npu.set("CONVACC", 0, "CTRL", EN=1, NO1SUM=1, SIMD=1)
    npu.link(0, SOURCE_CONVACC)
    npu.link(CONVACC_FEATURES, 1)
    npu.link(CONVACC_KERNELS, 2)
    npu.link(CONVACC_KERNELS + 1, 3)
    npu.raw_writer(0, OUTPUT, 16, SIZE1=8, frames=3)
    npu.raw_reader(1, FEATURES, 16, frames=3, step=16)
    npu.raw_reader(2, KERNELS, 3, CONT=1)
    npu.set("STRENG", 3, "EVENT", FRMTRG_EN=1, FRMTRG_SRC=0)
    npu.raw_reader(3, OUTPUT, 16, SIZE1=8, frames=3)
    assert npu.run() is None
    wanted = (features.astype(int) * np.array([[2], [3], [5]])).sum(0)
    assert np.array_equal(npu.get(OUTPUT, 16, "int16"), wanted)


def test_a_port_with_two_contexts_drops_the_frames_of_the_one_that_is_off(npu: Npu) -> None:
    npu.put(FEATURES, np.arange(6 * 4, dtype=np.uint8))
    # Two frames are dropped, one is taken.
    context = 2 << 8 | 1 << 1 | (1 | 1 << 1) << 16 | 1 << 24
    npu.write(unit("STRSWITCH"), 8 + 4 * 0, context)
    npu.raw_writer(0, OUTPUT, 4, frames=2, step=4)
    npu.raw_reader(1, FEATURES, 4, frames=6, step=4)
    assert npu.run() is None
    assert npu.get(OUTPUT, 8, "uint8").tolist() == [8, 9, 10, 11, 20, 21, 22, 23]


def writer(npu: Npu, **control: int) -> None:
    npu.raw_writer(5, OUTPUT, 16, **control)


def copier(npu: Npu, address: int = FEATURES, frames: int = 1, **control: int) -> None:
    npu.link(5, 2)
    npu.raw_reader(2, address, 16, frames=frames, **control)


def nothing_is_linked(npu: Npu) -> None:
    writer(npu)


def nothing_is_written(npu: Npu) -> None:
    copier(npu)


def the_reader_is_off(npu: Npu) -> None:
    npu.link(5, 2)
    writer(npu)


def memory_is_missing(npu: Npu) -> None:
    copier(npu, address=0x7000_0000)
    writer(npu)


def frames_are_missing(npu: Npu) -> None:
    copier(npu, frames=2)
    writer(npu, frames=3)


def a_field_is_not_modelled(npu: Npu) -> None:
    copier(npu, NOINC=1)
    writer(npu)


def units_are_in_a_circle(npu: Npu) -> None:
    npu.link(5, SOURCE_ARITH)
    npu.link(ARITH_X, SOURCE_ARITH)
    npu.set("ARITH", 0, "CTRL", EN=1, OBYTES=1)
    writer(npu)


def a_unit_is_not_modelled(npu: Npu) -> None:
    npu.write(unit("DECUN"), 0, 1)
    writer(npu)


FAULTS = [
    (nothing_is_linked, "destination 5 of the stream switch has no source"),
    (nothing_is_written, "no stream engine writes to memory"),
    (the_reader_is_off, "a stream comes from STRENG2, which is off"),
    (memory_is_missing, "STRENG2 reads 16 bytes at 0x70000000, where it cannot"),
    (frames_are_missing, "STRENG2 is asked for frame 2, and has 2 (LIMIT)"),
    (a_field_is_not_modelled, "STRENG2 CTRL NOINC is 1: not modelled"),
    (units_are_in_a_circle, "ARITH0 waits for its own output: units wait for each other in a circle"),
    (a_unit_is_not_modelled, "DECUN0 is on: not modelled"),
]


@pytest.mark.parametrize(("arrange", "reason"), FAULTS, ids=[case[0].__name__ for case in FAULTS])
def test_what_would_never_end_or_is_not_known_is_told(npu: Npu, arrange: Callable[[Npu], None], reason: str) -> None:
    arrange(npu)
    assert reason in str(npu.run())


def test_values_of_fields_are_checked_by_the_test_s_own_assembler() -> None:
    assert value_of("CONVACC", "FSUB", FSUB=-1) == 0xFFFFFF
