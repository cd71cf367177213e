"""The page about operators of the reference backend, a row for each operator."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from types import ModuleType

from n6build.base.members import modules_matching
from n6build.base.paths import LIBRARY
from n6build.compile.reference.operator_kind import OperatorKind

from reference_docs.markdown import code, page, sentence, table, text

_HEAD = """\
What the reference backend compiles: every epoch runs on the Cortex-M55, with the bits of LiteRT 2.3.0's reference interpreter.
Models of uint8 are computed as int8, 128 less. Anything else is refused with the names of all operators in question;
[ST's compiler](../st-edge-ai.md) takes more. Batch is 1. What differs from that interpreter: [how sure](../how-sure.md)."""

# An entry of a section, whose further lines are indented.
_ENTRY = re.compile(r"^ {4}(\S[^:\n]*): (.*(?:\n {8}.*)*)", re.MULTILINE)
# A formula does not begin with a capital letter.
_FORMULA = re.compile(r"[a-z]\W")

_ONNX = """\
## ONNX

Nodes of [ONNX models](../onnx.md), with and without quantised activations:"""


def operators_page() -> str:
    """Return the page with operators by their names in the schema of .tflite files."""
    modules = modules_matching("n6build.compile.reference.operators.*", {"n6build": str(LIBRARY)})
    rows = [row for name in modules for row in _rows(importlib.import_module(name))]
    of_tflite = table(("operator", "types of the input", "what is computed"), sorted(rows))
    return page("Operators", _HEAD, of_tflite, _ONNX, table(("nodes", "what they are"), _families()))


def _families() -> list[tuple[str, str]]:
    """Return the rows of ONNX, one for each module of nodes."""
    rows = []
    for name in sorted(modules_matching("n6build.compile.reference.onnx.nodes.*", {"n6build": str(LIBRARY)})):
        module = importlib.import_module(name)
        said = " ".join((inspect.getdoc(module) or "").split())
        nodes = sorted({*module.FAMILY.translate, *module.FAMILY.in_float32})
        rows.append((", ".join(map(code, nodes)), text(said)))
    return rows


def _rows(module: ModuleType) -> Iterator[tuple[str, str, str]]:
    """Yield the row of each operator of a module."""
    kinds: tuple[OperatorKind, ...] = module.OPERATORS
    said = _said(inspect.getdoc(module) or "")
    assert set(said) == {kind.name for kind in kinds}, f"{module.__name__}: the docstring has {sorted(said)}"
    for kind in kinds:
        what = said[kind.name]
        # An operator for another type has the name of the operator and that type.
        yield (
            code(kind.name.partition(" ")[0]),
            ", ".join(kind.rule.types_of(kind.viewed)),
            text(what if _FORMULA.match(what) else sentence(what)),
        )


def _said(docstring: str) -> dict[str, str]:
    """Return the text about each operator, by the operator's name.

    It is in the section `Operators:`. The docstring of a single operator begins with its name.
    """
    _, found, section = docstring.partition("\nOperators:\n")
    entries = _ENTRY.findall(section) if found else [re.split(r":? ", docstring, maxsplit=1)]
    return {name: " ".join(what.split()) for name, what in entries}
