"""Layout of a network's outputs as a C header, n6_decoder.h."""

from __future__ import annotations

from n6build.base.paths import TEMPLATES
from n6build.base.templates import render
from n6build.judge.postprocess.layout import Layout, Table, area_names

TEMPLATE = TEMPLATES / "n6_decoder.h.j2"
_NONE = Table(0, 0, 0, 0, 0, 0)


def decoder_header(layout: Layout, model: str) -> str:
    """Return the text of n6_decoder.h.

    Args:
        layout: Layout of the outputs.
        model: Name of the model.
    """
    return render(
        TEMPLATE,
        {
            "layout": layout,
            "model": model,
            "outputs": [(each, _real(each.scale), each.zero_point) for each in layout.outputs],
            "levels": [
                {
                    "tables": [
                        (name, ", ".join(f"{value}u" for value in vars(table or _NONE).values()))
                        for name, table in (
                            ("boxes", level.boxes),
                            ("scores", level.scores),
                            ("objectness", level.objectness),
                            ("others", level.others),
                        )
                    ],
                    "cells": level.cells,
                    "each": level.each,
                    "anchor": ", ".join(map(_real, level.anchor)),
                }
                for level in layout.levels
            ],
            "scale": ", ".join(map(_real, layout.scale)),
            "least_score": _real(layout.settings.score),
            "most_overlap": _real(layout.settings.overlap),
            "names": [_text(name) for name in (area_names(layout) if layout.coding == "areas" else layout.names)],
            "output_names": [_text(output.name) for output in layout.outputs],
        },
    )


def _real(value: float) -> str:
    """Return a float32 in C; nine digits tell all of them apart."""
    text = f"{value:.9g}"
    return f"{text}f" if "." in text or "e" in text else f"{text}.0f"


def _text(name: str) -> str:
    """Return a text in C; other characters than those of ASCII become question marks."""
    plain = name.encode("ascii", "replace").decode()
    return '"' + "".join(each if each.isprintable() and each not in '\\"?' else "_" for each in plain) + '"'
