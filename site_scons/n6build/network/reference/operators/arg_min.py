"""ARG_MIN: where along a dimension the first smallest element is."""

from __future__ import annotations

import tflite

from n6build.network.reference.searches import search

OPERATOR = search("ARG_MIN", "ArgMin", "arg_min", tflite.ArgMinOptions, -1)
