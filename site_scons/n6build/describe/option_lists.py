"""Values of options that are lists of words: modes of a run."""

from __future__ import annotations

from n6build.base.errors import N6Error, did_you_mean
from n6build.describe.option import Setting

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
