"""Values of options that are lists of words: modes, and security counters."""

from __future__ import annotations

import re

from n6build.base.errors import N6Error, did_you_mean
from n6build.describe.option import Setting

# Images with a security counter of their own (describe/formats/trust_claim.py), which a fuse word counts by its bits.
_COUNTED = ("appli", "model", "data")
_MOST_UPDATES = 32
# Modes of a run, with the names of ST's load-and-run.
MODES = ("copy", "xip", "no-flash", "no-run", "max-speed")


def modes_of(setting: Setting) -> tuple[str, ...]:
    """Return the modes, sorted.

    Raises:
        N6Error: N6-OPTION-002 if one is unknown, or two exclude each other.
    """
    modes = {word.strip() for word in setting.value.split(",") if word.strip()}
    for unknown in sorted(modes - set(MODES)):
        raise N6Error("N6-OPTION-002", f"no mode '{unknown}'", where=setting.origin, hint=did_you_mean(unknown, MODES))
    # The clock of a program that is already on the board is fixed.
    for one, other in (("copy", "xip"), ("no-flash", "no-run"), ("no-flash", "max-speed")):
        if {one, other} <= modes:
            raise N6Error("N6-OPTION-002", f"modes '{one}' and '{other}' exclude each other", where=setting.origin)
    return tuple(sorted(modes))


def counters_of(setting: Setting) -> tuple[str, ...]:
    """Return security counters as kind:number, sorted.

    Raises:
        N6Error: N6-OPTION-002 for another text, or for a kind without a counter.
    """
    found: dict[str, str] = {}
    for part in setting.value.split(",") if setting.value else ():
        kind, _, number = part.partition(":")
        if kind not in _COUNTED or not re.fullmatch(r"[0-9]{1,2}", number) or int(number) > _MOST_UPDATES:
            what = f"'{part}' is not a security counter"
            hint = f"write counters of {', '.join(_COUNTED)}, from 0 to {_MOST_UPDATES}, for example appli:3,model:1"
            raise N6Error("N6-OPTION-002", what, where=setting.origin, hint=hint)
        found[kind] = f"{kind}:{int(number)}"
    return tuple(sorted(found.values()))
