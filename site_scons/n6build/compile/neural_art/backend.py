"""Backend neural_art: blobs for the NPU, without ST's tool.

It compiles a .tflite or .onnx file. It is experimental and never chosen by itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from n6build.base.errors import N6Error
from n6build.base.files import files_in
from n6build.base.paths import BOARDS, ROOT, own_folder, project_path
from n6build.base.templates import with_included
from n6build.base.yaml_schema import FileName, Range, Section
from n6build.compile.backend import Backend, Compilation, ModelSource, require_file
from n6build.compile.neural_art import blob_header
from n6build.compile.reference.backend import NetworkParameters, kernels_of_model, output_names
from n6build.compile.reference.network_sources import RENDERED
from n6build.engine.step import Step, to_parameters

# Grades of epochs beyond those that were seen of ST's compiler.
Allowed = Literal["larger", "unseen"]


@dataclass(frozen=True)
class NpuOptions:
    """Options of backend neural_art in a model.yaml.

    Attributes:
        calibration: Name of an .npy file beside the model.yaml with inputs that decide how large
            sums may become. By default these are the test vectors.
        margin: Factor by which sums may be larger than on those inputs.
        allow: Grades of epochs that are accepted besides those that were seen. `larger` accepts
            sizes beyond those seen, `unseen` accepts further kinds.
        envelope: Name of a file beside the model.yaml with the kinds and sizes that were seen,
            instead of n6build's.
        guard: Bytes before and behind each buffer that no epoch may write, 0 for none. They are
            inputs and outputs of the network, behind those of the model. Target ladder fills them
            before each inference and checks them after it.
    """

    calibration: FileName | None = None
    margin: Annotated[float, Range(1, 64)] = 1.5
    allow: tuple[Allowed, ...] = field(default_factory=tuple)
    envelope: FileName | None = None
    guard: Annotated[int, Range(0, 4096)] = 0


NAME = "neural_art"
# Kinds, sizes and bits of registers that were seen of ST's compiler.
ENVELOPE = ROOT / "boards" / "npu" / "envelope.yaml"
# Records of target ladder on boards. The user puts them there, in the project's own folder of boards.
CONFIRMED = Path("npu/confirmed")
# All chips of the family have this NPU.
CHIP = BOARDS / "soc" / "stm32n657.yaml"
MODEL_OF_NPU = ROOT / "tools" / "virtual_board"
REPLAY = ROOT / "tools" / "npu_replay" / "n6npu_replay.c"


@dataclass(frozen=True)
class NeuralArtNetworkParameters(NetworkParameters):
    """Parameters of the step that compiles a model.

    The step's files are: model, vectors of the calibration, test vectors, envelope; then records of
    boards, then those of the chip and of the NPU's model.

    Attributes:
        margin: As in `NpuOptions`.
        guard: As in `NpuOptions`.
        allow: As in `NpuOptions`.
        records: Number of records of boards.
    """

    margin: float
    guard: int
    allow: tuple[Allowed, ...]
    records: int


def _check(source: ModelSource) -> None:
    file = require_file(NAME, source)
    if file.suffix not in (".tflite", ".onnx"):
        what = f"backend {NAME} reads .tflite and .onnx, not {file.suffix}"
        raise N6Error("N6-NET-024", what, where=file.name, hint="convert the model, quantised to int8")
    if source.vectors is None and not _options(source).calibration:
        what = f"backend {NAME} needs vectors: it scales sums by their size"
        hint = "set vectors.inputs or network.neural_art.calibration in model.yaml"
        raise N6Error("N6-NET-032", what, where=source.name, hint=hint)


def _check_options(section: Section) -> None:
    section.load(NpuOptions)


def _options(source: ModelSource) -> NpuOptions:
    return source.options.load(NpuOptions) if source.options else NpuOptions()


def _beside(source: ModelSource, file: str | None) -> Path | None:
    return source.described_in / file if source.described_in and file else None


def _step(given: Compilation) -> Step:
    """Return the step that compiles the model.

    Raises:
        N6Error: N6-NET-031 if a pool has no address, before anything is built.
    """
    from n6build.compile.neural_art.placement import require_addresses  # noqa: PLC0415 - only a plan needs it.

    require_addresses(given.pools)
    source, name = given.source, given.name
    options = _options(source)
    calibration = _beside(source, options.calibration) or source.vectors
    assert calibration is not None
    vectors = source.vectors or calibration
    envelope = _beside(source, options.envelope) or ENVELOPE
    source_file, header, info, report, *raws = output_names(given)
    names = [source_file, header, f"{name}_ecblobs.h", info, report, f"{name}_npu.json", f"{name}_npu.txt", *raws]
    records = files_in(own_folder(BOARDS) / CONFIRMED, "*.json")
    files = (require_file(NAME, source), calibration, vectors, envelope, *records)
    chip = files_in(CHIP.parent, "stm32n6*.yaml")
    of_model = (REPLAY, *files_in(MODEL_OF_NPU, "n6npu.h"), *files_in(MODEL_OF_NPU, "n6virt_npu_*.[ch]"))
    rendered = (*RENDERED, blob_header.TEMPLATE, MODEL_OF_NPU / "n6npu_registers.h.j2")
    parameters = NeuralArtNetworkParameters(
        name,
        given.pools,
        source.sha256,
        given.ll_aton,
        given.roomier,
        options.margin,
        options.guard,
        options.allow,
        len(records),
    )
    return Step(
        verb="Network",
        stage="network",
        outputs=tuple(f"{given.folder}/{each}" for each in names),
        sources=tuple(map(project_path, (*files, *chip, *of_model))),
        parameters=to_parameters(parameters),
        templates=tuple(project_path(path) for template in rendered for path in with_included(template)),
        function="n6build.judge.own_blobs.make_blobs:make_blobs",
    )


BACKEND = Backend(
    name=NAME,
    preference=-1,
    strict=True,
    exact=False,
    for_npu=True,
    suits=lambda *_: False,
    check=_check,
    check_options=_check_options,
    step=_step,
    kernels=kernels_of_model,
)
