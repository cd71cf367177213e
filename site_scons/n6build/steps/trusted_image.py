"""Images of this project, signed with the key of option trust_key: the Appli, and what goes into flash slots."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from n6build.base.files import file_size, read_bytes, write_atomically
from n6build.formats.model_trailer import TRAILER as MODEL_TRAILER
from n6build.formats.slot_trailer import TRAILER as SLOT_TRAILER
from n6build.formats.trust_claim import Kind
from n6build.plan.step import Call, Step, to_parameters
from n6build.reloc.reader import read_reloc_file
from n6build.reloc.slots import trailer_offset
from n6build.trust.choice import Trust
from n6build.trust.keys import signature
from n6build.trust.sign import SlotParts, Statement, signed_appli, signed_slot

# Folder of images as they are before.
UNSIGNED = "unsigned"
Content = Literal["appli", "data", "model", "params"]
_KINDS: dict[Content, Kind] = {"appli": Kind.APPLI, "data": Kind.DATA, "model": Kind.MODEL, "params": Kind.DATA}


@dataclass(frozen=True)
class Parameters:
    """key: file of the private key. point: its public half. counter: the image's security counter. board: name of the one that
    it is for."""

    content: Content
    key: str
    point: str
    counter: int
    board: str


def trusted_step(output: str, unsigned: str, content: Content, board: str, trust: Trust, file: str = "") -> Step:
    """unsigned: the image. content: 'data' for weights and vectors of a linked network, 'params' for weights that are split off
    a model. board: its name. file: of a model or its split weights, as it is without a trailer."""
    counter = trust.counters.of(_KINDS[content])
    return Step(
        verb="Sign",
        stage="image",
        outputs=(output,),
        sources=(unsigned, *([file] if file else ())),
        parameters=to_parameters(Parameters(content, trust.key, trust.point, counter, board)),
        # Its public half is a parameter; the file itself may move, or get another password.
        state=(trust.key,),
        function="n6build.steps.trusted_image:make",
        # Made with a key that not everybody has.
        shared=False,
    )


def make(call: Call) -> None:
    """Writes the signed image; of one that is empty, an empty one."""
    given = call.parameters_as(Parameters)
    image = read_bytes(call.sources[0])
    statement = Statement(_KINDS[given.content], given.counter, given.board)
    sign = partial(signature, Path(given.key), bytes.fromhex(given.point))
    if image and given.content == "appli":
        image = signed_appli(image, statement, sign)
    elif image:
        image = signed_slot(image, _parts(image, given.content, call.sources), statement, sign)
    write_atomically(call.outputs[0], image)


def _parts(image: bytes, content: Content, sources: tuple[Path, ...]) -> SlotParts:
    if content == "data":
        # Nothing follows the trailer, and nothing is in front of the data.
        at = len(image) - SLOT_TRAILER.size
        return SlotParts(SLOT_TRAILER.unpack(image, at)["bytes"], 0, at)
    file_bytes = file_size(sources[1])
    weights = 0 if content == "params" else _weights_offset(sources[1])
    changing = tuple(MODEL_TRAILER.offset_of(name) for name in ("revision", "trailer_crc32"))
    return SlotParts(file_bytes, weights, trailer_offset(file_bytes), changing)


def _weights_offset(file: Path) -> int:
    model = read_reloc_file(file)
    return model.file_bytes if model.is_split else model.params_offset
