"""Kinds of build systems whose scripts are read."""

from __future__ import annotations

from typing import Literal

Kind = Literal["cmake", "make", "scons", "platformio", "cubeide"]
# That of the IDE last: it ignores the result of a step.
KINDS: tuple[Kind, ...] = ("cmake", "make", "scons", "platformio", "cubeide")
