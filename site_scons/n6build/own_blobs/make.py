"""The step of backend neural_art: calibrates, compiles, judges each epoch by what was seen, proves the blobs, writes."""

from __future__ import annotations

from pathlib import Path

from n6build.base.console import say
from n6build.base.files import remove_others, write_atomically
from n6build.hardware.npu import Npu
from n6build.hardware.soc import load_soc
from n6build.network.backend import check_sha256
from n6build.network.neural_art.backend import CHIP, Parameters
from n6build.network.neural_art.compile import CompiledForNpu, Request, compile_for_npu
from n6build.network.neural_art.layer import Calibration
from n6build.network.reference.compile import graph_of
from n6build.own_blobs.figures import figures_json, listing
from n6build.own_blobs.model_program import find_program
from n6build.own_blobs.proof import Proof, prove, require_agreement
from n6build.own_blobs.reference_tensors import reference_tensors
from n6build.plan.step import Call

_SILICON = "experimental: nothing of it has run on silicon"


def make(call: Call) -> None:
    """Raises N6-MODEL-006, what `compile_for_npu` and `reference_tensors` raise, N6-NPU-01x."""
    given = call.parameters_as(Parameters)
    model, calibration_file, vectors_file, _ = call.sources[:4]
    soc = load_soc(next(path for path in call.sources if path.name == CHIP.name))
    check_sha256(model, given.sha256)
    say("Backend", "neural_art", _SILICON)
    graph = graph_of(model)
    vectors = reference_tensors(model, graph, vectors_file)
    same = calibration_file == vectors_file
    calibrated = vectors if same else reference_tensors(model, graph, calibration_file)
    compiled = compile_for_npu(
        soc.npu,
        Request(model, given.name, given.pools, given.ll_aton, given.roomier),
        graph,
        Calibration(calibrated.values, given.margin),
    )
    proof = prove(find_program(soc), compiled, vectors)
    require_agreement(proof, model.name)
    _tell(compiled, proof)
    _write(call.outputs, compiled, proof, soc.npu, given.name)


def _tell(compiled: CompiledForNpu, proof: Proof) -> None:
    lowered = compiled.lowered
    count = len(lowered.network.epochs)
    on_npu = len(lowered.hardware)
    words = sum(len(block.words) for block in compiled.blocks)
    say("Epochs", f"{on_npu} of {count} on the NPU", f"{len(compiled.blocks)} blobs of {words:,} words; {_SILICON}")
    for each in lowered.on_cpu:
        say("On CPU", f"operator {each.index} ({each.operator})", each.why)
    forced = proof.forced
    elements = sum(each.elements for each in forced)
    equal = sum(each.equal * each.elements for each in forced) / elements
    furthest = max(each.furthest for each in forced)
    say(
        "Forced",
        f"{len(forced)} tensors in the model of the NPU",
        f"{elements:,} elements on {proof.vectors} vectors, {100 * equal:.2f} % equal, furthest {furthest}",
    )
    last = next(each for each in proof.free if each.buffer == proof.last)
    say(
        "Free",
        f"{proof.last} in the model of the NPU",
        f"{100 * last.equal:.1f} % equal, furthest {last.furthest}; the same largest element on {proof.same_class} of "
        f"{proof.vectors} vectors",
    )


def _write(outputs: tuple[Path, ...], compiled: CompiledForNpu, proof: Proof, npu: Npu, name: str) -> None:
    folder = outputs[0].parent
    remove_others(folder, {path.name for path in outputs})
    files = {
        **compiled.files,
        f"{name}_npu.json": figures_json(compiled, proof),
        f"{name}_npu.txt": listing(compiled, npu),
    }
    for path in outputs:
        write_atomically(path, files[path.name])
