"""Files with the boxes, points, classes and areas of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from n6build.base.console import say
from n6build.base.files import write_atomically
from n6build.base.paths import project_path
from n6build.board.run.decoded import DecodedInput, box_in_pixels, boxes_json, say_decoded, sheet
from n6build.board.run.session import NetworkOutcome, RunModel
from n6build.compile.artifacts.description import NetworkArtifacts
from n6build.describe.postprocess import Postprocess
from n6build.describe.preprocess import Preprocess

BOXES, PICTURE = "boxes.json", "boxes.png"


def decoded_outputs(run: str, decoders: Sequence[Postprocess | None], pictures: Sequence[str]) -> tuple[str, ...]:
    """Return the files that a run writes; none without a decoder.

    Args:
        run: Path of run.json.
        decoders: Decoder of each network, or None.
        pictures: Pictures that are the inputs, or empty.
    """
    if not any(decoders):
        return ()
    return tuple(str(Path(run).with_name(name)) for name in ((BOXES, PICTURE) if pictures else (BOXES,)))


def write_decoded(inputs: Sequence[DecodedInput], outputs: Sequence[Path], *, silent: bool) -> None:
    """Print what a run has found, and write it if the step has these outputs.

    Args:
        inputs: Decoded inputs of all networks.
        outputs: Outputs of the step.
        silent: Print nothing.
    """
    boxes = next((each for each in outputs if each.name == BOXES), None)
    if boxes is None:
        return
    write_atomically(boxes, boxes_json(inputs))
    if not silent:
        say_decoded(inputs)
    picture = boxes.with_name(PICTURE)
    if picture in outputs:
        write_atomically(picture, sheet(inputs))
        if not silent:
            say("Drawn", f"in {project_path(str(picture))}; {BOXES} beside it has the numbers")


def with_mean_iou(
    networks: Sequence[NetworkOutcome],
    models: Sequence[tuple[RunModel, NetworkArtifacts]],
    how: Sequence[Preprocess],
    pictures: Sequence[str],
    labels: Sequence[str],
) -> tuple[NetworkOutcome, ...]:
    """Return the outcomes with the mean IoU of areas, if there are labels.

    Args:
        networks: Outcome of each network.
        models: Each network with its layout.
        how: Pre-processing of each network.
        pictures: Pictures that are the inputs.
        labels: Pictures with the right class of each pixel, or empty.

    Raises:
        N6Error: N6-QUANT-012 for labels that do not fit.
    """
    if not labels:
        return tuple(networks)
    from n6build.judge.accuracy.areas import mean_iou  # noqa: PLC0415 - planning measures nothing.

    files, given = list(map(Path, labels)), list(map(Path, pictures))
    return tuple(
        replace(network, mean_iou=mean_iou(model.layout, network.decoded, files, given, own))
        if model.layout and model.layout.coding == "areas"
        else network
        for network, (model, _), own in zip(networks, models, how, strict=True)
    )


def with_average_precision(
    networks: Sequence[NetworkOutcome], inputs: Sequence[Sequence[DecodedInput]], labels: str
) -> tuple[NetworkOutcome, ...]:
    """Return the outcomes with the average precision of boxes, if there are labels.

    Args:
        networks: Outcome of each network.
        inputs: Decoded inputs of each network.
        labels: File with the right boxes, or empty.

    Raises:
        N6Error: N6-QUANT-012 for labels that do not fit.
    """
    if not labels:
        return tuple(networks)
    from n6build.judge.accuracy.boxes import FoundBox, average_precision  # noqa: PLC0415 - planning measures nothing.

    judged = []
    for network, own in zip(networks, inputs, strict=True):
        found = [
            FoundBox(each.name, one.label, one.score, box_in_pixels(one, each.part))
            for each in own
            for one in each.decoded.found
            if one.width or one.height
        ]
        figures = average_precision(Path(labels), found, [each.name for each in own])
        judged.append(replace(network, average_precision=(figures.mean, figures.at_half)))
    return tuple(judged)
