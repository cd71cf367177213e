"""Things that a network has found in a run: as lines, as JSON, and drawn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from n6build.base.console import say
from n6build.base.files import to_json
from n6build.base.pictures import open_pictures, require_pillow, tiled
from n6build.base.size_text import counted
from n6build.board.run.session import NetworkOutcome
from n6build.describe.preprocess import Part, Preprocess
from n6build.judge.postprocess.found import Decoded, Found

if TYPE_CHECKING:
    from PIL.Image import Image

# Of inputs, and of things in each, that are printed; boxes.json has all.
_INPUTS_SHOWN, _FOUND_SHOWN = 20, 10
# Pictures of a sheet, and pixels of the longer side of a picture alone and of one of several.
_MOST_DRAWN, _COLUMNS, _ALONE, _OF_SEVERAL = 9, 3, 1280, 480
_COLOURS = ((0, 200, 0), (230, 40, 40), (0, 160, 230), (220, 0, 200), (220, 180, 0), (255, 120, 0), (120, 80, 220))
_OPACITY = 110


@dataclass(frozen=True)
class DecodedInput:
    """An input with everything that a network has found in it.

    Attributes:
        model: Name of the model.
        number: Number of the inference.
        picture: Picture, or None for another input.
        part: Part of the picture that the network got; of another input, the whole.
        decoded: Things found.
    """

    model: str
    number: int
    picture: Path | None
    part: Part
    decoded: Decoded

    @property
    def name(self) -> str:
        """Return the name of the picture, or the number of the input."""
        return self.picture.name if self.picture else f"input {self.number}"


def decoded_inputs(network: NetworkOutcome, pictures: Sequence[str], how: Preprocess) -> tuple[DecodedInput, ...]:
    """Return the inputs of a network whose outputs were decoded.

    Args:
        network: Outcome of the network.
        pictures: Picture of each inference, used in turn, or empty.
        how: Pre-processing of the pictures.

    Raises:
        N6Error: N6-PICTURE-002 for a picture that has been damaged since it was an input.
    """
    inputs = []
    for number, decoded in enumerate(network.decoded):
        picture = Path(pictures[number % len(pictures)]) if pictures else None
        part = Part(0, 0, *decoded.size)
        if picture:
            part = how.shown_part(next(open_pictures(picture)).size, decoded.size)
        inputs.append(DecodedInput(network.model, number, picture, part, decoded))
    return tuple(inputs)


def boxes_json(inputs: Sequence[DecodedInput]) -> str:
    """Return boxes.json, which has the things found in each input.

    Places are in pixels of the picture, or of the input if it is no picture.
    """
    return to_json(
        [
            {
                "model": each.model,
                "input": each.name,
                "found": [
                    {
                        "label": one.label,
                        "score": round(one.score, 6),
                        **_box(one, each.part),
                        "points": [
                            {"x": x, "y": y, "score": round(point.score, 6)}
                            for point, (x, y) in zip(one.points, _points(one, each.part), strict=True)
                        ],
                    }
                    for one in each.decoded.found
                ],
            }
            for each in inputs
        ]
    )


def box_in_pixels(one: Found, part: Part) -> tuple[float, float, float, float]:
    """Return left edge, upper edge, width and height of a thing in pixels.

    Args:
        one: The thing.
        part: Part of the picture that the network got.
    """
    return (
        part.left + one.x * part.width,
        part.top + one.y * part.height,
        one.width * part.width,
        one.height * part.height,
    )


def _box(one: Found, part: Part) -> dict[str, float]:
    if not one.width and not one.height:
        return {}
    pixels = (round(each, 2) for each in box_in_pixels(one, part))
    return dict(zip(("x", "y", "width", "height"), pixels, strict=True))


def _points(one: Found, part: Part) -> list[tuple[float, float]]:
    places = ((part.left + point.x * part.width, part.top + point.y * part.height) for point in one.points)
    return [(round(x, 2), round(y, 2)) for x, y in places]


def say_decoded(inputs: Sequence[DecodedInput]) -> None:
    """Print a line for each thing."""
    for each in inputs[:_INPUTS_SHOWN]:
        found = each.decoded.found
        for one in found[:_FOUND_SHOWN]:
            verb, text = _line(one, each)
            say(verb, f"{text} of {each.name}")
        if len(found) > _FOUND_SHOWN:
            say("Found", f"{len(found) - _FOUND_SHOWN} more in {each.name}")
        if not found:
            say("Found", f"nothing in {each.name}")
    if len(inputs) > _INPUTS_SHOWN:
        say("Found", f"... in {len(inputs) - _INPUTS_SHOWN} more inputs")


def _line(one: Found, of: DecodedInput) -> tuple[str, str]:
    """Return the kind of a thing, and a text."""
    box = _box(one, of.part)
    if box:
        place = f"{box['width']:.0f} x {box['height']:.0f} pixels at ({box['x']:.0f}, {box['y']:.0f})"
        return "Box", f"{one.label} {one.score:.3f}, {place}"
    if one.points:
        places = " ".join(f"({x:.0f}, {y:.0f})" for x, y in _points(one, of.part))
        return "Points", f"{counted(len(one.points), 'point')}, mean score {one.score:.3f}: {places}"
    if of.decoded.mask:
        return "Area", f"{one.label} {one.score:.1%}"
    return "Class", f"{one.label} {one.score:.3f}"


def found_lines(network: NetworkOutcome) -> Iterator[str]:
    """Yield a sentence on everything found, if the outputs were decoded."""
    counts: dict[str, int] = {}
    for one in (one for each in network.decoded for one in each.found):
        counts[one.label] = counts.get(one.label, 0) + 1
    if network.decoded:
        found = ", ".join(f"{label} ({count})" for label, count in sorted(counts.items()))
        yield f"found in {counted(len(network.decoded), 'input')}: {found or 'nothing'}"


def sheet(inputs: Sequence[DecodedInput]) -> bytes:
    """Return a PNG of the pictures with everything drawn that was found in them.

    Args:
        inputs: Inputs that are pictures; the first ones are drawn.
    """
    shown = inputs[:_MOST_DRAWN]
    longest = _ALONE if len(shown) == 1 else _OF_SEVERAL
    return tiled([_drawn(each, longest) for each in shown], _COLUMNS)


def _drawn(each: DecodedInput, longest: int) -> Image:
    assert each.picture is not None
    pillow = require_pillow()
    picture = next(open_pictures(each.picture))
    scale = min(longest / max(picture.size), 1.0)
    picture = picture.resize((max(round(picture.width * scale), 1), max(round(picture.height * scale), 1)))
    part = Part(*(value * scale for value in vars(each.part).values()))
    labels = [one.label for one in each.decoded.found]
    if each.decoded.mask:
        _tint(picture, each.decoded, part)
    draw = pillow.ImageDraw.Draw(picture)
    line = max(round(max(picture.size) / 320), 1)
    height = 0
    for one in each.decoded.found:
        colour = _COLOURS[sorted(set(labels)).index(one.label) % len(_COLOURS)]
        box = _box(one, part)
        x, y = box.get("x", 0.0), box.get("y", 0.0)
        if box:
            draw.rectangle((x, y, x + box["width"], y + box["height"]), outline=colour, width=line)
        for across, down in _points(one, part):
            draw.ellipse((across - 2 * line, down - 2 * line, across + 2 * line, down + 2 * line), fill=colour)
        # A Pillow without FreeType has a font of Latin letters only.
        label = one.label.encode("latin-1", "replace").decode("latin-1")
        draw.text((x + 2 * line, y + 2 * line + height), f"{label} {one.score:.2f}", fill=colour)
        # Texts without a box are below each other.
        height += 0 if box else 12
    return picture


def _tint(picture: Image, decoded: Decoded, part: Part) -> None:
    """Lay the colours of the classes over a picture; the first class stays as it is."""
    pillow = require_pillow()
    clear = bytes(4)
    pixels = b"".join(
        (bytes((*_COLOURS[(number - 1) % len(_COLOURS)], _OPACITY)) if number else clear) * length
        for number, length in decoded.mask
    )
    mask = pillow.Image.frombytes("RGBA", decoded.area, pixels)
    mask = mask.resize((max(round(part.width), 1), max(round(part.height), 1)), pillow.Image.Resampling.NEAREST)
    picture.paste(mask, (round(part.left), round(part.top)), mask)
