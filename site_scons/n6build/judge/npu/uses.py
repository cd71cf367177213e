"""The parts of the NPU that a network uses, and those that are not modelled.

The virtual NPU's limits are found before anything runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from n6build.base.errors import N6Error
from n6build.base.files import read_at_most
from n6build.compile.artifacts.network_c import MAX_BYTES, parse_network_c
from n6build.describe.hardware.npu import Npu, NpuRegister
from n6build.judge.npu.blobs import blobs_of_network
from n6build.judge.npu.names import names_of
from n6build.judge.npu.settings import EpochSettings, UnitSettings, epochs_of_blob
from n6build.judge.npu.source_settings import epochs_of_source

# These fields control a unit; they do not describe its work.
_DRIVEN = {"EN", "CLR", "CONFCLR", "RUNNING"}
# A field with more values is a counter or an address.
_MOST_VALUES = 12


@dataclass(frozen=True)
class _Limited:
    """A setting that is modelled only together with some values of other fields.

    Attributes:
        kind: Kind of unit.
        setting: Register and field.
        value: Value of the field.
        needs: Modelled values of other fields of the unit.
    """

    kind: str
    setting: tuple[str, str]
    value: int
    needs: Mapping[tuple[str, str], tuple[int, ...]]


_LOWEST_BYTE = 0xFF80  # -128 in 16 bits
# The model in C refuses the same combinations (n6virt_npu_convacc.c, n6virt_npu_vector.c). During a run it also refuses what
# depends on constants: a clip with descending limits, and unsigned kernel values above 127.
_LIMITED = (
    _Limited("CONVACC", ("CTRL", "DEEPMODE"), 1, {("KFORMAT", "WIDTH"): (1,), ("KFORMAT", "HEIGHT"): (1,)}),
    _Limited("CONVACC", ("CTRL", "FSTAT"), 0, {("SAMPLE", "FSTATCNT"): (0,)}),
    _Limited("CONVACC", ("CTRL", "FSTAT"), 1, {("CTRL", "DEEPMODE"): (0,), ("CTRL", "NOSUM"): (1,)}),
    _Limited(
        "ARITH",
        ("CTRL", "OP"),
        0x37,
        {("CTRL", field): (0,) for field in ("DUALIN", "COEFFA", "COEFFB", "COEFFC", "COMBINEBC", "CLIPOUT")}
        | {("SHIFT", field): (0,) for field in ("AX", "BY", "C", "RES")},
    ),
    _Limited(
        "ACTIV",
        ("CTRL", "TYPE"),
        2,
        {
            ("ACTIVPARAM", "PARAM"): (_LOWEST_BYTE,),
            ("ACTIVPARAM2", "PARAM2"): (_LOWEST_BYTE,),
            ("CTRL", "FBYTES"): (1,),
            ("CTRL", "OBYTES"): (1,),
            ("CTRL", "FSHIFT"): (0, 16),
            ("FUNC", "SIGNEDOP"): (1,),
            ("FUNC", "OUTSHIFT"): (0,),
            ("FSUB", "FSUB"): (0,),
        },
    ),
)
# This is enough for a reader; a damaged blob may use any number of settings.
_MOST_UNMODELLED = 1000


@dataclass(frozen=True)
class Unmodelled:
    """A setting that the virtual NPU does not model.

    Attributes:
        epoch: ST's number of the epoch.
        unit: Name of the unit.
        register: Name of the register; empty if the whole unit is not modelled.
        field: Name of the field; empty if the whole unit is not modelled.
        value: Value of the field.
        modelled: Values that are modelled.
    """

    epoch: int
    unit: str
    register: str = ""
    field: str = ""
    value: int = 0
    modelled: tuple[int, ...] = ()

    @property
    def what(self) -> str:
        """Return the setting as text, such as 'ARITH1 CTRL OP is 5; modelled: 0, 1'."""
        if not self.register:
            return f"{self.unit} is not modelled"
        values = ", ".join(map(str, self.modelled))
        return f"{self.unit} {self.register} {self.field} is {self.value}; modelled: {values}"


@dataclass(frozen=True)
class FieldUse:
    """The values of a field that a network uses.

    Attributes:
        register: Name of the register.
        field: Name of the field.
        values: Sorted values; if there are more than a few, the smallest and the largest.
        count: Number of different values.
    """

    register: str
    field: str
    values: tuple[int, ...]
    count: int


@dataclass(frozen=True)
class KindUse:
    """The use of one kind of unit.

    Attributes:
        kind: Kind of unit.
        units: Names of the units that are used.
        epochs: Number of epochs that use any of them.
        fields: Fields with a value other than 0 in at least one epoch, in the order of the chip's
            description.
    """

    kind: str
    units: tuple[str, ...]
    epochs: int
    fields: tuple[FieldUse, ...]


@dataclass(frozen=True)
class NpuUse:
    """The parts of the NPU that a network uses.

    Attributes:
        epochs: Number of epochs of the NPU.
        by_blob: The epochs are in blobs of the epoch controller, so that every register is known;
            otherwise only the structures in network.c are known.
        kinds: Kinds of units.
        unmodelled: Settings that the virtual NPU does not model.
        containers: Versions of the containers of its blobs, such as '0xECBF0030 of Core 2.2'.
    """

    epochs: int
    by_blob: bool
    kinds: tuple[KindUse, ...]
    unmodelled: tuple[Unmodelled, ...]
    containers: tuple[str, ...] = ()


def npu_use(source: Path, npu: Npu) -> NpuUse:
    """Return the parts of the NPU that a network uses.

    Args:
        source: network.c, with the header of its blobs beside it if it has any, or a relocatable
            model, of which only blobs are read.
        npu: The chip's NPU.

    Raises:
        N6Error: N6-FILE-00x, N6-NETC-00x, N6-NPU-00x.
    """
    is_c = source.suffix == ".c"
    text = read_at_most(source, MAX_BYTES).decode("utf-8", "replace") if is_c else ""
    names = names_of(npu)
    blobs = blobs_of_network(source, parse_network_c(text, source.name).ecblobs_header if is_c else None)
    if blobs:
        use = summarised((epoch for blob in blobs for epoch in epochs_of_blob(blob, names)), npu, by_blob=True)
        return replace(use, containers=tuple(sorted({blob.container.title for blob in blobs if blob.container})))
    return summarised(epochs_of_source(text, names), npu, by_blob=False)


def summarised(epochs: Iterable[EpochSettings], npu: Npu, *, by_blob: bool) -> NpuUse:
    """Return the parts of the NPU that these epochs use together."""
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
    """Yield the settings of a unit for which the virtual NPU would end a run."""
    if not npu.units[unit.kind].modelled:
        yield Unmodelled(epoch, unit.name)
        return
    for register, description in npu.registers[unit.kind].items():
        for field, known in _limits(description):
            value = unit.fields.get((register, field))
            if value is not None and value not in known:
                yield Unmodelled(epoch, unit.name, register, field, value, known)
    for limited in _LIMITED:
        if limited.kind == unit.kind and unit.fields.get(limited.setting) == limited.value:
            for (register, field), known in limited.needs.items():
                if (value := unit.fields.get((register, field), known[0])) not in known:
                    yield Unmodelled(epoch, unit.name, register, field, value, known)
    if unit.fields.get(("CTRL", "FSTAT")) and unit.fields.get(("SAMPLE", "FSTATCNT")) == 0:
        yield Unmodelled(epoch, unit.name, "SAMPLE", "FSTATCNT", 0, (1, 2))
    if unit.kind == "STRSWITCH":
        yield from _two_sources(epoch, unit)


def _two_sources(epoch: int, switch: UnitSettings) -> Iterator[Unmodelled]:
    """Yield destinations that take frames in turns from two different sources."""
    fields = switch.fields
    for register in dict.fromkeys(name for name, _ in fields if name.startswith("DST")):
        takes_turns = fields[register, "FNR0"] or fields[register, "FNR1"]
        first, second = fields[register, "LINK0"], fields[register, "LINK1"]
        if fields[register, "EN0"] and fields[register, "EN1"] and takes_turns and first != second:
            yield Unmodelled(epoch, switch.name, register, "LINK1", second, (first,))


def modelled_lines(npu: Npu) -> list[str]:
    """Return the limits of the virtual NPU as text.

    There is a line for each kind of unit, then the units that it does not model.
    """
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
    """Return the fields with unmodelled values, and their modelled values."""
    return [(field, known) for field in register.fields if (known := register.known_values(field)) is not None]


def require_modelled(use: NpuUse, model: str) -> None:
    """Check that the virtual NPU models everything that a network uses.

    Raises:
        N6Error: N6-NPU-004 for a setting that it does not model.
    """
    if use.unmodelled:
        first, others = use.unmodelled[0], len(use.unmodelled) - 1
        more = f", and {others} more" if others else ""
        what = f"the network uses features that the virtual NPU does not model: {first.what}{more}"
        hint = "run the network on a real board; scons report and --json list all of these features"
        details = [f"epoch {each.epoch}: {each.what}" for each in use.unmodelled]
        raise N6Error("N6-NPU-004", what, where=f"{model}: epoch {first.epoch}", hint=hint, details=details)
