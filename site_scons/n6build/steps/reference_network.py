"""Backend reference: a .tflite file -> network.c, of which every epoch runs on the Cortex-M55."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from n6build.base.console import say
from n6build.base.files import remove_others
from n6build.base.paths import project_path
from n6build.base.templates import with_included
from n6build.models.model import Model, check_sha256
from n6build.network.pools.memory_pools import MemoryPool, initializer_pools
from n6build.network.reference.generated_c import RENDERED
from n6build.network.runtimes import Version
from n6build.plan.step import Call, Step, to_parameters


@dataclass(frozen=True)
class Parameters:
    """sha256: of the model file, as its description has it. ll_aton: version that the source is for."""

    name: str
    pools: tuple[MemoryPool, ...]
    sha256: str | None
    ll_aton: Version


def reference_network_step(folder: str, model: Model, pools: Sequence[MemoryPool], name: str, ll_aton: Version) -> Step:
    assert model.file is not None
    names = [f"{name}.c", f"{name}.h", f"{name}_c_info.json", f"{name}_generate_report.txt"]
    names += [f"{name}_atonbuf.{pool.fname}.raw" for pool in initializer_pools(pools)]
    return Step(
        verb="Network",
        stage="network",
        outputs=tuple(f"{folder}/{each}" for each in names),
        sources=(project_path(model.file),),
        parameters=to_parameters(Parameters(name, tuple(pools), model.sha256, ll_aton)),
        templates=tuple(project_path(path) for template in RENDERED for path in with_included(template)),
        function="n6build.steps.reference_network:make",
    )


def make(call: Call) -> None:
    from n6build.network.reference.compile import compile_network  # noqa: PLC0415 - planning compiles nothing.

    given = call.parameters_as(Parameters)
    model, folder = call.sources[0], call.outputs[0].parent
    check_sha256(model, given.sha256)
    say("Backend", "reference", "every epoch runs on the Cortex-M55")
    # What another tool has left there would be taken for this one's.
    remove_others(folder, {path.name for path in call.outputs})
    compile_network(Path(model), given.pools, folder, name=given.name, ll_aton=given.ll_aton)
