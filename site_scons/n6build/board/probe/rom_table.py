"""The ROM table behind AP1, and the registers that identify each component."""

from __future__ import annotations

from n6build.describe.hardware.debug_port import Component, DebugPort

PAGE = 0x1000
# JEP106 code of Arm with its continuation code, and the part number of a ROM table.
_ARM, _ARM_CONTINUATION, _ROM_PART = 0x3B, 4, 0x4D0
_ROM_CLASS, _DEBUG_CLASS = 1, 9
_PRESENT_32_BITS = 3
_LAST_ENTRY, _FIRST_IDENTITY = 0xF00, 0xFBC
_DEVARCH, _DEVTYPE, _PIDR4, _PIDR0, _CIDR0 = 0xFBC, 0xFCC, 0xFD0, 0xFE0, 0xFF0


class RomTable:
    """The words of the ROM table and of all registers of identification."""

    def __init__(self, port: DebugPort) -> None:
        self._base = port.access_ports[1].rom_table & ~(PAGE - 1)
        self._components = {component.base: component for component in port.components.values()}

    def word(self, address: int) -> int | None:
        """Return the word at an address, or None for other registers."""
        base, offset = address & ~(PAGE - 1), address & (PAGE - 1)
        component = self._components.get(base)
        if base == self._base and offset <= _LAST_ENTRY:
            return self._entry(offset // 4)
        if offset >= _FIRST_IDENTITY and (component or base == self._base):
            return _identity(component, offset)
        return None

    def _entry(self, index: int) -> int:
        bases = sorted(self._components)
        return (bases[index] - self._base) & 0xFFFF_F000 | _PRESENT_32_BITS if index < len(bases) else 0


def _identity(component: Component | None, offset: int) -> int:
    if component and offset == _DEVARCH:
        return component.architecture
    if offset >= _CIDR0:
        kind = _DEBUG_CLASS if component else _ROM_CLASS
        return (0xB105_000D | kind << 12) >> 8 * ((offset - _CIDR0) // 4) & 0xFF
    part = component.part if component else _ROM_PART
    # PIDR0 to PIDR2: part, then the maker's code, of which JEDEC assigns the use.
    words = (part & 0xFF, (_ARM & 0xF) << 4 | part >> 8, 1 << 3 | _ARM >> 4, 0)
    if _PIDR0 <= offset < _CIDR0:
        return words[(offset - _PIDR0) // 4]
    return _ARM_CONTINUATION if offset == _PIDR4 else 0
