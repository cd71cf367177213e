"""Backend prebuilt: what ST's compiler has left somewhere, brought to the names that the other backends give."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from n6build.base.console import say
from n6build.base.files import remove_others
from n6build.base.paths import project_path
from n6build.models.model import Model
from n6build.network.prebuilt.folder import PrebuiltNetwork, WeightsFile, find_network, import_network
from n6build.plan.step import Call, Step, to_parameters


@dataclass(frozen=True)
class Parameters:
    """The files of a network, as places among the sources: network.c is the first, `others` follow it, then weights, one file for
    each of `pools`, and the rest are C arrays of weights."""

    name: str
    others: int
    pools: tuple[str, ...]


def prebuilt_network_step(folder: str, model: Model, name: str) -> Step:
    assert model.prebuilt is not None
    return import_step(folder, find_network(model.prebuilt, name))


def import_step(folder: str, found: PrebuiltNetwork) -> Step:
    return Step(
        verb="Network",
        stage="network",
        outputs=tuple(f"{folder}/{each}" for each in found.outputs),
        sources=tuple(map(project_path, found.inputs)),
        parameters=to_parameters(Parameters(found.name, len(found.others), tuple(each.pool for each in found.weights))),
        function="n6build.steps.prebuilt_network:make",
    )


def make(call: Call) -> None:
    network = _network(call.parameters_as(Parameters), call.sources)
    say("Backend", "prebuilt", f"{len(network.inputs)} files of {network.source.absolute().parent.name}")
    # What another tool has left there would be taken for this one's.
    remove_others(call.outputs[0].parent, {path.name for path in call.outputs})
    import_network(network, call.outputs[0].parent)


def _network(given: Parameters, files: tuple[Path, ...]) -> PrebuiltNetwork:
    weights = 1 + given.others
    arrays = weights + len(given.pools)
    return PrebuiltNetwork(
        name=given.name,
        source=files[0],
        others=files[1:weights],
        weights=tuple(WeightsFile(pool, file) for pool, file in zip(given.pools, files[weights:arrays], strict=True)),
        weight_sources=files[arrays:],
    )
