"""RESIZE_BILINEAR: another height and width of int16 elements."""

from __future__ import annotations

from dataclasses import replace

from n6build.compile.reference import int16
from n6build.compile.reference.descriptors import Kernel, Structure
from n6build.compile.reference.operators import resize_bilinear
from n6build.compile.reference.rules import INT16, INT32

_KERNEL = Kernel(
    "resize_bilinear_int16",
    Structure("n6k_resize_bilinear_int16_t", (*int16.ENDS, *resize_bilinear.MEMBERS), doc="As n6k_resize_bilinear_t."),
)
_INT8 = resize_bilinear.OPERATOR

OPERATOR = replace(
    _INT8,
    name="RESIZE_BILINEAR int16",
    rule=replace(_INT8.rule, inputs=(INT16, INT32), output=INT16),
    lower=resize_bilinear.lowered_to(_KERNEL),
    kernels=(_KERNEL,),
)
