"""ARG_MAX: the index of the first largest element along a dimension."""

from __future__ import annotations

import tflite

from n6build.compile.reference.searches import search

OPERATOR = search("ARG_MAX", "ArgMax", "arg_max", tflite.ArgMaxOptions, 1)
