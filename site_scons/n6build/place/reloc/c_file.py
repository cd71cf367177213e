"""Relocatable models as C arrays, for firmware with the model in its own image."""

from __future__ import annotations

_BYTES_A_LINE = 16
# ST recommends this alignment for a model in memory.
_ALIGNMENT = 32


def c_array(data: bytes, name: str) -> str:
    """Return a C source with a model as an array. name: C identifier of the array."""
    lines = [
        "    " + ", ".join(f"0x{byte:02x}" for byte in data[start : start + _BYTES_A_LINE]) + ",\n"
        for start in range(0, len(data), _BYTES_A_LINE)
    ]
    head = f"/* Generated: relocatable model {name}, {len(data)} bytes. */\n#include <stdint.h>\n\n"
    declared = f"const uint8_t {name}[{len(data)}] __attribute__((aligned({_ALIGNMENT}))) = {{\n"
    return head + declared + "".join(lines) + "};\n"
