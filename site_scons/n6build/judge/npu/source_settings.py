"""Settings of the NPU's units in a network.c without blobs.

They come from the structures for ST's functions. The structures' members have the names of ST's
ll_aton.h; they are translated to registers and fields of the chip.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from n6build.judge.npu.names import Names
from n6build.judge.npu.settings import EpochSettings, UnitSettings

_KINDS = {
    "Convacc": "CONVACC",
    "Arithacc": "ARITH",
    "Poolacc": "POOL",
    "Activacc": "ACTIV",
    "Streng_Tensor": "STRENG",
    "Decun": "DECUN",
}
_KIND = "|".join(_KINDS)
_START = re.compile(r"\bvoid LL_ATON_Start_EpochBlock_(\d{1,5})\([^;{}()]{0,99}\)\s{0,9}\{")
_STRUCTURE = re.compile(rf"(?:{_KIND})_?InitTypeDef (\w{{1,200}}) = \{{([^;]*)\}};")
# A search ends at the next structure, so that a hostile file does not cost the square of its length.
_STRUCTURES = "static const LL_"
_CALL = re.compile(rf"\bLL_({_KIND})_?Init\((\d{{1,3}}), &(\w{{1,200}})[,)]")
_ENABLED = re.compile(r"\{ \{(STRENG|CONVACC|DECUN|ACTIV|ARITH|POOL|RECBUF), (\d{1,3})\} \}")
_MEMBER = re.compile(r"\.(\w+) = (?:\(short\))?([-\w]+)")
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
# The address of a relative pool is a symbol, which does not match.
_BASE = re.compile(r"\.addr_base = \{\(unsigned char \*\)\(0x([0-9a-fA-F]{1,8})UL\)")

# Member -> register and field.
_MEMBERS: dict[str, dict[str, tuple[str, str]]] = {
    "CONVACC": {
        "simd": ("CTRL", "SIMD"),
        "afilt_mode": ("CTRL", "AFILTMODE"),
        "accumulate_gen_first": ("CTRL", "GEN1SUM"),
        "kt1_mode": ("CTRL", "KT1"),
        "kseten": ("CTRL", "KSETEN"),
        "f_unsigned": ("CTRL", "FUNSIGNED"),
        "k_unsigned": ("CTRL", "KUNSIGNED"),
        "fstat": ("CTRL", "FSTAT"),
        "deepmode": ("CTRL", "DEEPMODE"),
        "dss2mode": ("CTRL", "DSS2MODE"),
        "rounding_f": ("DFORMAT", "FROUND"),
        "saturation_f": ("DFORMAT", "FSAT"),
        "round_mode_f": ("DFORMAT", "FRNDMODE"),
        "inbytes_f": ("DFORMAT", "FBYTES"),
        "rounding_o": ("DFORMAT", "ROUND"),
        "saturation_o": ("DFORMAT", "SAT"),
        "outbytes_o": ("DFORMAT", "OBYTES"),
        "shift_o": ("DFORMAT", "OUTSHIFT"),
        "raw_o": ("DFORMAT", "RAW"),
        "kernelWidth": ("KFORMAT", "WIDTH"),
        "kernelHeight": ("KFORMAT", "HEIGHT"),
        "batchDepth": ("KFORMAT", "BTCDEPTH"),
        "nKernels": ("KFORMAT", "NR"),
        "fHeight": ("FFORMAT", "HEIGHT"),
        "hstride": ("SAMPLE", "HSTRD"),
        "vstride": ("SAMPLE", "VSTRD"),
        "fstatcnt": ("SAMPLE", "FSTATCNT"),
    },
    "ARITH": {
        "operation": ("CTRL", "OP"),
        "dualinput": ("CTRL", "DUALIN"),
        "combinebc": ("CTRL", "COMBINEBC"),
        "clipout": ("CTRL", "CLIPOUT"),
        "rounding_o": ("CTRL", "ROUND"),
        "saturation_o": ("CTRL", "SAT"),
        "outbytes_o": ("CTRL", "OBYTES"),
        "inbytes_x": ("INSHIFTER", "FBYTESX"),
        "inbytes_y": ("INSHIFTER", "FBYTESY"),
        "Ax_shift": ("SHIFT", "AX"),
        "By_shift": ("SHIFT", "BY"),
        "C_shift": ("SHIFT", "C"),
        "shift_o": ("SHIFT", "RES"),
    },
    "POOL": {
        "operation": ("CTRL", "TYPE"),
        "rounding_f": ("CTRL", "FROUND"),
        "saturation_f": ("CTRL", "FSAT"),
        "inbytes_f": ("CTRL", "FBYTES"),
        "rounding_o": ("CTRL", "ROUND"),
        "saturation_o": ("CTRL", "SAT"),
        "shift_o": ("CTRL", "OUTSHIFT"),
        "dualLine": ("CTRL", "DUALLINE"),
        "poolWinX": ("PDIMS", "WINX"),
        "poolWinY": ("PDIMS", "WINY"),
        "strideX": ("PDIMS", "STRDX"),
        "strideY": ("PDIMS", "STRDY"),
        "topPad": ("PDIMS", "TPAD"),
        "bottomPad": ("PDIMS", "BPAD"),
        "leftPad": ("PDIMS", "LPAD"),
        "rightPad": ("PDIMS", "RPAD"),
        "outbytes_o": ("RNDCTRL", "OBYTES"),
    },
    "ACTIV": {
        "operation": ("CTRL", "TYPE"),
        "inbytes_f": ("CTRL", "FBYTES"),
        "outbytes_o": ("CTRL", "OBYTES"),
        "rounding_o": ("CTRL", "ROUND"),
        "saturation_o": ("CTRL", "SAT"),
        "signedop": ("FUNC", "SIGNEDOP"),
        "bwidth": ("FUNC", "BWIDTH"),
    },
    "STRENG": {
        "dir": ("CTRL", "DIR"),
        "raw": ("CTRL", "RAW"),
        "raw_out": ("CTRL", "RAW_OUT"),
        "noblk": ("CTRL", "NOBLK"),
        "noinc": ("CTRL", "NOINC"),
        "continuous": ("CTRL", "CONT"),
        "align_right": ("CTRL", "LSBMODE"),
        "sync_with_other": ("EVENT", "FRMTRG_EN"),
        "cipher_en": ("ENCR_MSB", "EN"),
        "cacheable": ("CID_CACHE", "CACHEABLE"),
        "cache_allocate": ("CID_CACHE", "ALLOC"),
        "fwidth": ("FSIZE", "WIDTH"),
        "fheight": ("FSIZE", "HEIGHT"),
        "batch_depth": ("DEPTH", "SIZE"),
        "frame_tot_cnt": ("LIMIT", "CNT"),
    },
    "DECUN": {},
}
# The fields of some members have the opposite meaning. In fields of shifts in both directions, 16 means no shift.
_INVERTED = {
    "accumulate": ("CONVACC", "CTRL", "NOSUM"),
    "accumulate_first": ("CONVACC", "CTRL", "NO1SUM"),
}
_SHIFTS = {
    ("CONVACC", "shift_f"): ("DFORMAT", "FSHIFT"),
    ("POOL", "shift_f"): ("CTRL", "FSHIFT"),
    ("ACTIV", "shift_f"): ("CTRL", "FSHIFT"),
    ("ARITH", "shift_x"): ("INSHIFTER", "FSHIFTX"),
    ("ARITH", "shift_y"): ("INSHIFTER", "FSHIFTY"),
}
_NO_SHIFT = 16
_CONSTANTS = {
    **{"AFILT_MODE_NONE": 0, "AFILT_MODE_PIXELDROP": 1, "AFILT_MODE_FRAMEDROP": 2, "AFILT_MODE_FRAMEZERO": 3},
    **{"ARITH_AFFINE": 0, "ARITH_MIN": 1, "ARITH_MAX": 2, "ARITH_MUL": 7, "ARITH_X_AND_Y": 0x0B, "ARITH_X_OR_Y": 0x0F},
    **{"ARITH_NOT_X": 0x13, "ARITH_X_XOR_Y": 0x17, "ARITH_X_EQ_Y": 0x1B, "ARITH_X_LT_Y": 0x1F, "ARITH_X_LE_Y": 0x23},
    **{"ARITH_X_GT_Y": 0x27, "ARITH_X_GE_Y": 0x2B, "ARITH_ABS_X": 0x2F, "ARITH_SIGN_X": 0x33, "ARITH_CLIP": 0x37},
    **{"POOL_MAX": 0, "POOL_MIN": 1, "POOL_AVG": 2, "POOL_GMAX": 8, "POOL_GMIN": 9, "POOL_GAVG": 10},
    **{"ACTIV_RELU": 0, "ACTIV_PRELU": 1, "ACTIV_TRELU": 2, "ACTIV_FUNC": 3},
}


def epochs_of_source(text: str, names: Names) -> Iterator[EpochSettings]:
    """Yield the epochs of a network.c that set units by such a structure.

    Args:
        text: Text of network.c.
        names: Names of units and registers.
    """
    numbers = {unit.name: number for number, unit in names.units.items()}
    end = 0
    for match in _START.finditer(text):
        if match.start() < end:
            continue
        found = text.find("\n}", match.end())
        end = found if found >= 0 else len(text)
        body = _COMMENT.sub("", text[match.end() : end])
        parts = (_STRUCTURE.match(part) for part in body.split(_STRUCTURES)[1:])
        structures = {part[1]: _members(part[2]) for part in parts if part}
        units: dict[str, UnitSettings] = {}
        for kind, index, structure in _CALL.findall(body):
            unit = _settings(_KINDS[kind], index, structures.get(structure, {}), names)
            units[unit.name] = unit
        for kind, index in _ENABLED.findall(body):
            unit = _settings(kind, index, {}, names)
            units.setdefault(unit.name, unit)
        if units:
            ordered = sorted(units.values(), key=lambda unit: numbers.get(unit.name, len(numbers)))
            yield EpochSettings(int(match[1]), tuple(ordered))


def _members(structure: str) -> dict[str, str]:
    """Return a structure's members by name; addr_base is hexadecimal, if a number."""
    base = _BASE.search(structure)
    return dict(_MEMBER.findall(structure)) | ({"addr_base": base[1]} if base else {})


def _settings(kind: str, index: str, members: Mapping[str, str], names: Names) -> UnitSettings:
    is_single = any(unit.name == kind for unit in names.units.values())
    values = {member: value for member, text in members.items() if (value := _number(text)) is not None}
    fields = {_MEMBERS[kind][member]: value for member, value in values.items() if member in _MEMBERS.get(kind, {})}
    for member, value in values.items():
        if member in _INVERTED and _INVERTED[member][0] == kind:
            fields[_INVERTED[member][1:]] = int(not value)
        if (kind, member) in _SHIFTS:
            fields[_SHIFTS[kind, member]] = value + _NO_SHIFT
    if members.get("operation") == "ARITH_NOT_X":
        fields["CTRL", "LOGICALOP"] = 1
    if kind == "STRENG":
        fields |= _lanes(values) | _shape(values) | _place(values, members.get("addr_base"))
    if kind == "CONVACC" and {"fWidth", "batchDepth"} <= values.keys():
        fields["FFORMAT", "WIDTH"] = values["fWidth"] * values["batchDepth"]
    return UnitSettings(kind if is_single else f"{kind}{int(index)}", kind, fields)


def _lanes(values: Mapping[str, int]) -> dict[tuple[str, str], int]:
    """Return the bits of each lane of eight.

    In memory, further bits are gaps between fields or between bytes.
    """
    if not {"nbits_in", "nbits_out"} <= values.keys():
        return {}
    to_memory = values.get("dir", 0) != 0
    memory, stream = (values[name] for name in (("nbits_out", "nbits_in") if to_memory else ("nbits_in", "nbits_out")))
    gap = "FGAP" if values.get("mem_lsb") else "BGAP"
    lanes = {("CTRL", f"SIZE{lane}"): min(8, max(0, min(memory, stream) - 8 * lane)) for lane in range(3)}
    return lanes | {("STRD", gap): max(0, memory - stream)}


def _shape(values: Mapping[str, int]) -> dict[tuple[str, str], int]:
    """Return the shape of a frame, and a limit if the number of frames is given.

    A raw frame is a number of elements.
    """
    fields: dict[tuple[str, str], int] = {}
    if values.get("frame_tot_cnt"):
        fields["LIMITEN", "FRAMELIMIT"] = 1
    if values.get("raw") and {"offset_start", "offset_end", "nbits_in"} <= values.keys():
        elements = 8 * max(0, values["offset_end"] - values["offset_start"]) // max(8, values["nbits_in"])
        fields |= {("FSIZE", "WIDTH"): elements & 0xFFFF, ("FSIZE", "HEIGHT"): elements >> 16}
    return fields


def _place(values: Mapping[str, int], base: str | None) -> dict[tuple[str, str], int]:
    """Return the first address of an engine, and the last byte that it may fetch."""
    if base is None or "offset_start" not in values:
        return {}
    fields = {("ADDR", "REG"): int(base, 16) + values["offset_start"]}
    if values.get("offset_limit"):
        fields |= {("LIMITEN", "ADDRLIMIT"): 1, ("LIMITADDR", "REG"): int(base, 16) + values["offset_limit"] - 1}
    return fields


def _number(text: str) -> int | None:
    """Return a number or a known constant of ST's runtime, None for other text."""
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    return int(text) if re.fullmatch(r"-?[0-9]{1,9}", text) else None
