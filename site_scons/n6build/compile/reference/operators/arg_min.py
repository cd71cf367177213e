"""ARG_MIN: the index of the first smallest element along a dimension."""

from __future__ import annotations

import tflite

from n6build.compile.reference.searches import search

OPERATOR = search("ARG_MIN", "ArgMin", "arg_min", tflite.ArgMinOptions, -1)
