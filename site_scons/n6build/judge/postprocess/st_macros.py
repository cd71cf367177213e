"""Post-processing of ST's applications: its names, and macros for a network."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NoReturn, get_args

from n6build.base.errors import N6Error
from n6build.compile.artifacts.description import IoBuffer
from n6build.describe.application_names import PostProcess
from n6build.describe.postprocess import DecoderName, Postprocess
from n6build.judge.postprocess.layout import Layout, Level, layout_of

Constant = int | float | tuple[float, ...]
# Letters at the end of a name: types of the input and of the outputs.
_LETTERS = {"uint8": "u", "int8": "i", "float32": "f"}
_BACKGROUND = "background"
# od_pp_st_yolox.c names its three grids by size, and takes them in this order.
_GRIDS = ("S", "L", "M")


@dataclass(frozen=True)
class StDecoder:
    """Post-processing of ST's code for one network.

    Attributes:
        name: Its name, such as od_yolo_v8_uf.
        classes: Names of its classes; those of an SSD begin with the background.
        constants: Macros with their values.
    """

    name: PostProcess
    classes: tuple[str, ...]
    constants: dict[str, Constant]


def st_decoder(
    asked: str,
    settings: Postprocess | None,
    inputs: Sequence[IoBuffer],
    outputs: Sequence[IoBuffer],
    classes: Sequence[str],
) -> StDecoder:
    """Return ST's post-processing for a network.

    Args:
        asked: Name as in `PostProcess`, also without the letters of the types, such as od_yolo_v8.
        settings: Key `postprocess` of model.yaml, for thresholds and anchors; None without one.
        inputs: Inputs of the network.
        outputs: Outputs of the network.
        classes: Names of the classes, or empty.

    Raises:
        N6Error: N6-APP-012 if the types, the layout or the settings are not those of ST's code; N6-CHECK-042 if
            the outputs do not fit the decoder.
    """
    name = _typed(asked, inputs, outputs)
    base = name.rpartition("_")[0]
    if base not in _DECODERS:
        return StDecoder(name, tuple(classes), {})
    decoder, macros = _DECODERS[base]
    if settings is None or settings.decoder != decoder:
        settings = Postprocess(decoder)
    layout = layout_of(settings, inputs, outputs, classes)
    names = (_BACKGROUND, *layout.names) if decoder == "ssd" else layout.names
    return StDecoder(name, names, macros(layout))


def _typed(asked: str, inputs: Sequence[IoBuffer], outputs: Sequence[IoBuffer]) -> PostProcess:
    """Return the name with the letters of the network's types."""
    letters = "".join(_LETTERS.get(ports[0].type, "?") if ports else "?" for ports in (inputs, outputs))
    known: dict[str, PostProcess] = {name: name for name in get_args(PostProcess)}
    typed = asked if asked in known else f"{asked}_{letters}"
    types = ", ".join(f"{ports[0].type} {what}" for ports, what in ((inputs, "input"), (outputs, "output")) if ports)
    of_base = sorted(name for name in known if name.startswith(f"{asked}_"))
    if typed not in known:
        _refuse(asked, f"takes {_words(of_base)}, but the network has {types}", _types_hint(inputs))
    if typed != "none" and not typed.endswith(f"_{letters}"):
        _refuse(asked, f"is for {_types_of(typed)}, but the network has {types}", _types_hint(inputs))
    return known[typed]


def _words(names: Sequence[str]) -> str:
    return " or ".join(_types_of(name) for name in names)


def _types_of(name: str) -> str:
    types = {letter: kind for kind, letter in _LETTERS.items()}
    return f"{types[name[-2]]} input and {types[name[-1]]} output"


def _types_hint(inputs: Sequence[IoBuffer]) -> str:
    if inputs and inputs[0].type != "uint8":
        return "export the network with a uint8 input: the camera writes bytes into it"
    return "choose the application that fits the network, or export it with other types"


def _refuse(asked: str, what: str, hint: str) -> NoReturn:
    raise N6Error("N6-APP-012", f"application {asked} {what}", where="application", hint=hint)


def _thresholds(prefix: str, layout: Layout) -> dict[str, Constant]:
    settings = layout.settings
    return {
        f"{prefix}CONF_THRESHOLD": float(settings.score),
        f"{prefix}IOU_THRESHOLD": float(settings.overlap),
        f"{prefix}MAX_BOXES_LIMIT": settings.most,
    }


def _own_activation(asked: str, layout: Layout, usual: str) -> None:
    if layout.activation != usual:
        what = f"has scores with activation {usual}, but postprocess.activation is {layout.activation}"
        _refuse(asked, what, "export the network with its scores as that code takes them")


def _yolo_v8(layout: Layout) -> dict[str, Constant]:
    (level,) = layout.levels
    _own_activation("od_yolo_v8", layout, "none")
    if layout.settings.pixels or level.boxes.row_step != 1:
        what = "takes boxes in shares of the picture, all values of a kind together (4 + classes x boxes)"
        _refuse("od_yolo_v8", what, "export the network as ST's model zoo does, without postprocess.pixels")
    prefix, output = "AI_OD_YOLOV8_PP_", layout.outputs[0]
    of_integers: dict[str, Constant] = {f"{prefix}ZERO_POINT": output.zero_point, f"{prefix}SCALE": float(output.scale)}
    return {
        f"{prefix}TOTAL_BOXES": level.boxes.rows,
        f"{prefix}NB_CLASSES": len(layout.names),
        **_thresholds(prefix, layout),
        **({} if output.type == "float32" else of_integers),
    }


def _ssd(layout: Layout) -> dict[str, Constant]:
    (level,) = layout.levels
    _own_activation("od_st_ssd", layout, "none")
    others = level.others
    if layout.coding != "corners" or others is None or (level.scores.output, level.boxes.output) != (0, 1):
        what = "takes scores, offsets and anchors, in this order"
        _refuse("od_st_ssd", what, "export the network as ST's model zoo does")
    prefix = "AI_OD_SSD_ST_PP_"
    # The first class is the background.
    sizes = {f"{prefix}TOTAL_DETECTIONS": level.boxes.rows, f"{prefix}NB_CLASSES": len(layout.names) + 1}
    return {**sizes, **_thresholds(prefix, layout)}


def _anchors(levels: Sequence[Level]) -> tuple[float, ...]:
    """Return the anchors of a grid in cells, from shares of the picture."""
    return tuple(round(size * level.cells, 6) for level in levels for size in level.anchor)


def _channels_last(asked: str, layout: Layout) -> None:
    _own_activation(asked, layout, "softmax")
    if any(level.boxes.column_step != 1 for level in layout.levels):
        _refuse(asked, "takes grids with their channels last", "export the network from TensorFlow, channels last")


def _yolo_v2(layout: Layout) -> dict[str, Constant]:
    _channels_last("od_yolo_v2", layout)
    if len(layout.outputs) != 1:
        _refuse("od_yolo_v2", f"takes one grid, not {len(layout.outputs)}", "choose application=od_st_yolox")
    prefix, cells = "AI_OD_YOLOV2_PP_", layout.levels[0].cells
    return {
        f"{prefix}NB_CLASSES": len(layout.names),
        f"{prefix}NB_ANCHORS": len(layout.levels),
        f"{prefix}GRID_WIDTH": cells,
        f"{prefix}GRID_HEIGHT": cells,
        f"{prefix}NB_INPUT_BOXES": cells * cells,
        f"{prefix}ANCHORS": _anchors(layout.levels),
        **_thresholds(prefix, layout),
    }


def _st_yolox(layout: Layout) -> dict[str, Constant]:
    _channels_last("od_st_yolox", layout)
    grids = [[level for level in layout.levels if level.boxes.output == number] for number in range(3)]
    cells = [grid[0].cells for grid in grids if grid]
    if len(layout.outputs) != len(_GRIDS) or not cells[0] < cells[2] < cells[1]:
        what = f"takes the smallest grid, the largest, then the one between; the network has {cells}"
        _refuse("od_st_yolox", what, "put the outputs of the network in this order")
    prefix = "AI_OD_ST_YOLOX_PP_"
    made: dict[str, Constant] = {f"{prefix}NB_CLASSES": len(layout.names), f"{prefix}NB_ANCHORS": len(grids[0])}
    for size, grid in zip(_GRIDS, grids, strict=True):
        made[f"{prefix}{size}_GRID_WIDTH"] = made[f"{prefix}{size}_GRID_HEIGHT"] = grid[0].cells
        made[f"{prefix}{size}_NB_INPUT_BOXES"] = grid[0].cells ** 2
        made[f"{prefix}{size}_ANCHORS"] = _anchors(grid)
    return {**made, **_thresholds(prefix, layout)}


_DECODERS: dict[str, tuple[DecoderName, Callable[[Layout], dict[str, Constant]]]] = {
    "od_yolo_v8": ("yolo_v8", _yolo_v8),
    "od_st_ssd": ("ssd", _ssd),
    "od_yolo_v2": ("yolox", _yolo_v2),
    "od_st_yolox": ("yolox", _st_yolox),
}
# Application of a decoder in model.yaml, for a command line without option application.
USUAL: dict[DecoderName, str] = {"yolo_v8": "od_yolo_v8", "ssd": "od_st_ssd", "yolox": "od_st_yolox"}
