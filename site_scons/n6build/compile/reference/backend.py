"""The backend `reference`, which compiles a model for the Cortex-M55 alone.

It reads a .tflite or .onnx file and writes network.c, in which every epoch runs on the Cortex-M55.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from n6build.base.console import say
from n6build.base.environment import CORE_DIR
from n6build.base.errors import N6Error
from n6build.base.files import remove_others
from n6build.base.paths import project_path
from n6build.base.size_text import counted
from n6build.base.templates import with_included
from n6build.compile.backend import Backend, Compilation, ModelSource, check_sha256, has_no_options, require_file
from n6build.compile.kernel_files import all_kernel_files, files_of_kernels
from n6build.compile.ll_aton import Version
from n6build.compile.memory_pools import MemoryPool, RoomierProfile, initializer_pools
from n6build.compile.reference.network_sources import RENDERED
from n6build.engine.step import Call, Step, to_parameters

_READS = (".tflite", ".onnx")


@dataclass(frozen=True)
class NetworkParameters:
    """Parameters of a step that compiles a model.

    Attributes:
        name: Name of the network.
        pools: Memory pools of the profile.
        sha256: Digest of the model file in the model's description, or None.
        ll_aton: Version of the runtime that the source is for.
        roomier: Profiles of the board with more RAM.
    """

    name: str
    pools: tuple[MemoryPool, ...]
    sha256: str | None
    ll_aton: Version
    roomier: tuple[RoomierProfile, ...]


def _check(source: ModelSource) -> None:
    file = require_file("reference", source)
    if file.suffix not in _READS:
        what = f"the reference backend reads {' and '.join(_READS)}, not {file.suffix}"
        hint = f"set {CORE_DIR} to use ST's tool, or convert the model to .tflite or .onnx"
        raise N6Error("N6-NET-024", what, where=file.name, hint=hint)


def _step(given: Compilation) -> Step:
    return Step(
        verb="Network",
        stage="network",
        outputs=tuple(f"{given.folder}/{each}" for each in output_names(given)),
        sources=(project_path(require_file("reference", given.source)),),
        parameters=to_parameters(
            NetworkParameters(given.name, given.pools, given.source.sha256, given.ll_aton, given.roomier)
        ),
        templates=tuple(project_path(path) for template in RENDERED for path in with_included(template)),
        function="n6build.compile.reference.backend:make_reference_network",
    )


def output_names(given: Compilation) -> list[str]:
    """Return the names of the files that describe and hold a network."""
    name = given.name
    names = [f"{name}.c", f"{name}.h", f"{name}_c_info.json", f"{name}_generate_report.txt"]
    return [*names, *(f"{name}_atonbuf.{pool.fname}.raw" for pool in initializer_pools(given.pools))]


def kernels_of_model(given: Compilation) -> tuple[Path, ...]:
    """Return the sources of the kernels, or none if the model cannot be compiled.

    In that case the network's step reports the error.
    """
    if given.source.is_made:
        # The linker removes those that the network does not call.
        return all_kernel_files()
    from n6build.compile.reference.compile_model import kernels_of  # noqa: PLC0415 - only where a plan is made.

    try:
        return files_of_kernels(kernels_of(require_file("reference", given.source)))
    except N6Error:
        return ()


BACKEND = Backend(
    name="reference",
    preference=0,
    strict=True,
    exact=True,
    for_npu=False,
    suits=lambda source, _: source.file is not None,
    check=_check,
    check_options=has_no_options,
    step=_step,
    kernels=kernels_of_model,
)


def make_reference_network(call: Call) -> None:
    """Compile the model.

    Raises:
        N6Error: N6-MODEL-006 if the model file is not the described one; also the errors of
            `compile_network`.
    """
    from n6build.compile.reference.compile_model import compile_network  # noqa: PLC0415 - planning compiles nothing.

    given = call.parameters_as(NetworkParameters)
    model, folder = call.sources[0], call.outputs[0].parent
    check_sha256(model, given.sha256)
    say("Backend", "reference", "every epoch runs on the Cortex-M55")
    # Files that another tool left there would be mistaken for this one's.
    remove_others(folder, {path.name for path in call.outputs})
    compiled = compile_network(
        Path(model), given.pools, folder, name=given.name, ll_aton=given.ll_aton, roomier=given.roomier
    )
    if model.suffix == ".onnx":
        left = compiled.transposes
        say("Channels", "behind height and width", f"{counted(left, 'transposition')} left")
    if compiled.in_float32:
        first, *others = compiled.in_float32
        more = f" and {len(others)} more" if others else ""
        say(
            "Float32",
            f"{first}{more}",
            "the model does not quantise these, and their weights take four times the memory",
        )
    for operator, doubt in compiled.doubts.items():
        say("Warning", operator, doubt)
    for use in compiled.external:
        say("Memory", f"external RAM {use.pool.name} {use}")
