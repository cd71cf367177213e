"""Choices that follow from relocatable models made by another tool.

These models decide options that are otherwise free.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from n6build.base.errors import N6Error
from n6build.describe.choices import Choices
from n6build.describe.model import Model
from n6build.place.reloc.reader import read_reloc_file
from n6build.steps.foreign_model import kind_of, words_of


def as_the_models_are(choices: Choices, models: Sequence[Model]) -> Choices:
    """Return the choices, adjusted to relocatable models made by another tool.

    The models decide if weights are separate files, the security state, and the debug fields.

    Raises:
        N6Error: N6-OPTION-004 without loader=reloc; N6-RELOC-043 if choices or models contradict one
            another; the errors of `read_reloc_file`.
    """
    given = {model.name: read_reloc_file(model.relocatable) for model in models if model.relocatable}
    if not given:
        return choices
    first = next(iter(given))
    if choices.loader != "reloc":
        what = f"model {first} is a relocatable model, which cannot be linked into an Appli"
        raise N6Error("N6-OPTION-004", what, hint="loader=reloc")
    refused = {
        f"backend={choices.backend}": choices.backend != "auto",
        "epochs=1": choices.epochs,
        f"name={choices.name}": choices.name,
        "split=1": choices.split and not given[first].is_split,
        "secure=0": not choices.secure and given[first].flags.secure,
    }
    for option, has_effect in refused.items():
        if has_effect:
            what = f"'{option}' is for a network that n6build compiles, but this one is already compiled and linked"
            raise N6Error("N6-RELOC-043", what, where=first, hint="omit it")
    for name, file in given.items():
        if kind_of(file) != kind_of(given[first]):
            what = (
                f"one application needs models of one kind: {first} is {words_of(given[first])}, {name} "
                f"{words_of(file)}"
            )
            raise N6Error("N6-RELOC-043", what, where=name, hint="make both with the same options of npu_driver.py")
    is_split, is_secure, debug_info = kind_of(given[first])
    return replace(choices, split=is_split, secure=is_secure, debug_info=debug_info)
