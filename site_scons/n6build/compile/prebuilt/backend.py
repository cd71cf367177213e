"""Backend prebuilt: output of ST's compiler from elsewhere, with n6build's names."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from n6build.base.console import say
from n6build.base.errors import N6Error
from n6build.base.files import remove_others
from n6build.base.paths import project_path
from n6build.compile.backend import Backend, Compilation, ModelSource, has_no_options
from n6build.compile.kernel_files import files_of_calls
from n6build.compile.prebuilt.imported import import_network
from n6build.compile.prebuilt.model_weights import require_weights_of
from n6build.describe.compiled_folder import PrebuiltNetwork, WeightsFile, find_network, weights_name
from n6build.describe.compiled_from import require_origin
from n6build.engine.step import Call, Step, to_parameters


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
