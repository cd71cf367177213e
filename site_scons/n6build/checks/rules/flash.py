"""Checks of the flash. That images fit into their slots and share no sector is part of making the manifest, without which there
is nothing to program."""

from __future__ import annotations

from collections.abc import Iterator

from n6build.base.findings import Finding
from n6build.checks.check import check
from n6build.checks.subject import Subject


@check(
    "N6-CHECK-009", "relocatable models fit into their part of the slot", "error", lambda subject: subject.plan.models
)
def model_overflow(subject: Subject) -> Iterator[Finding]:
    """A model that reaches into the place of its own next version, or of its weights."""
    lengths = {segment.file: segment.length for segment in subject.manifest.segments}
    names = {network.artifacts.name: network.model.name for network in subject.networks}
    for model in subject.plan.models:
        part = model.slots[0]
        for file, room in ((model.file, part.file_bytes), (model.params_file, part.params_bytes)):
            beyond = lengths.get(file, 0) - room
            if beyond > 0:
                yield Finding(
                    f"{names[model.network]}: {file}",
                    f"is {beyond} bytes larger than its part of slot 'weights' ({room})",
                    "slots=1, fewer models, or a larger slot in board.yaml",
                )
