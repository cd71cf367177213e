"""The registers of the NPU as a C header for its model.

The virtual board and the model of the NPU for the host include it.
"""

from __future__ import annotations

from n6build.base.paths import MACHINE_FILES
from n6build.base.templates import render
from n6build.describe.formats.npu_blob import CONTAINERS, MAGIC
from n6build.describe.hardware.soc import Soc, field_bits

TEMPLATE = MACHINE_FILES / "n6npu_registers.h.j2"


def npu_header(soc: Soc) -> str:
    """Return the text of n6npu_registers.h.

    It has the registers and fields of the NPU's units, the fields that are not modelled, and the
    first words of blobs.
    """
    unmodelled = [
        (kind, name, register.offset, field, _field_span(register.fields[field]))
        for kind, registers in soc.npu.registers.items()
        for name, register in registers.items()
        for field in register.unmodelled
    ]
    blobs = {"blob_magic": MAGIC, "containers": CONTAINERS}
    return render(TEMPLATE, {"soc": soc, "unmodelled": unmodelled, "field_span": _field_span, **blobs})


def _field_span(bits: int | tuple[int, ...]) -> tuple[int, int]:
    """Return lowest bit and width of a field."""
    low, mask = field_bits(bits)
    return low, (mask >> low).bit_length()
