"""What is told of blobs besides themselves: figures for programs, their disassembly for people."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from n6build.base.files import to_json
from n6build.hardware.npu import Npu
from n6build.network.neural_art.compile import IDENTITY, CompiledForNpu
from n6build.npu.blobs import blob_of_words
from n6build.npu.disassemble import blob_lines
from n6build.npu.names import names_of
from n6build.own_blobs.proof import Proof


def figures_json(compiled: CompiledForNpu, proof: Proof) -> str:
    """<network>_npu.json."""
    hardware = compiled.lowered.hardware
    epochs: list[dict[str, Any]] = [
        {
            "epoch": index,
            "node": epoch.node,
            "kind": epoch.kind,
            "operators": list(epoch.operators),
            "macs": epoch.macs,
            "useful_macs": epoch.useful,
            "bytes": epoch.moved,
        }
        for index, epoch in sorted(hardware.items())
    ]
    return to_json(
        {
            "compiler": IDENTITY,
            "epochs": epochs,
            "on_cpu": [asdict(each) for each in compiled.lowered.on_cpu],
            "blobs": [{"name": block.blob.name, "words": len(block.words)} for block in compiled.blocks],
            "kernels": len(compiled.kernels),
            "activations": compiled.placement.peak,
            "proof": asdict(proof),
        }
    )


def listing(compiled: CompiledForNpu, npu: Npu) -> str:
    """<network>_npu.txt: each blob, disassembled, behind the epochs that are in it."""
    names = names_of(npu)
    lines = [f"{IDENTITY}: nothing of it has run on silicon"]
    for block in compiled.blocks:
        lines += ["", *blob_lines(blob_of_words(block.words, block.blob.name), names)]
    return "".join(f"{line}\n" for line in lines)
