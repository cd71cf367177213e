"""Grades of the epochs in blobs, read from the words that are sent to the NPU."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from n6build.compile.neural_art.blocks import Block
from n6build.describe.hardware.npu import Npu
from n6build.judge.npu.blobs import blob_of_words
from n6build.judge.npu.names import names_of
from n6build.judge.npu.settings import epochs_of_blob
from n6build.judge.own_blobs.envelope import Envelope, Finding, Grade, form_of, grade_of, judged


@dataclass(frozen=True)
class Graded:
    """An epoch with its grade.

    Attributes:
        findings: features of the epoch that were not seen as they are.
        form: form of the epoch, as `form_of` returns it.
    """

    epoch: int
    grade: Grade
    findings: tuple[Finding, ...]
    form: str = ""

    @property
    def worst(self) -> tuple[Finding, ...]:
        """The findings that decide the grade."""
        return tuple(each for each in self.findings if each.grade == self.grade)


def grades_of(
    blocks: Sequence[Block], npu: Npu, envelope: Envelope, confirmed: Collection[str] = frozenset()
) -> tuple[Graded, ...]:
    """Return the grade of each epoch, in their order.

    Args:
        blocks: blobs of the network.
        npu: the NPU of the chip.
        envelope: features seen of ST's compiler.
        confirmed: forms that a board has run.

    Raises:
        N6Error: N6-NPU-002, N6-NPU-003 for words that are not a blob.
    """
    names = names_of(npu)
    graded = []
    for block in blocks:
        for epoch in epochs_of_blob(blob_of_words(block.words, block.blob.name), names):
            findings = judged(epoch, names, envelope)
            form = form_of(epoch, names)
            grade = Grade.CONFIRMED if form in confirmed else grade_of(findings)
            graded.append(Graded(epoch.number, grade, tuple(findings), form))
    return tuple(graded)


def silicon_text(grades: Sequence[Graded]) -> str:
    """Return a text about the share of epochs that are known to work on silicon."""
    confirmed = sum(each.grade == Grade.CONFIRMED for each in grades)
    if not confirmed:
        return "not run on silicon"
    return f"{confirmed} of {len(grades)} epochs have a form that ran on a board; the others have not run on silicon"
