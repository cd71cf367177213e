"""The word by which an Appli reports the epoch block that runs.

It is a 32-bit write to a stimulus port of the ITM (Armv8-M), which the chip ignores unless a
debugger has enabled the port.
"""

from __future__ import annotations

from n6build.base.c_format import Constant, Format

# Of the 32 ports, text uses the lowest ones, and operating systems use the highest one.
STIMULUS_PORT = 24
ENDED = 1 << 31
NETWORK_LOW_BIT = 16
MOST_NETWORKS = 1 << 15
MOST_PLACES = 1 << 16

FORMAT = Format(
    "n6_epoch_marker.h",
    (
        "A word at a stimulus port of the ITM names the running epoch block:",
        "",
        "    bit 31 0 it begins, 1 it has ended | bits 30:16 network of the application | bits 15:0 place in its table of blocks",
    ),
    constants=(
        Constant("N6_EPOCH_MARKER_PORT", STIMULUS_PORT, "stimulus port"),
        Constant("N6_EPOCH_MARKER_ENDED", ENDED),
        Constant("N6_EPOCH_MARKER_NETWORK_POS", NETWORK_LOW_BIT),
        Constant("N6_EPOCH_MARKER_NETWORK_MAX", MOST_NETWORKS - 1),
        Constant("N6_EPOCH_MARKER_PLACE_MAX", MOST_PLACES - 1),
    ),
)
