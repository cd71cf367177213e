"""Operators over the rows of the last dimension."""

from __future__ import annotations

from n6build.compile.reference.kernel_call import Argument
from n6build.compile.reference.operands import Operands


def row_arguments(operands: Operands) -> dict[str, Argument]:
    """Return the arguments for the members input, output, rows and depth."""
    depth = operands.first.shape[-1]
    rows = operands.first.elements // depth
    return {"input": operands.first, "output": operands.output, "rows": rows, "depth": depth}
