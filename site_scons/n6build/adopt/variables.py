"""Variables of build scripts, replaced by their values where these are text."""

from __future__ import annotations

import re
from collections.abc import Mapping

# A value may contain variables, whose values may contain more. A few lines can thus expand to billions of characters.
_DEPTH = 16
_MOST_CHARACTERS = 1 << 16
_TOKEN = re.compile(r"\$[({]([^$(){}\n]{1,200})[)}]")


def expand(text: str, values: Mapping[str, str]) -> str:
    """Return a text with $(NAME) and ${NAME} replaced.

    Args:
        text: text of the script.
        values: values by name. A missing name stays as it is, as does a function of make.

    Returns:
        The text after at most 16 rounds and 65,536 characters.
    """
    for _ in range(_DEPTH):
        replaced = _TOKEN.sub(lambda found: values.get(found[1], found[0]), text)
        if replaced == text or len(replaced) > _MOST_CHARACTERS:
            break
        text = replaced
    return text


def is_open(text: str) -> bool:
    """Return whether a part is left that only the build system can replace."""
    return "$" in text or "@" in text or "*" in text
