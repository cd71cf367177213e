"""What a compiled network uses of the NPU, and what of that the virtual NPU does not model, before anything runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from n6build.base.errors import N6Error
from n6build.base.files import read_at_most
from n6build.hardware.npu import Npu, NpuRegister
from n6build.network.artifacts.network_c import MAX_BYTES, parse_network_c
from n6build.npu.blobs import blobs_of_network
from n6build.npu.names import names_of
from n6build.npu.settings import EpochSettings, UnitSettings, epochs_of_blob
from n6build.npu.source_settings import epochs_of_source

# Fields that say how a unit is driven, not what it does.
_DRIVEN = {"EN", "CLR", "CONFCLR", "RUNNING"}
# Beyond that, a field counts or addresses something.
_MOST_VALUES = 12
# Enough for a person; a damaged blob may ask for anything.
_MOST_UNMODELLED = 1000


@dataclass(frozen=True)
class Unmodelled:
    """epoch: ST's number. register, field: empty if the whole unit is not modelled. modelled: values that are."""

    epoch: int
    unit: str
    register: str = ""
    field: str = ""
    value: int = 0
    modelled: tuple[int, ...] = ()

    @property
    def what(self) -> str:
        """'ARITH1 CTRL OP is 5; modelled: 0, 1'."""
        if not self.register:
            return f"{self.unit} is used, which is not modelled"
        values = ", ".join(map(str, self.modelled))
        return f"{self.unit} {self.register} {self.field} is {self.value}; modelled: {values}"


@dataclass(frozen=True)
class FieldUse:
    """values: that it has, sorted; of more than a few, the smallest and the largest, and `count` says how many."""

    register: str
    field: str
    values: tuple[int, ...]
    count: int


@dataclass(frozen=True)
class KindUse:
    """Units of one kind. units: names of those that are used. epochs: number of those that use any. fields: other than 0 in any
    epoch, in the order of the chip's description."""

    kind: str
    units: tuple[str, ...]
    epochs: int
    fields: tuple[FieldUse, ...]


@dataclass(frozen=True)
class NpuUse:
    """epochs: of the NPU. by_blob: they are in blobs of the epoch controller, so that every register is known; else only what
    the structures in network.c tell."""

    epochs: int
    by_blob: bool
    kinds: tuple[KindUse, ...]
    unmodelled: tuple[Unmodelled, ...]


def npu_use(source: Path, npu: Npu) -> NpuUse:
    """source: network.c, with the header of its blobs beside it if it has any, or a relocatable model, of which only blobs tell.
    Raises N6-FILE-00x, N6-NETC-00x, N6-NPU-00x."""
    is_c = source.suffix == ".c"
    text = read_at_most(source, MAX_BYTES).decode("utf-8", "replace") if is_c else ""
    names = names_of(npu)
    blobs = blobs_of_network(source, parse_network_c(text, source.name).ecblobs_header if is_c else None)
    if blobs:
        return summarised((epoch for blob in blobs for epoch in epochs_of_blob(blob, names)), npu, by_blob=True)
    return summarised(epochs_of_source(text, names), npu, by_blob=False)


def summarised(epochs: Iterable[EpochSettings], npu: Npu, *, by_blob: bool) -> NpuUse:
    """What these epochs use together."""
    count = 0
    units: dict[str, set[str]] = {}
    in_epochs: dict[str, int] = {}
    values: dict[tuple[str, str, str], set[int]] = {}
    missing: list[Unmodelled] = []
    for epoch in epochs:
        count += 1
        for kind in {unit.kind for unit in epoch.units}:
            in_epochs[kind] = in_epochs.get(kind, 0) + 1
        for unit in epoch.units:
            units.setdefault(unit.kind, set()).add(unit.name)
            for (register, field), value in unit.fields.items():
                values.setdefault((unit.kind, register, field), set()).add(value)
            if len(missing) < _MOST_UNMODELLED:
                missing += unmodelled_of(epoch.number, unit, npu)
    kinds = tuple(
        KindUse(kind, tuple(sorted(units[kind])), in_epochs[kind], tuple(_fields(kind, values, npu)))
        for kind in npu.units
        if kind in units
    )
    return NpuUse(count, by_blob, kinds, tuple(dict.fromkeys(missing)))


def _fields(kind: str, values: Mapping[tuple[str, str, str], set[int]], npu: Npu) -> Iterator[FieldUse]:
    for register, description in npu.registers[kind].items():
        for field in description.fields:
            found = sorted(values.get((kind, register, field), ()))
            if any(found) and field not in _DRIVEN:
                shown = found if len(found) <= _MOST_VALUES else [found[0], found[-1]]
                yield FieldUse(register, field, tuple(shown), len(found))


def unmodelled_of(epoch: int, unit: UnitSettings, npu: Npu) -> Iterator[Unmodelled]:
    """What the virtual NPU would end a run for, as far as one unit's fields tell it."""
    if not npu.units[unit.kind].modelled:
        yield Unmodelled(epoch, unit.name)
        return
    for register, description in npu.registers[unit.kind].items():
        for field, known in _limits(description):
            value = unit.fields.get((register, field))
            if value is not None and value not in known:
                yield Unmodelled(epoch, unit.name, register, field, value, known)
    if unit.fields.get(("CTRL", "DEEPMODE")):
        for side in ("WIDTH", "HEIGHT"):
            if (value := unit.fields.get(("KFORMAT", side), 1)) != 1:
                yield Unmodelled(epoch, unit.name, "KFORMAT", side, value, (1,))
    if unit.kind == "STRSWITCH":
        yield from _two_sources(epoch, unit)


def _two_sources(epoch: int, switch: UnitSettings) -> Iterator[Unmodelled]:
    """Destinations whose contexts take frames in turns, from one source and from another."""
    fields = switch.fields
    for register in dict.fromkeys(name for name, _ in fields if name.startswith("DST")):
        takes_turns = fields[register, "FNR0"] or fields[register, "FNR1"]
        first, second = fields[register, "LINK0"], fields[register, "LINK1"]
        if fields[register, "EN0"] and fields[register, "EN1"] and takes_turns and first != second:
            yield Unmodelled(epoch, switch.name, register, "LINK1", second, (first,))


def modelled_lines(npu: Npu) -> list[str]:
    """What the virtual NPU does not model, for people: a line for each kind of units, then the units that it does not model."""
    lines = []
    for kind in (kind for kind, units in npu.units.items() if units.modelled):
        registers = npu.registers[kind].items()
        zeros = {
            name: [field for field, _ in _limits(each) if each.known_values(field) == (0,)] for name, each in registers
        }
        without = [f"{name} {' '.join(fields)}" for name, fields in zeros.items() if fields]
        only = [
            f"{name} {field} {'/'.join(map(str, values))}"
            for name, each in registers
            for field, values in _limits(each)
            if field not in zeros[name]
        ]
        parts = [f"without {', '.join(without)}" if without else "", f"only {', '.join(only)}" if only else ""]
        if any(parts):
            lines.append(f"{kind}: {'; '.join(part for part in parts if part)}")
    missing = [kind for kind, units in npu.units.items() if not units.modelled]
    return [*lines, f"not at all: {', '.join(missing)}"] if missing else lines


def _limits(register: NpuRegister) -> list[tuple[str, tuple[int, ...]]]:
    """Fields of which not every value is modelled, with those that are."""
    return [(field, known) for field in register.fields if (known := register.known_values(field)) is not None]


def require_modelled(use: NpuUse, model: str) -> None:
    """Raises N6-NPU-004 for what the virtual NPU does not model."""
    if use.unmodelled:
        first, others = use.unmodelled[0], len(use.unmodelled) - 1
        more = f", and {others} more" if others else ""
        what = f"the virtual NPU does not model what the network uses: {first.what}{more}"
        hint = "a real board runs it; the report lists all of them (scons report)"
        raise N6Error("N6-NPU-004", what, where=f"{model}: epoch {first.epoch}", hint=hint)
