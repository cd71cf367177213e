"""Step that signs the Appli or an image of a flash slot, with option trust_key."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from n6build.base.files import file_size, read_bytes, write_atomically
from n6build.describe.formats.model_trailer import TRAILER as MODEL_TRAILER
from n6build.describe.formats.slot_trailer import TRAILER as SLOT_TRAILER
from n6build.describe.formats.trust_claim import Kind
from n6build.engine.step import Call, Step, to_parameters
from n6build.place.reloc.reader import read_reloc_file
from n6build.place.reloc.slots import trailer_offset
from n6build.place.trust.anchor import subject
from n6build.place.trust.choice import Trust
from n6build.place.trust.keys import signature
from n6build.place.trust.sign import SlotParts, Statement, signed_appli, signed_slot

# Folder of images before they are signed.
UNSIGNED = "unsigned"
Content = Literal["appli", "weights", "vectors", "model", "params"]
_KINDS: dict[Content, Kind] = {
    "appli": Kind.APPLI,
    "weights": Kind.DATA,
    "vectors": Kind.DATA,
    "model": Kind.MODEL,
    "params": Kind.DATA,
}


@dataclass(frozen=True)
class Subject:
    """The content of an image.

    Attributes:
        content: Kind of the content.
        model: Name of the model; empty for an Appli.
        file: File of the network compiler with these weights; empty for other contents.
    """

    content: Content
    model: str = ""
    file: str = ""


@dataclass(frozen=True)
class TrustedImageParameters:
    """Parameters of the step.

    Attributes:
        subject: Content of the image.
        key: File of the private key.
        point: Public half of the key.
        counter: Security counter of the image.
        board: Name of the board that the image is for.
    """

    subject: Subject
    key: str
    point: str
    counter: int
    board: str


def trusted_step(output: str, unsigned: str, of: Subject, board: str, trust: Trust, file: str = "") -> Step:
    """Return the step that signs an image.

    Args:
        output: Path of the signed image.
        unsigned: Path of the image.
        of: Content of the image.
        board: Name of the board.
        trust: Signature settings.
        file: File of a model or its split weights, without a trailer.
    """
    counter = trust.counters.of(_KINDS[of.content])
    return Step(
        verb="Sign",
        stage="image",
        outputs=(output,),
        sources=(unsigned, *([file] if file else ())),
        parameters=to_parameters(TrustedImageParameters(of, trust.key, trust.point, counter, board)),
        # The public half of the key is a parameter. The key file is only a state: it may move, or get another password.
        state=(trust.key,),
        function="n6build.steps.trusted_image:make_trusted_image",
        # The image needs a private key that only some users have.
        shared=False,
    )


def make_trusted_image(call: Call) -> None:
    """Write the signed image; an empty image stays empty."""
    given = call.parameters_as(TrustedImageParameters)
    image = read_bytes(call.sources[0])
    content = given.subject.content
    identity = subject(content, given.subject.model, given.subject.file)
    statement = Statement(_KINDS[content], given.counter, given.board, identity)
    sign = partial(signature, Path(given.key), bytes.fromhex(given.point))
    if image and content == "appli":
        image = signed_appli(image, statement, sign)
    elif image:
        image = signed_slot(image, _parts(image, content, call.sources), statement, sign)
    write_atomically(call.outputs[0], image)


def _parts(image: bytes, content: Content, sources: tuple[Path, ...]) -> SlotParts:
    if content in {"weights", "vectors"}:
        # The data begins at the start of the image, and the trailer ends it.
        at = len(image) - SLOT_TRAILER.size
        return SlotParts(SLOT_TRAILER.unpack(image, at)["bytes"], 0, at)
    file_bytes = file_size(sources[1])
    weights = 0 if content == "params" else _weights_offset(sources[1])
    changing = tuple(MODEL_TRAILER.offset_of(name) for name in ("revision", "trailer_crc32"))
    return SlotParts(file_bytes, weights, trailer_offset(file_bytes), changing)


def _weights_offset(file: Path) -> int:
    model = read_reloc_file(file)
    return model.file_bytes if model.is_split else model.params_offset
