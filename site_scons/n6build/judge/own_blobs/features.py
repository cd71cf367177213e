"""Comparable features of an epoch: kinds of its units and links, and their sizes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from n6build.judge.npu.names import Names
from n6build.judge.npu.settings import EpochSettings, UnitSettings

_OPERATIONS = {0: "affine", 1: "min", 2: "max", 7: "mul"}
_POOLINGS = {0: "max", 1: "min", 2: "mean", 8: "global_max", 9: "global_min", 10: "global_mean"}
_EVERYTHING = 256
_GROUP = 16

Kind = Mapping[str, int | str | tuple[int, ...]]


@dataclass(frozen=True)
class Feature:
    """A unit or a link of an epoch.

    Attributes:
        unit: CONVACC, LINK, EPOCH and so on.
        kind: text that must have been seen as it is.
        sizes: numbers that must be within those seen of that kind.
    """

    unit: str
    kind: str
    sizes: Mapping[str, int]


@dataclass(frozen=True)
class _Context:
    """The frames that a port takes from a source, or drops."""

    source: str
    taken: int
    frames: int


def features_of(epoch: EpochSettings, names: Names) -> list[Feature]:
    """Return the features of all units that compute or move data."""
    units = [unit for unit in epoch.units if unit.kind in _KINDS]
    links = _links(epoch, names)
    found = [_KINDS[unit.kind](unit, links) for unit in units]
    found += [_link(names.destinations[place], contexts) for place, contexts in links.items()]
    counted = Counter(unit.kind for unit in units)
    return [*found, Feature("EPOCH", "", dict(sorted(counted.items())))]


def as_text(kind: Kind) -> str:
    """Return a kind as text, without values of 0."""
    return " ".join(f"{name}={_value(value)}" for name, value in sorted(kind.items()) if _is_told(value))


def _is_told(value: int | str | tuple[int, ...]) -> bool:
    return any(value) if isinstance(value, tuple) else bool(value)


def _value(value: int | str | tuple[int, ...]) -> str:
    return (
        "x".join(map(str, value)) if isinstance(value, tuple) else str(int(value) if isinstance(value, bool) else value)
    )


Links = Mapping[int, list[_Context]]


def _links(epoch: EpochSettings, names: Names) -> Links:
    """Return the contexts of each link, by number of the destination."""
    switch = next((unit for unit in epoch.units if unit.kind == "STRSWITCH"), None)
    found: dict[int, list[_Context]] = {}
    for place in range(len(names.destinations)) if switch else ():
        register = f"DST{place}"
        field = {name: switch.fields.get((register, name), 0) for name in _DST} if switch else {}
        if not any(field.values()):
            continue
        first = _Context(_source(names, field["LINK0"]), field["EN0"], field["FNR0"])
        second = _Context(_source(names, field["LINK1"]), field["EN1"], field["FNR1"])
        two = field["FNR0"] or field["FNR1"] or field["EN1"]
        found[place] = [first, second] if two else [first]
    return found


def _source(names: Names, number: int) -> str:
    """Return the name of a source.

    The register has room for more numbers than there are sources. A damaged blob may contain one
    that was never seen.
    """
    return names.sources[number] if number < len(names.sources) else f"none{number}"


_DST = ("EN0", "LINK0", "FNR0", "EN1", "LINK1", "TICK", "FNR1")


def _unit_of(port: str) -> str:
    """Return the unit of a port, such as 'CONVACC2' of 'CONVACC2.out'."""
    return port.partition(".")[0]


def _kind_of(port: str) -> str:
    return _unit_of(port).rstrip("0123456789")


def _link(destination: str, contexts: list[_Context]) -> Feature:
    first, last = contexts[0], contexts[-1]
    kind: dict[str, int | str | tuple[int, ...]] = {
        "from": _kind_of(first.source),
        "to": destination.replace(_unit_of(destination), _kind_of(destination)),
        "two": int(len(contexts) > 1),
        "other": int(first.source != last.source),
        "keep": tuple(context.taken for context in contexts),
    }
    frames = first.frames + last.frames if len(contexts) > 1 else 0
    return Feature("LINK", as_text(kind), {"frames": frames})


def _convolution(unit: UnitSettings, links: Links) -> Feature:
    of = unit.value
    group = of("KFORMAT", "BTCDEPTH") or _EVERYTHING
    kernels = of("KFORMAT", "NR") or _EVERYTHING
    height, width = of("KFORMAT", "HEIGHT"), of("KFORMAT", "WIDTH")
    filtered = int(bool(of("CTRL", "AFILTMODE")))
    index = int(unit.name.removeprefix(unit.kind))
    # The stream switch has ten ports for engines, then three for each unit: the first for features, the last for sums.
    features, sums = links.get(10 + 3 * index, []), links.get(12 + 3 * index)
    source = "none" if sums is None else _unit_of(sums[0].source)
    kind: dict[str, int | str | tuple[int, ...]] = {
        "simd": of("CTRL", "SIMD"),
        "deep": of("CTRL", "DEEPMODE"),
        "dss2": of("CTRL", "DSS2MODE"),
        "kset": of("CTRL", "KSETEN"),
        "in": of("DFORMAT", "FBYTES"),
        "unsigned": of("CTRL", "FUNSIGNED"),
        "out": of("DFORMAT", "OBYTES"),
        "raw": of("DFORMAT", "RAW"),
        "sums": 1 - of("CTRL", "NOSUM"),
        "first": 1 - of("CTRL", "NO1SUM"),
        "generated": of("CTRL", "GEN1SUM"),
        "filtered": filtered,
        "source": "self" if source == unit.name else source.rstrip("0123456789"),
        "shared": int(of("KFILT", "TOT") > 1),
        "kernel": (height, width),
        "stride": (of("SAMPLE", "VSTRD"), of("SAMPLE", "HSTRD")),
        "rounding": (of("DFORMAT", "ROUND"), of("DFORMAT", "ORNDMODE") & 1, of("DFORMAT", "SAT")),
        "fill": int(of("ZFBIAS", "ZFBIAS") != 0),
        "contexts": len(features),
    }
    columns = of("FFORMAT", "WIDTH") // group
    return Feature(
        unit.kind,
        as_text(kind),
        {
            "group": group,
            "kernels": kernels,
            "line": columns * group,
            "set": kernels * group * height * width,
            "width": columns,
            "height": of("FFORMAT", "HEIGHT"),
            "left": of("SAMPLE", "LPAD") + of("ZFRAME", "LEFT") // group,
            "right": of("SAMPLE", "RPAD") + of("ZFRAME", "RIGHT") // group,
            "top": of("SAMPLE", "TPAD") + of("ZFRAME", "TOP"),
            "bottom": of("SAMPLE", "BPAD") + of("ZFRAME", "BOTTOM"),
            "shift": of("DFORMAT", "OUTSHIFT"),
            "sums_shift": of("DFORMAT", "INSHIFT"),
            "filter": of("AFILT", "TOT") if filtered else 0,
        },
    )


def _arithmetic(unit: UnitSettings, _: Links) -> Feature:
    of = unit.value
    dual = of("CTRL", "DUALIN")
    inputs = (of("INSHIFTER", "FBYTESX"), of("INSHIFTER", "FBYTESY")) if dual else (of("INSHIFTER", "FBYTESX"),)
    kind: dict[str, int | str | tuple[int, ...]] = {
        "operation": _OPERATIONS.get(of("CTRL", "OP"), str(of("CTRL", "OP"))),
        "dual": dual,
        "combined": of("CTRL", "COMBINEBC"),
        "clip": of("CTRL", "CLIPOUT"),
        "relu": of("CTRL", "ORNDMODE") >> 1,
        "by_channel": tuple(of("CTRL", f"COEFF{which}") for which in "ABC"),
        "rounding": (of("CTRL", "ROUND"), of("CTRL", "ORNDMODE") & 1),
        "saturates": of("CTRL", "SAT"),
        "in": inputs,
        "out": of("CTRL", "OBYTES"),
        "ax": int(of("SHIFT", "AX") > 0),
        "by": int(of("SHIFT", "BY") > 0 and dual > 0),
        "c": int(of("SHIFT", "C") > 0),
    }
    group = of("RSTCNT1", "RSTCNT") + 1 if of("CTRL", "CNT1") else 1
    return Feature(
        unit.kind, as_text(kind), {"shift": of("SHIFT", "RES"), "truncated": of("SHIFT", "AX"), "group": group}
    )


def _pooling(unit: UnitSettings, _: Links) -> Feature:
    of = unit.value
    group = of("PDIMS", "BSIZE") or _GROUP
    kind: dict[str, int | str | tuple[int, ...]] = {
        "operation": _POOLINGS.get(of("CTRL", "TYPE"), str(of("CTRL", "TYPE"))),
        "window": (of("PDIMS", "WINY"), of("PDIMS", "WINX")),
        "stride": (of("PDIMS", "STRDY"), of("PDIMS", "STRDX")),
        "in": of("CTRL", "FBYTES"),
        "out": of("RNDCTRL", "OBYTES"),
        "crop": of("CTRL", "CROPEN"),
        "pads": tuple(of("PDIMS", name) for name in ("TPAD", "BPAD", "LPAD", "RPAD")),
    }
    width = of("FDIMS", "FEATX") // group
    sizes = {"group": group, "width": width, "height": of("FDIMS", "FEATY"), "line": width * group}
    return Feature(unit.kind, as_text(kind), {**sizes, "shift": of("CTRL", "OUTSHIFT")})


def _engine(unit: UnitSettings, _: Links) -> Feature:
    of = unit.value
    raw, right = of("CTRL", "RAW"), of("CTRL", "LSBMODE")
    pixel = of("DEPTH", "OFFSET") | of("LIMITEN", "DOFF_MSB") << 16
    line = of("STRD", "LOFF") | of("CID_CACHE", "LOFF_MSB") << 16
    kind: dict[str, int | str | tuple[int, ...]] = {
        "writes": of("CTRL", "DIR"),
        "row": raw,
        "bytewise": of("CTRL", "RAW_OUT"),
        "goes_on": of("CTRL", "CONT"),
        "right": right,
        "signed": of("CTRL", "SIGNEXT") if right else 0,
        "lanes": tuple(of("CTRL", f"SIZE{lane}") for lane in range(3)),
        "waits": of("EVENT", "FRMTRG_EN"),
        "repeat": min(of("FRAME_RPT", "REG"), 2),
        "gaps": int(not raw and line != of("FSIZE", "WIDTH") * pixel),
    }
    depth = 0 if raw else of("DEPTH", "SIZE")
    sizes = {"frames": of("LIMIT", "CNT"), "repeated": of("FRAME_RPT", "REG"), "depth": depth}
    return Feature(unit.kind, as_text(kind), sizes)


def _table(unit: UnitSettings, _: Links) -> Feature:
    return Feature(unit.kind, "", {})


_KINDS = {"CONVACC": _convolution, "ARITH": _arithmetic, "POOL": _pooling, "STRENG": _engine, "ACTIV": _table}


def control_words(epoch: EpochSettings, names: Names) -> Iterator[tuple[str, str, int]]:
    """Yield (kind of unit, register, value) of every register of units that work.

    These are the units that compute or move data.
    """
    registers = {(kind, at.name): at.register for (kind, _), at in names.registers.items()}
    for unit in epoch.units:
        if unit.kind not in _KINDS:
            continue
        words: dict[str, int] = {}
        for (register, field), value in unit.fields.items():
            bits = registers[unit.kind, register].fields[field]
            words[register] = words.get(register, 0) | value << (bits if isinstance(bits, int) else bits[0])
        yield from ((unit.kind, register, word) for register, word in words.items())
