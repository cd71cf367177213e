"""Variables of build scripts, replaced by their values as far as these are text."""

from __future__ import annotations

import re
from collections.abc import Mapping

# A value may name others, which may name others; a few lines can make billions of characters of that.
_DEPTH = 16
_MOST_CHARACTERS = 1 << 16
_TOKEN = re.compile(r"\$[({]([^$(){}\n]{1,200})[)}]")


def expand(text: str, values: Mapping[str, str]) -> str:
    """Replace $(NAME) and ${NAME}.

    Args:
        text: As the script has it.
        values: By name. A name that is missing stays as it is, as does a function of make.

    Returns:
        The text, as far as it was replaced after 16 rounds or 65,536 characters.
    """
    for _ in range(_DEPTH):
        replaced = _TOKEN.sub(lambda found: values.get(found[1], found[0]), text)
        if replaced == text or len(replaced) > _MOST_CHARACTERS:
            break
        text = replaced
    return text


def is_open(text: str) -> bool:
    """Return whether something is left that only the build system can replace."""
    return "$" in text or "@" in text or "*" in text
