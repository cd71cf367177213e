"""Flash addresses of the weights of networks.

An image has the address that its network fixes, or follows those images in slot `weights`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from n6build.base.errors import N6Error
from n6build.base.span import Span
from n6build.compile.artifacts.description import NetworkArtifacts
from n6build.compile.artifacts.signature import network_signature
from n6build.describe.hardware.slots import BoardFlash, NorArea, next_sector, slots_around, weights_slot
from n6build.place.memory_plan.plan import PlannedImage
from n6build.place.memory_plan.slot_image import weights_slot_file


def plan_images(flash: BoardFlash, networks: Sequence[NetworkArtifacts]) -> tuple[PlannedImage, ...]:
    """Return the weights of the networks with their flash addresses.

    Weights of a pool in the NOR are at the address of the pool, even outside slot 'weights'. The others
    follow in slot 'weights', each on its own sector.

    Args:
        flash: Flash slots of the board.
        networks: Artifacts of the networks.

    Raises:
        N6Error: N6-PLAN-001 if there is too little room; N6-PLAN-008 if weights cannot be at their
            address.
    """
    slot = flash.slots.weights
    unplaced = [image for network in networks for image in _images_of(network, flash.nor, len(networks))]
    fixed = [image for image in unplaced if image.source]
    for image in fixed:
        _check_fixed(image, flash, networks)
    inside = [image.source_end for image in fixed if image.source < slot.end and image.source_end > slot.address]
    source = max((next_sector(flash, end) for end in inside), default=slot.address)
    planned = []
    for image in unplaced:
        placed = image
        if not image.source:
            # The linker gives a relative pool the address of its image.
            destination = source if image.relative else image.destination
            placed = replace(image, source=source, destination=destination)
            source = next_sector(flash, placed.source_end)
        if weights_slot(flash, placed.source) == "weights" or placed is not image:
            _check_in_slot(placed, flash)
        planned.append(placed)
    return tuple(planned)


def elsewhere(flash: BoardFlash, images: Sequence[PlannedImage]) -> list[tuple[PlannedImage, list[str]]]:
    """Return the images outside slot 'weights', with the slots that they shrink."""
    left = slots_around(flash, spans_of(images))
    whole = dict(flash.slots.items())
    return [
        (
            image,
            [
                name
                for name, slot in whole.items()
                if left[name] != slot and image.source < slot.end and slot.address < image.source_end
            ],
        )
        for image in images
        if weights_slot(flash, image.source) != "weights"
    ]


def spans_of(images: Iterable[PlannedImage]) -> list[Span]:
    """Return the flash spans of the images, trailers included."""
    return [Span(image.source, image.source_end - image.source) for image in images]


def _check_in_slot(image: PlannedImage, flash: BoardFlash) -> None:
    slot = flash.slots.weights
    beyond = image.source_end - slot.end
    if beyond > 0:
        what = f"the weights of pool {image.pool} need {beyond} bytes more than slot 'weights' has ({slot.size})"
        raise N6Error("N6-PLAN-001", what, where=f"boards/{flash.name}/board.yaml: slots.weights")


def _check_fixed(image: PlannedImage, flash: BoardFlash, networks: Sequence[NetworkArtifacts]) -> None:
    """Check that this project's programs leave room for weights at a fixed address.

    The manifest checks all other overlaps.
    """
    where = next(network.source.name for network in networks if network.name == image.network)
    hint = "compile the network for this board: run tools/pools.py board BOARD PROFILE to write its pools"
    what = f"the weights of pool {image.pool} must be at 0x{image.source:08X}"
    if image.source % flash.nor.sector:
        what += f", which is not a boundary of {flash.nor.sector}-byte sectors"
        raise N6Error("N6-PLAN-008", what, where=where, hint=hint)
    beyond = image.source_end - flash.nor.end
    if beyond > 0 and weights_slot(flash, image.source) != "weights":
        what += f" and need {beyond} bytes more than the NOR has from there"
        raise N6Error("N6-PLAN-001", what, where=where, hint=hint)
    for program, slot in (("FSBL", flash.slots.fsbl), ("Appli", flash.slots.appli)):
        if image.source <= slot.address < image.source_end:
            what += f"..0x{image.source_end:08X}, but the {program} begins at 0x{slot.address:08X}"
            raise N6Error("N6-PLAN-008", what, where=where, hint=hint)


def _images_of(artifacts: NetworkArtifacts, nor: NorArea, networks: int) -> list[PlannedImage]:
    """Return the images of a network; `source` is 0 if the pool is not in the NOR."""
    signature = network_signature(artifacts.source)
    return [
        PlannedImage(
            network=artifacts.name,
            pool=image.fname,
            file=image.file.name,
            slot_file=weights_slot_file(image.file.name, artifacts.name, networks),
            source=image.address if nor.base <= image.address < nor.end else 0,
            destination=image.address,
            bytes=image.bytes,
            signature=signature,
            relative=image.relative,
        )
        for image in artifacts.initializers
        if image.bytes
    ]
