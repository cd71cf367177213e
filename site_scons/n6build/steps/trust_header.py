"""Step for n6_trust_key.h, the public key that the programs of a board trust."""

from __future__ import annotations

from dataclasses import dataclass

from n6build.base.files import write_atomically
from n6build.base.paths import project_path
from n6build.base.templates import with_included
from n6build.describe.hardware.board import Board
from n6build.engine.step import Call, Step, to_parameters
from n6build.place.trust import anchor
from n6build.place.trust.anchor import trust_header
from n6build.place.trust.choice import Trust


@dataclass(frozen=True)
class TrustHeaderParameters:
    """Parameters of the step.

    Attributes:
        board: Name of the board.
        point: Public key.
        floor_word: Fuse word with the lowest accepted security counter.
    """

    board: str
    point: str
    floor_word: int


def trust_header_step(folder: str, board: Board, trust: Trust) -> Step:
    """Return the step that writes <folder>/n6_trust_key.h."""
    return Step(
        verb="Header",
        stage="header",
        outputs=(f"{folder}/n6_trust_key.h",),
        parameters=to_parameters(TrustHeaderParameters(board.name, trust.point, board.soc.security_counter)),
        templates=tuple(map(project_path, with_included(anchor.TEMPLATE))),
        function="n6build.steps.trust_header:make_trust_header",
    )


def make_trust_header(call: Call) -> None:
    """Write n6_trust_key.h."""
    given = call.parameters_as(TrustHeaderParameters)
    write_atomically(call.outputs[0], trust_header(bytes.fromhex(given.point), given.board, given.floor_word))
