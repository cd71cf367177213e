"""ARG_MAX: where along a dimension the first largest element is."""

from __future__ import annotations

import tflite

from n6build.network.reference.searches import search

OPERATOR = search("ARG_MAX", "ArgMax", "arg_max", tflite.ArgMaxOptions, 1)
