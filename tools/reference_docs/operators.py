"""The page about operators of the reference backend, a row for each module."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path

from n6build.base.members import modules_matching
from n6build.base.paths import LIBRARY
from n6build.compile.reference.operator_kind import OperatorKind

from reference_docs.markdown import code, page, sentence, table, text

_HEAD = """\
What the reference backend compiles: every epoch runs on the Cortex-M55, with the bits of LiteRT 2.3.0's reference interpreter.
Models of uint8 are computed as int8, 128 less. Anything else is refused with the names of all operators in question;
[ST's compiler](../st-edge-ai.md) takes more. Batch is 1. What differs from that interpreter: [how sure](../how-sure.md)."""

# A formula does not begin with a capital letter.
_FORMULA = re.compile(r"[a-z]\W")

_ONNX = """\
## ONNX

Nodes of [ONNX models](../onnx.md), whose activations are quantised:"""


def operators_page() -> str:
    """Return the page with operators by their names in the schema of .tflite files."""
    modules = sorted(modules_matching("n6build.compile.reference.operators.*", {"n6build": str(LIBRARY)}))
    rows = [_row(name) for name in modules if hasattr(importlib.import_module(name), "OPERATOR")]
    of_tflite = table(("operator", "types of the input", "what is computed"), sorted(rows))
    return page("Operators", _HEAD, of_tflite, _ONNX, table(("nodes", "what they are"), _families()))


def _families() -> list[tuple[str, str]]:
    """Return the rows of ONNX, one for each module of nodes."""
    rows = []
    for name in sorted(modules_matching("n6build.compile.reference.onnx.nodes.*", {"n6build": str(LIBRARY)})):
        module = importlib.import_module(name)
        said = " ".join((inspect.getdoc(module) or "").split())
        rows.append((", ".join(map(code, sorted(module.FAMILY.translate))), text(said)))
    return rows


def _row(name: str) -> tuple[str, str, str]:
    module = importlib.import_module(name)
    kind: OperatorKind = module.OPERATOR
    said = " ".join((inspect.getdoc(module) or "").split())
    # A module for another type has the name of the operator and that type.
    base = kind.name.partition(" ")[0]
    assert said.startswith((f"{base}: ", f"{base} ")), (
        f"{Path(module.__file__ or name).name}: the docstring begins with {base}"
    )
    what = said.removeprefix(base).lstrip(": ")
    return (
        code(base),
        ", ".join(kind.rule.types_of(kind.viewed)),
        text(what if _FORMULA.match(what) else sentence(what)),
    )
