"""Step for n6_trust_key.h, the public keys that the programs of a board trust."""

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
        points: Public keys, by their numbers.
        floor_word: Fuse word with the lowest accepted security counter.
        revoked_word: Fuse word that revokes keys.
        key_word: First fuse word of the key of encrypted images.
    """

    board: str
    points: tuple[str, ...]
    floor_word: int
    revoked_word: int
    key_word: int


def trust_header_step(folder: str, board: Board, trust: Trust) -> Step:
    """Return the step that writes <folder>/n6_trust_key.h."""
    return Step(
        verb="Header",
        stage="header",
        outputs=(f"{folder}/n6_trust_key.h",),
        parameters=to_parameters(
            TrustHeaderParameters(
                board.name,
                trust.points,
                board.soc.security_counter,
                board.soc.revoked_keys,
                board.soc.encryption_key,
            )
        ),
        templates=tuple(map(project_path, with_included(anchor.TEMPLATE))),
        function="n6build.steps.trust_header:make_trust_header",
    )


def make_trust_header(call: Call) -> None:
    """Write n6_trust_key.h."""
    given = call.parameters_as(TrustHeaderParameters)
    points = [bytes.fromhex(each) for each in given.points]
    words = given.floor_word, given.revoked_word, given.key_word
    write_atomically(call.outputs[0], trust_header(points, given.board, *words))
