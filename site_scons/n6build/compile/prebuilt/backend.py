"""Backend prebuilt: output of ST's compiler from elsewhere, with n6build's names.

Check that weights are those of the model beside a network. Weights of another network may have the
same size. Each constant of the model is in the weights with the same values in another order, so
that counting values finds a mix-up without a run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from n6build.base.console import say
from n6build.base.errors import N6Error
from n6build.base.files import is_file, read_at_most, remove_others
from n6build.base.paths import project_path
from n6build.compile.artifacts.description import InitializerImage
from n6build.compile.artifacts.network_c import SourceBuffer, read_network_c
from n6build.compile.artifacts.read_artifacts import read_artifacts
from n6build.compile.backend import Backend, Compilation, ModelSource, has_no_options
from n6build.compile.kernel_files import files_of_calls
from n6build.compile.model_constants import SMALLEST, counts_of, int8_constants
from n6build.compile.prebuilt.imported import MAX_WEIGHTS_BYTES, import_network
from n6build.describe.compiled_folder import PrebuiltNetwork, WeightsFile, find_network, weights_name
from n6build.describe.compiled_from import require_origin
from n6build.engine.step import Call, Step, to_parameters

# One or two buffers say little: a compiler may change a layer. Of seven networks of ST's compiler at least nine tenths match.
_FEWEST, _LEAST_SHARE = 3, 0.25


def require_weights_of(model: Path, folder: Path, name: str, weights: tuple[str, ...]) -> None:
    """Refuse weights that are not those of a model.

    Args:
        model: File of the model.
        folder: Folder of stage 1 with network.c and raw files.
        name: Name of the network.
        weights: Names of the raw files.

    Raises:
        N6Error: N6-PRE-006 if hardly any of its buffers has the values of a constant of the model.
    """
    import numpy as np  # noqa: PLC0415 - planning compares no weights.

    constants = int8_constants(model)
    params = [buffer for buffer in read_network_c(folder / f"{name}.c").params if buffer.type == "int8"]
    stored = dict(_stored(params, read_artifacts(folder, name, weights).initializers))
    other = [name for name, data in stored.items() if counts_of(np.frombuffer(data, np.uint8)) not in constants]
    if not constants or len(stored) < _FEWEST or len(stored) - len(other) >= _LEAST_SHARE * len(stored):
        return
    raise N6Error(
        "N6-PRE-006",
        f"are not the weights of {model.name}: {len(other)} of {len(stored)} buffers with weights have other values "
        f"than each constant of the model, {other[0]} first",
        where=", ".join(weights),
        hint="use network.c and weights of the same run of the compiler, and the model that they were compiled from",
    )


def _stored(params: Sequence[SourceBuffer], images: Sequence[InitializerImage]) -> Iterator[tuple[str, bytes]]:
    """Yield the names and bytes of buffers in raw files."""
    for image in images:
        if not is_file(image.file):
            continue
        data = read_at_most(image.file, MAX_WEIGHTS_BYTES)
        for buffer in params:
            size = buffer.offset_end - buffer.offset_start
            at = buffer.offset_start + (0 if buffer.base is None else buffer.base - image.address)
            if buffer.pool == image.fname and size >= SMALLEST and 0 <= at <= len(data) - size:
                yield buffer.name, data[at : at + size]


@dataclass(frozen=True)
class PrebuiltNetworkParameters:
    """The files of a network, by their positions among the sources.

    network.c is the first, `others` follow it, then weights, one file for each of `pools`, at last
    the model that it was compiled from, if that is known.
    """

    name: str
    others: int
    pools: tuple[str, ...]


def import_step(folder: str, found: PrebuiltNetwork, model: Path | None = None) -> Step:
    """Return the step that copies the files of a network into a folder.

    Args:
        folder: Output folder.
        found: Files of the network.
        model: Model that the network is said to be compiled from, or None.
    """
    compared = (model,) if model else ()
    return Step(
        verb="Network",
        stage="network",
        outputs=tuple(f"{folder}/{each}" for each in found.outputs),
        sources=tuple(map(project_path, (*found.inputs, *compared))),
        parameters=to_parameters(
            PrebuiltNetworkParameters(found.name, len(found.others), tuple(each.pool for each in found.weights))
        ),
        function="n6build.compile.prebuilt.backend:make_prebuilt_network",
    )


def called_kernels(found: PrebuiltNetwork) -> tuple[Path, ...]:
    """Return the C files of the kernels that a network calls, if any.

    Raises:
        N6Error: N6-FILE-002, N6-FILE-003, N6-FILE-006.
    """
    return files_of_calls(found.source)


def _folder(source: ModelSource) -> Path:
    if source.folder is None:
        hint = "set network.folder in model.yaml to the folder of the compiled network"
        raise N6Error("N6-NET-024", "no compiled network is given", where=source.name, hint=hint)
    return source.folder


def _check(source: ModelSource) -> None:
    _folder(source)


def _found(given: Compilation) -> PrebuiltNetwork:
    return find_network(_folder(given.source), given.name)


def _step(given: Compilation) -> Step:
    return import_step(given.folder, _found(given), given.source.file)


BACKEND = Backend(
    name="prebuilt",
    preference=2,
    strict=False,
    exact=False,
    for_npu=False,
    suits=lambda source, _: source.folder is not None,
    check=_check,
    check_options=has_no_options,
    step=_step,
    kernels=lambda given: called_kernels(_found(given)),
    takes_pools=False,
)


def make_prebuilt_network(call: Call) -> None:
    """Write the files of the network.

    Raises:
        N6Error: As `import_network`, `require_origin` and `require_weights_of`.
    """
    network, models = _network(call.parameters_as(PrebuiltNetworkParameters), call.sources)
    say("Backend", "prebuilt", f"{len(network.inputs)} files of {network.source.absolute().parent.name}")
    for model in models:
        if network.c_info:
            require_origin(network.c_info, model)
    # Files that another tool left there would be mistaken for files of this network.
    remove_others(call.outputs[0].parent, {path.name for path in call.outputs})
    import_network(network, call.outputs[0].parent)
    raws = tuple(weights_name(network.name, each.pool) for each in network.weights)
    for model in models:
        require_weights_of(model, call.outputs[0].parent, network.name, raws)


def _network(given: PrebuiltNetworkParameters, files: tuple[Path, ...]) -> tuple[PrebuiltNetwork, tuple[Path, ...]]:
    """Return the network, and the model if it is to be compared."""
    weights = 1 + given.others
    end = weights + len(given.pools)
    network = PrebuiltNetwork(
        name=given.name,
        source=files[0],
        others=files[1:weights],
        weights=tuple(WeightsFile(pool, file) for pool, file in zip(given.pools, files[weights:end], strict=True)),
    )
    return network, files[end:]
