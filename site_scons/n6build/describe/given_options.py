"""The options that were given, as texts for a command line."""

from __future__ import annotations

from collections.abc import Collection

from n6build.describe.choices import Choices
from n6build.describe.option import option_text, options_of

# Options about boards, runs, reports and the console, which do not change the bytes in flash.
_NOT_IN_FLASH = frozenset(
    {
        *("probe", "dry", "start", "console", "until", "gdb", "trace", "audio", "audio_out", "epochs"),
        *("camera", "camera_format", "unplug", "display", "frames"),
        *("fuses", "harsh", "inputs", "captured", "expected", "runs", "base", "svd", "verbosity", "log", "parse_only"),
        *("gen_c_file", "romfs", "firmware", "linker_map", "linker_script", "flash"),
    }
)
# Options about the board on the desk and its start. They are the same for all commands, so they may be given to each.
ON_THE_DESK = frozenset({"probe", "start", "console"})
_MODES_IN_FLASH = frozenset({"copy", "xip", "max-speed"})


def options_in_flash(choices: Choices) -> dict[str, str]:
    """Return the options that affect the bytes in flash, as on a command line.

    These are board and model, and all others with another value than their default.
    """
    return _texts(choices, _NOT_IN_FLASH)


def given_options(choices: Choices) -> tuple[str, ...]:
    """Return `options_in_flash` and those about the board on the desk, as name=value."""
    return tuple(f"{name}={text}" for name, text in _texts(choices, _NOT_IN_FLASH - ON_THE_DESK).items() if text)


def _texts(choices: Choices, without: Collection[str]) -> dict[str, str]:
    usual = Choices()
    texts = {}
    for option in options_of(Choices):
        value = getattr(choices, option.field)
        if option.field == "modes":
            value = tuple(mode for mode in value if mode in _MODES_IN_FLASH)
        is_named = option.field in ("board", "models") and value
        if option.name not in without and (is_named or value != getattr(usual, option.field)):
            texts[option.name] = option_text(value, option.separator)
    return texts
