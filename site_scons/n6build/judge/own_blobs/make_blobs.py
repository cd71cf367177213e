"""The build step of backend neural_art.

It calibrates, compiles, grades each epoch by the features seen of ST's compiler, proves the blobs,
and writes them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass
from pathlib import Path

from n6build.base.caller import in_words_of_caller
from n6build.base.console import say
from n6build.base.errors import N6Error
from n6build.base.files import remove_others, write_atomically
from n6build.compile.backend import check_sha256
from n6build.compile.neural_art.backend import CHIP, NeuralArtNetworkParameters
from n6build.compile.neural_art.compile_epochs import CompiledForNpu, Request, compile_for_npu
from n6build.compile.neural_art.layer import Calibration
from n6build.compile.reference.compile_model import graph_of
from n6build.compile.reference.graph import Graph
from n6build.describe.hardware.soc import Soc, load_soc
from n6build.engine.step import Call
from n6build.judge.own_blobs.agreement import Agreement
from n6build.judge.own_blobs.confirmed import Confirmed, read_confirmed
from n6build.judge.own_blobs.envelope import Envelope, Grade, read_envelope
from n6build.judge.own_blobs.figures import figures_json, listing, whole_work, work_of_operators
from n6build.judge.own_blobs.grades import Graded, grades_of, silicon_text
from n6build.judge.own_blobs.layers import Known, agreements_by_key, agreements_of_layers, layers_of, run_layers
from n6build.judge.own_blobs.model_program import find_program
from n6build.judge.own_blobs.proof import FURTHEST, LEAST_EQUAL, Proof, imprecise, prove, require_agreement, run_forced
from n6build.judge.own_blobs.reference_tensors import ReferenceTensors, reference_tensors
from n6build.judge.own_blobs.structure import require_structure

_SILICON = "experimental: not run on silicon"


@dataclass(frozen=True)
class Attempt:
    """The common inputs of all attempts to compile.

    Attributes:
        program: the model of the NPU.
        vectors: tensors of the vectors that the proof runs on.
        envelope: features seen of ST's compiler.
        forms: forms of epochs that boards have run.
        allowed: allowed grades, besides seen and smaller.
    """

    soc: Soc
    program: Path
    request: Request
    graph: Graph
    calibration: Calibration
    vectors: ReferenceTensors
    envelope: Envelope
    forms: Set[str] = frozenset()
    allowed: Set[Grade] = frozenset()

    def grades(self, compiled: CompiledForNpu) -> tuple[Graded, ...]:
        """Return the grades of all epochs on the NPU."""
        return grades_of(compiled.blocks, self.soc.npu, self.envelope, self.forms)


def make_blobs(call: Call) -> None:
    """Compile a model for the NPU, and prove and write its blobs.

    Raises:
        N6Error: N6-MODEL-006, N6-LADDER-002, N6-NPU-010 to N6-NPU-015; the errors of
            `compile_for_npu` and `reference_tensors`.
    """
    given = call.parameters_as(NeuralArtNetworkParameters)
    model, calibration_file, vectors_file, envelope_file = call.sources[:4]
    soc = load_soc(next(path for path in call.sources if path.name == CHIP.name))
    check_sha256(model, given.sha256)
    envelope = read_envelope(envelope_file)
    confirmed = read_confirmed(call.sources[4 : 4 + given.records])
    say("Backend", "neural_art", _SILICON)
    graph = graph_of(model)
    vectors = reference_tensors(model, graph, vectors_file)
    same = calibration_file == vectors_file
    calibrated = vectors if same else reference_tensors(model, graph, calibration_file)
    request = Request(model, given.name, given.pools, given.ll_aton, given.roomier, given.guard)
    calibration = Calibration(calibrated.values, given.margin)
    allowed = {Grade[name.upper()] for name in given.allow}
    attempt = Attempt(soc, find_program(soc), request, graph, calibration, vectors, envelope, confirmed.forms, allowed)
    compiled, proof = compiled_and_proved(attempt)
    require_agreement(proof, model.name)
    require_structure(compiled.blocks, soc.npu)
    grades = attempt.grades(compiled)
    _tell(compiled, proof, grades, confirmed)
    require_grades(grades, allowed, model.name)
    files = {
        **compiled.files,
        f"{given.name}_npu.json": figures_json(compiled, proof, grades, envelope, confirmed),
        f"{given.name}_npu.txt": listing(compiled, grades, soc.npu, confirmed),
    }
    remove_others(call.outputs[0].parent, {path.name for path in call.outputs})
    for path in call.outputs:
        write_atomically(path, files[path.name])


def compiled_and_proved(given: Attempt) -> tuple[CompiledForNpu, Proof]:
    """Compile until the operators on the NPU are precise enough, and prove the blobs.

    Operators that are too imprecise on the NPU are cut into more epochs. Operators that remain too
    imprecise, or then have epochs that are not allowed, stay on the CPU. The proof is a run of the
    very blobs that are returned; before that, unchanged layers are not run again.
    `require_agreement` judges larger deviations.

    Raises:
        N6Error: N6-NPU-011; the errors of `compile_for_npu`.
    """
    kept: dict[int, str] = {}
    apart: set[int] = set()
    known: Known = {}
    while True:
        compiled = compile_for_npu(given.soc.npu, given.request, given.graph, given.calibration, kept, apart)
        more = imprecise(_of_layers(given, compiled, known), compiled)
        refused = {} if more else _not_allowed(given, compiled, apart)
        if not more and not refused:
            forced = _of_blobs(given, compiled, known)
            more = imprecise(forced, compiled)
            if not more:
                return compiled, prove(given.program, compiled, given.vectors, forced)
        kept |= refused
        for operator, agreement in more.items():
            if operator not in apart:
                apart.add(operator)
                continue
            kept[operator] = (
                f"in the model of the NPU only {100 * agreement.equal:.2f} % of its output equal "
                f"{given.vectors.by}'s, furthest {agreement.furthest}; {100 * LEAST_EQUAL:.0f} % are required, and "
                f"all within {FURTHEST}"
            )


def _of_layers(given: Attempt, compiled: CompiledForNpu, known: Known) -> Sequence[Agreement]:
    """Return the agreements of all layers, and run those that are not known yet.

    The result is empty before the first run of blobs, and if layers cannot run alone.
    """
    layers = layers_of(compiled, given.vectors)
    if not known or layers is None:
        return ()
    new = {layer.key: layer for layer in layers if layer.key not in known}
    known.update(run_layers(given.soc.npu, given.program, compiled, tuple(new.values()), given.vectors))
    return agreements_of_layers(layers, known)


def _of_blobs(given: Attempt, compiled: CompiledForNpu, known: Known) -> Sequence[Agreement]:
    forced = run_forced(given.program, compiled, given.vectors)
    known.update(agreements_by_key(layers_of(compiled, given.vectors) or (), forced))
    return forced


def _not_allowed(given: Attempt, compiled: CompiledForNpu, operators: Set[int]) -> dict[int, str]:
    """Return the operators that have an epoch of a refused grade, with the reason."""
    found = {}
    for each in given.grades(compiled):
        made = compiled.lowered.hardware[each.epoch].operators
        if made and made[-1] in operators and _is_refused(each, given.allowed):
            found[made[-1]] = (
                f"too imprecise as one epoch, and in several epochs unlike those of ST's compiler: {each.worst[0].what}"
            )
    return found


def _is_refused(graded: Graded, allowed: Set[Grade]) -> bool:
    return graded.grade > Grade.SMALLER and graded.grade not in allowed


def require_grades(grades: Sequence[Graded], allowed: Set[Grade], model: str) -> None:
    """Check the grades of all epochs. allowed: grades besides seen and smaller.

    Raises:
        N6Error: N6-NPU-013 with every epoch of another grade, and the reason.
    """
    refused = [each for each in grades if _is_refused(each, allowed)]
    if not refused:
        return
    lines = [f"epoch {each.epoch}: {finding.what}" for each in refused for finding in each.worst]
    words = sorted({each.grade.word for each in refused})
    indent = "\n    "
    what = (
        f"{len(refused)} of {len(grades)} epochs differ from those seen in outputs of ST's "
        f"compiler:{indent}{indent.join(lines)}"
    )
    hint = (
        f"add your own compiled networks with tools/npu_envelope.py, or accept it without proof: "
        f"network.neural_art.allow: [{', '.join(words)}] in model.yaml"
    )
    raise N6Error("N6-NPU-013", what, where=model, hint=hint)


def _tell(compiled: CompiledForNpu, proof: Proof, grades: Sequence[Graded], confirmed: Confirmed) -> None:
    lowered = compiled.lowered
    words = sum(len(block.words) for block in compiled.blocks)
    on_npu = f"{len(lowered.hardware)} of {len(lowered.network.epochs)} on the NPU"
    say("Epochs", on_npu, f"{len(compiled.blocks)} blobs of {words:,} words; experimental: {silicon_text(grades)}")
    work, operators = whole_work(lowered.hardware.values()), work_of_operators(lowered.hardware.values())
    each_takes = f"{work.epochs / len(operators):.1f} epochs an operator"
    useful = f"{work.useful_text} are of the model; " if work.macs else ""
    say(
        "Work",
        f"{work.moved:,} bytes moved by the NPU",
        f"{each_takes}; {useful}{in_words_of_caller('scons time')} shows the expected time",
    )
    for each in lowered.on_cpu:
        say("On CPU", f"operator {each.index} ({each.operator})", each.why)
    counted = Counter(each.grade for each in grades)
    told = ", ".join(f"{counted[grade]} {grade.word}" for grade in Grade if counted[grade])
    say("Grades", told, "of all epochs, compared with outputs of ST's compiler")
    for graded in grades:
        if graded.grade > Grade.SMALLER:
            say("Grade", f"epoch {graded.epoch} {graded.grade.word}", "; ".join(each.what for each in graded.worst))
        kind = lowered.hardware[graded.epoch].kind
        for rung in confirmed.warnings(kind, graded.form):
            say("Warning", f"epoch {graded.epoch}, {kind}", f"a board failed with this kind, in rung {rung}")
    _tell_proof(proof)


def _tell_proof(proof: Proof) -> None:
    elements = sum(each.elements for each in proof.forced)
    equal = sum(each.equal * each.elements for each in proof.forced) / elements
    furthest = max(each.furthest for each in proof.forced)
    agreed = f"{elements:,} elements on {proof.vectors} vectors, {100 * equal:.2f} % equal, furthest {furthest}"
    say("Forced", f"{len(proof.forced)} tensors in the model of the NPU", agreed)
    last = next(each for each in proof.free if each.buffer == proof.last)
    found = (
        f"{100 * last.equal:.1f} % equal, furthest {last.furthest}; the same largest element on {proof.same_class} of "
        f"{proof.vectors} vectors"
    )
    say("Free", f"{proof.last} in the model of the NPU", found)
