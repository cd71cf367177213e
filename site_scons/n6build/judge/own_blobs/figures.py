"""Reports about blobs: figures for programs, disassembly for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from n6build.base.files import to_json
from n6build.base.size_text import counted
from n6build.compile.neural_art.blocks import Block
from n6build.compile.neural_art.compile_epochs import IDENTITY, CompiledForNpu
from n6build.compile.neural_art.hardware_epoch import HardwareEpoch
from n6build.describe.hardware.npu import Npu
from n6build.judge.npu.blobs import blob_of_words
from n6build.judge.npu.disassemble import Label, instruction_lines, instructions
from n6build.judge.npu.names import names_of
from n6build.judge.own_blobs.confirmed import Confirmed
from n6build.judge.own_blobs.digests import digest
from n6build.judge.own_blobs.envelope import Envelope
from n6build.judge.own_blobs.grades import Graded, silicon_text
from n6build.judge.own_blobs.proof import Proof


@dataclass(frozen=True)
class Work:
    """The work for an operator, or for all operators.

    Attributes:
        name: common name of the epochs.
        epochs: number of epochs.
        macs: multiply-accumulates that the units execute.
        useful: multiply-accumulates of these that the model asks for.
        moved: bytes, counted each time that they are read or written.
    """

    name: str
    epochs: int
    macs: int
    useful: int
    moved: int

    @property
    def useful_text(self) -> str:
        """Text such as '53 % of 3,604,000 MACs', empty without MACs."""
        return f"{100 * self.useful / self.macs:.0f} % of {self.macs:,} MACs" if self.macs else ""


def work_of_operators(epochs: Iterable[HardwareEpoch]) -> list[Work]:
    """Return the work of each operator, in their order.

    A conversion to unsigned for an operator counts as an operator of its own.
    """
    found: dict[str, list[HardwareEpoch]] = {}
    for epoch in epochs:
        found.setdefault(epoch.node.partition("_part_")[0], []).append(epoch)
    return [_together(name, those) for name, those in found.items()]


def whole_work(epochs: Iterable[HardwareEpoch]) -> Work:
    """Return the work of all epochs together."""
    return _together("all", list(epochs))


def _together(name: str, epochs: list[HardwareEpoch]) -> Work:
    return Work(
        name,
        len(epochs),
        sum(epoch.macs for epoch in epochs),
        sum(epoch.useful for epoch in epochs),
        sum(epoch.moved for epoch in epochs),
    )


def work_lines(epochs: Iterable[HardwareEpoch]) -> Iterator[str]:
    """Yield the lines of a table of the work."""
    given = list(epochs)
    operators = work_of_operators(given)
    width = max(len(each.name) for each in operators)
    for each in (*operators, whole_work(given)):
        yield f"{each.name:<{width}}  {counted(each.epochs, 'epoch'):>10}  {each.moved:>11,} bytes  {each.useful_text}".rstrip()


def figures_json(
    compiled: CompiledForNpu, proof: Proof, grades: Sequence[Graded], envelope: Envelope, confirmed: Confirmed
) -> str:
    """Return the text of <network>_npu.json."""
    hardware = compiled.lowered.hardware
    by_epoch = {each.epoch: each for each in grades}
    epochs: list[dict[str, Any]] = [
        {
            "epoch": index,
            "node": epoch.node,
            "kind": epoch.kind,
            "operators": list(epoch.operators),
            "macs": epoch.macs,
            "useful_macs": epoch.useful,
            "bytes": epoch.moved,
            "grade": by_epoch[index].grade.word,
            "form": by_epoch[index].form,
            "failed_on_board": list(confirmed.warnings(epoch.kind, by_epoch[index].form)),
            "not_seen": [finding.what for finding in by_epoch[index].findings],
        }
        for index, epoch in sorted(hardware.items())
    ]
    return to_json(
        {
            "compiler": IDENTITY,
            "ran_on_silicon": False,
            "seen": {"networks": list(envelope.networks), "epochs": envelope.epochs},
            "epochs": epochs,
            "operators": [asdict(each) for each in work_of_operators(hardware.values())],
            "all": asdict(whole_work(hardware.values())),
            "on_cpu": [asdict(each) for each in compiled.lowered.on_cpu],
            "blobs": [_blob(block) for block in compiled.blocks],
            "kernels": len(compiled.kernels),
            "activations": compiled.placement.peak,
            "proof": asdict(proof),
        }
    )


def _blob(block: Block) -> dict[str, Any]:
    words = blob_of_words(block.words, block.blob.name).words
    return {"name": block.blob.name, "words": len(words), "sha256": digest(words)}


def listing(compiled: CompiledForNpu, grades: Sequence[Graded], npu: Npu, confirmed: Confirmed) -> str:
    """Return the text of <network>_npu.txt.

    It lists the cost of each operator, and the disassembly of each blob, with a line in front of
    each epoch that describes it.
    """
    names = names_of(npu)
    by_epoch = {each.epoch: each for each in grades}
    lines = [f"{IDENTITY}: {silicon_text(grades)}", "", *work_lines(compiled.lowered.hardware.values())]
    for block in compiled.blocks:
        blob = blob_of_words(block.words, block.blob.name)
        lines += ["", f"blob {blob.name}, {len(blob.words)} words"]
        for instruction in instructions(blob):
            if isinstance(instruction, Label):
                epoch = compiled.lowered.hardware[instruction.number]
                graded = by_epoch[instruction.number]
                lines.append(f"; {epoch.label}, {graded.grade.word}")
                lines += [f"; its kind failed in rung {each}" for each in confirmed.warnings(epoch.kind, graded.form)]
            lines += instruction_lines(instruction, names)
    return "".join(f"{line}\n" for line in lines)
