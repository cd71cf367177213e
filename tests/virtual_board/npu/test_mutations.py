"""A model with one mistake fails at least one of the examples (examples.py).

It computes the example differently, or reports that it cannot. Each mutation replaces a text that
must occur exactly once in the model's C source, with any white space between its words. If the
source changes, change the table here, too.
"""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from n6build.base.paths import MACHINE_FILES
from slow_rows import telling_rows

from virtual_board.npu.assembler import difference
from virtual_board.npu.examples import EXAMPLES, REFUSED
from virtual_board.npu.model import build_model, gcc, model_files

FILES = sorted(path for path in MACHINE_FILES.iterdir() if re.fullmatch(r"n6npu.*\.h|n6virt_npu_.*\.[ch]", path.name))
FAST = ("-O0", "-w")  # These flags make compilation fast.


# ARITH computes most blocks in 32 bits, and the others in 64. With this text replaced, it computes all in 64 bits.
NARROW = "is_narrow && fits(&narrow, &coefficients, count)"


@dataclass(frozen=True)
class Mutation:
    """A mistake.

    Attributes:
        wide: Whether ARITH computes all blocks in 64 bits, where the mistake is.
    """

    name: str
    text: str
    instead: str
    wide: bool = False


MUTATIONS = [
    # Mistakes that concern all units.
    Mutation("shifts truncate", "if (!round) {", "if (true) {"),
    Mutation("results wrap", "if (!saturate) {", "if (true) {"),
    # CONVACC.
    Mutation("the frame is subtracted from, too",
             "part_of(v->frame_value, v, plane)", "part_of(v->frame_value - v->subtract, v, plane)"),
    Mutation("the frame is always zero", "part_of(v->frame_value, v, plane)", "part_of(0, v, plane)"),
    Mutation("nothing is subtracted", "- v->sign) - v->subtract, v, plane)", "- v->sign), v, plane)"),
    Mutation("FUNSIGNED is ignored", ".sign = is_unsigned ? 0 :", ".sign = false ? 0 :"),
    Mutation("the crop's last column is left out", "? right / s.batch + 1 :", "? right / s.batch :"),
    Mutation("ZFRAME is in elements", "CONVACC, ZFRAME, LEFT) / s.batch", "CONVACC, ZFRAME, LEFT)"),
    Mutation("steps are swapped", "(size_t)y * s.y_step * framed_width", "(size_t)y * s.x_step * framed_width"),
    Mutation("KFILT is ignored", "if (shared <= 1) {", "if (true) {"),
    Mutation("each frame meets the first kernels", "start = number * share.of_all", "start = 0 * share.of_all"),
    Mutation("deep groups are of four", "#define DEEP_GROUP 8u", "#define DEEP_GROUP 4u"),
    Mutation("deep sets are not padded", "return s->deep ? (values + 2) / 3 * 3 : values;", "return values;"),
    Mutation("deep pixels have no surplus", "s->deep && !packed ? (s->batch + 2) / 3 * 3 : s->batch", "s->batch"),
    Mutation("AFILT is ignored", "return mode == 0 || (phase", "return true || (phase"),
    Mutation("AFILT's LAST is ignored", "&& phase <= FIELD(npu, unit, CONVACC, AFILT, LAST)", ""),
    Mutation("NO1SUM is ignored", "(FIELD(npu, unit, CONVACC, CTRL, NO1SUM) || FIELD", "(FIELD"),
    Mutation("INSHIFT is ignored", "sum_bits) << f.in_shift", "sum_bits)"),
    Mutation("ReLU is ignored", "narrowed(f.relu && sum < 0 ? 0 : sum,", "narrowed(sum,"),
    Mutation("kernels have 8 bits even in SIMD 0", "s.kernel_bits = simd ? 8 : 16;", "s.kernel_bits = 8;"),
    Mutation("features of SIMD 2 have 8 bits", "s.feature_bits = simd == 1 ?", "s.feature_bits = simd ?"),
    Mutation("FSTAT is ignored", "return number / times;", "return number;"),
    Mutation("stationary frames come in turns", "return number / times;", "return number % times;"),
    Mutation("FSTAT adds to sums", "if (!times || s->deep || !FIELD(npu, unit, CONVACC, CTRL, NOSUM)) {", "if (!times) {"),
    Mutation("FSTATCNT without FSTAT is ignored", "if (times) { npu_stop(", "if (false) { npu_stop("),
    Mutation("KUNSIGNED is ignored", "if (kernels[i] < 0) {", "if (false) {"),
    # Stream engines and the switch.
    Mutation("frames do not repeat", "(repeat ? frame % repeat * step", "(false ? frame % repeat * step"),
    Mutation("FRPTOFF is ignored", "+ frame / repeat * reg(npu, unit, NPU_STRENG_FRPTOFF)", ""),
    Mutation("FRMTRG is ignored", "if (FIELD(npu, unit, STRENG, EVENT, FRMTRG_EN) && number) {", "if (false) {"),
    Mutation("SIGNEXT is ignored", "from_the_right && FIELD(npu, unit, STRENG, CTRL, SIGNEXT)", "false"),
    Mutation("LSBMODE is ignored", "(from_the_right ? lanes.bytes : lane)", "lane"),
    Mutation("RAW_OUT is ignored", "bool raw_out = FIELD(npu, unit, STRENG, CTRL, RAW_OUT);", "bool raw_out = false;"),
    Mutation("the high bits of a line's step are ignored", "| FIELD(npu, unit, STRENG, CID_CACHE, LOFF_MSB) << 16", ""),
    Mutation("the high bits of a pixel's step are ignored", "| FIELD(npu, unit, STRENG, LIMITEN, DOFF_MSB) << 16", ""),
    Mutation("contexts are swapped", ".take = {value & 1, value >> 16 & 1},", ".take = {value >> 16 & 1, value & 1},"),
    Mutation("contexts drop nothing", "port->has_contexts = port->frames[0] || port->frames[1];", ""),
    # ARITH.
    Mutation("the increment counts one more", "reg(npu, unit, NPU_ARITH_INCCNT) + 1,", "reg(npu, unit, NPU_ARITH_INCCNT) + 2,"),
    Mutation("resets count one more", "NPU_ARITH_RSTCNT1) + 1 : 0", "NPU_ARITH_RSTCNT1) + 2 : 0"),
    Mutation("the increment goes before the counters", "found ? offset : counters->offsets[i]", "counters->offsets[i]"),
    Mutation("the first coefficient is that at 0", "FIELD(npu, unit, ARITH, COEFFADDR, ADDR)", "0"),
    Mutation("TRANSLATEADDR is ignored", "(translate ? offset - CONFIGURATION : offset)", "(offset - CONFIGURATION)"),
    Mutation("COMBINEBC is ignored", "combined = FIELD(npu, unit, ARITH, CTRL, COMBINEBC);", "combined = false;"),
    Mutation("C is not shifted", "(int64_t)((uint64_t)(int64_t)k->c[i] << c_shift)", "k->c[i]", wide=True),
    Mutation("B y is not shifted", "k->b[i] * y[i] >> by", "k->b[i] * y[i]", wide=True),
    Mutation("nothing is clipped", "if (clip) {", "if (false) {", wide=True),
    Mutation("nothing is clipped in 32 bits",
             "clip = FIELD(npu, unit, ARITH, CTRL, CLIPOUT), saturate", "clip = false, saturate"),
    Mutation("C is not shifted in 32 bits", "(int32_t)((uint32_t)k->c[i] << n.c)", "k->c[i]"),
    Mutation("B y is not shifted in 32 bits", ">> y_unused) >> n.by", ">> y_unused)"),
    Mutation("halves go up in 32 bits", "sign = n.round ? value >> 31 : 0", "sign = 0"),
    Mutation("results wrap in 32 bits", "value = value < n.low ? n.low : value > n.high ? n.high : value;", ""),
    Mutation("negative results pass in 32 bits", "value = value < n.floor ? n.floor : value;", ""),
    Mutation("all blocks have 32 bits", "ax + by + c + n->half + 2 <= INT32_MAX", "true"),
    Mutation("a product takes A", "wrapped_product(x[i], y ? y[i] : k->a[i])", "wrapped_product(x[i], k->a[i])"),
    Mutation("the smaller one is the larger one",
             "(operation == MINIMUM) == (x[i] < y[i])", "(operation == MAXIMUM) == (x[i] < y[i])"),
    Mutation("a clip has no lower limit", "x[i] < k->a[i] ? k->a[i] :", ""),
    Mutation("a clip has no upper limit", "x[i] > k->c[i] ? k->c[i] : x[i];", "x[i];"),
    Mutation("a clip takes coefficients from memory", "if (varies || FIELD(npu, unit, ARITH,", "if (FIELD(npu, unit, ARITH,"),
    Mutation("the limits of a clip may descend", "|| lowest > highest) {", ") {"),
    # POOL.
    Mutation("POOL is not cropped", "if (FIELD(npu, unit, POOL, CTRL, CROPEN)) {", "if (false) {"),
    Mutation("MULVAL is ignored", "value * FIELD(npu, unit, POOL, MULVAL, MULVAL)", "value"),
    Mutation("POOL's steps are swapped", "y * w.y_step) * w.width", "y * w.x_step) * w.width"),
    Mutation("a batch of 0 is one of 1", ".batch = batch ? batch : 16", ".batch = batch ? batch : 1"),
    # ACTIV.
    Mutation("segments have no segments", "inner = inner ? (u << outer_bits & 0xffff) >> (16 - inner) : 0;", "inner = 0;"),
    Mutation("signed values are not centred", "+ (is_signed ? 0x8000 : 0)) & 0xffff", ") & 0xffff"),
    Mutation("FSUB of ACTIV is ignored", "x = shifted(x - subtract, shift,", "x = shifted(x, shift,"),
    Mutation("any threshold changes nothing", "if (threshold != INT8_MIN || below", "if (below"),
    Mutation("any value below a threshold changes nothing", "|| below != INT8_MIN ||", "||"),
    Mutation("a threshold is for all bytes", "FIELD(npu, unit, ACTIV, CTRL, FBYTES) != 1 ||", ""),
    Mutation("a threshold makes zeros", "to[i] = (int32_t)sign_extended(from[i], 8);", "to[i] = 0;"),
    Mutation("a threshold ignores FSUB", "if (FIELD(npu, unit, ACTIV, FSUB, FSUB) || (shift", "if ((shift"),
    Mutation("the constant is not shifted", "<< FIELD(npu, unit, ACTIV, FUNC, CSHIFT)", ""),
]  # fmt: skip

# No output of a real network distinguishes these (facts, section 12), so they are decisions of the model's
# author. Each is in one place, or in one for each width of ARITH, which can be changed after a measurement on silicon.
UNDECIDED = {
    "which way halves are rounded": "((uint64_t)value + half) >> shift) : -(int64_t)((-(uint64_t)value + half) >> shift)",
    "whether the shift of A x rounds": "k->a[i] * x[i] >> ax",
    "whether the shift of B y rounds": "k->b[i] * y[i] >> by",
    "which way halves are rounded in 32 bits": "((((value ^ sign) - sign) + n.half) >> n.result ^ sign) - sign",
    "whether the shift of A x rounds in 32 bits": ">> x_unused) >> n.ax",
    "whether the shift of B y rounds in 32 bits": ">> y_unused) >> n.by",
}


def places(text: str) -> list[tuple[Path, re.Match[str]]]:
    pattern = re.compile(r"\s+".join(re.escape(word) for word in text.split()))
    return [(path, match) for path in FILES for match in pattern.finditer(path.read_text())]


def write_mutant(mutation: Mutation, folder: Path) -> set[str]:
    """Write the changed file, and all files if all include it.

    Returns:
        The names of the files.
    """
    found = places(mutation.text)
    assert len(found) == 1, f"{mutation.text!r} stands {len(found)} times in {', '.join(path.name for path in FILES)}"
    ((changed, match),) = found
    for path in [changed] if changed.suffix == ".c" else FILES:
        shutil.copy(path, folder)
    source = changed.read_text()
    source = source[: match.start()] + mutation.instead + source[match.end() :]
    if mutation.wide:
        assert source.count(NARROW) == 1
        source = source.replace(NARROW, "false")
    (folder / changed.name).write_text(source)
    return {path.name for path in folder.iterdir()}


@pytest.fixture(scope="session")
def objects(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return the object files without a mistake."""
    folder = tmp_path_factory.mktemp("npu_objects")
    compiled = {path.name: folder / f"{path.stem}.o" for path in model_files()}
    for path in model_files():
        gcc(folder, [*FAST, "-c", str(path), "-o", str(compiled[path.name])])
    return compiled


@pytest.mark.parametrize(
    "mutation", telling_rows(MUTATIONS, MUTATIONS[::5].__contains__), ids=lambda mutation: mutation.name
)
def test_a_mistake_is_caught(tmp_path: Path, objects: dict[str, Path], mutation: Mutation) -> None:
    changed = write_mutant(mutation, tmp_path)
    rest = [str(path) for name, path in objects.items() if name not in changed]
    library = build_model(tmp_path, (*FAST, *rest), sources=tmp_path)
    assert any(difference(library, make(), "registers") for make in (EXAMPLES | REFUSED).values())


def test_arith_computes_the_same_in_64_bits(tmp_path: Path, objects: dict[str, Path]) -> None:
    changed = write_mutant(Mutation("all blocks have 64 bits", NARROW, "false"), tmp_path)
    rest = [str(path) for name, path in objects.items() if name not in changed]
    library = build_model(tmp_path, (*FAST, *rest), sources=tmp_path)
    assert not any(difference(library, make(), "registers") for make in EXAMPLES.values())


@pytest.mark.parametrize("text", UNDECIDED.values(), ids=UNDECIDED)
def test_what_nobody_can_tell_stands_in_one_place(text: str) -> None:
    assert len(places(text)) == 1
