"""MIRROR_PAD: each dimension continued by its mirror image.

The outermost element is there once (REFLECT) or twice (SYMMETRIC).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import tflite

from n6build.compile.reference.movement import MOVABLE, Array, Movement, Pair, known
from n6build.compile.reference.moving_kind import moving
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.paddings import paddings_of
from n6build.compile.reference.reference_options import OptionsReader, choice, names_in
from n6build.compile.reference.rules import INT32, INT64

_NAMES = names_in(tflite.MirrorPadMode)


def _read(table: tflite.MirrorPadOptions) -> int:
    """Return the number of outermost elements that the mirror image leaves out."""
    return {"REFLECT": 1, "SYMMETRIC": 0}[choice(_NAMES, table.Mode(), ("REFLECT", "SYMMETRIC"), "mode")]


def _pairs(operands: Operands, inputs: tuple[Array | None, ...], output: Array) -> Iterator[Pair]:
    source, skipped = known(inputs[0]), operands.operator.options
    assert isinstance(skipped, int)
    parts = [
        _parts(size, before, after, skipped)
        for size, (before, after) in zip(source.shape, paddings_of(operands), strict=True)
    ]
    for chosen in itertools.product(*parts):
        yield Pair(output[tuple(target for target, _ in chosen)], source[tuple(taken for _, taken in chosen)])


def _parts(size: int, before: int, after: int, skipped: int) -> list[tuple[slice, slice]]:
    """Return (target, source) of a dimension and of its images before and after.

    Raises:
        ValueError: If the dimension has too few elements to mirror.
    """
    if max(before, after) > size - skipped:
        raise ValueError(f"no {max(before, after)} elements to mirror")
    parts = [(slice(before, before + size), slice(None))]
    if before:
        parts.append((slice(0, before), slice(skipped + before - 1, skipped - 1 if skipped else None, -1)))
    if after:
        last = size - 1 - skipped
        parts.append((slice(before + size, None), slice(last, last - after if last >= after else None, -1)))
    return parts


OPERATOR = moving(
    "MIRROR_PAD",
    "MirrorPad",
    Movement(_pairs),
    (MOVABLE, (*INT32, *INT64)),
    constants=(1,),
    options=OptionsReader(tflite.MirrorPadOptions, tflite.BuiltinOptions.MirrorPadOptions, _read),
)
