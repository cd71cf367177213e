"""Kinds of build systems whose scripts n6build reads."""

from __future__ import annotations

from typing import Literal

Kind = Literal["cmake", "make", "scons", "platformio", "cubeide"]
# The IDE is last because it ignores the result of a step.
KINDS: tuple[Kind, ...] = ("cmake", "make", "scons", "platformio", "cubeide")
