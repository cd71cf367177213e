"""Option harsh: the seed of a virtual board that is as harsh as silicon."""

from __future__ import annotations

import re

from n6build.base.errors import N6Error
from n6build.describe.option import Setting, parsed

_LARGEST = 0xFFFF_FFFF
_HELP = (
    "virtual board: a number decides the random content of RAM after power-on; PLLs and parts take their times, slow pins and "
    "a PSRAM without refresh are reported; default: 0, for none of this"
)


def harsh_option(targets: tuple[str, ...]) -> int:
    """Return the field of option harsh: a seed, or 0 for no harshness.

    Args:
        targets: The only targets that use the option.
    """
    return parsed(0, _HELP, parse_harsh, name="harsh", targets=targets)


def parse_harsh(setting: Setting) -> int:
    """Return the seed in a setting, 0 if nothing is given.

    Raises:
        N6Error: N6-OPTION-002 for another text.
    """
    if not setting.value:
        return 0
    if not re.fullmatch("[0-9]{1,10}", setting.value) or int(setting.value) > _LARGEST:
        what = f"'{setting.option}={setting.value}' is not a seed"
        raise N6Error("N6-OPTION-002", what, where=setting.origin, hint="write harsh=1, another number, or harsh=0")
    return int(setting.value)
