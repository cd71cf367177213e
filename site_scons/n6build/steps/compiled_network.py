"""A compiled network as later stages know it, whichever backend made it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from n6build.base.paths import project_path
from n6build.models.model import Model
from n6build.network.backend import Backend
from n6build.network.pools.memory_pools import MemoryPool
from n6build.plan.step import Step


@dataclass(frozen=True)
class NetworkSteps:
    """A network of the application. name: of its files. folder: of its files. pools: given to its compiler. kernels: C files
    of those that it may call. seeded: makes its inputs; None where its model has some, or nothing runs on them."""

    model: Model
    name: str
    folder: str
    backend: Backend
    pools: tuple[MemoryPool, ...]
    step: Step
    kernels: tuple[Path, ...]
    seeded: Step | None = None

    @property
    def inputs(self) -> str:
        """The file with its test vectors, empty where it has none."""
        if self.seeded:
            return self.seeded.name
        return project_path(self.model.inputs) if self.model.inputs else ""

    @property
    def outputs(self) -> tuple[str, ...]:
        """All files that the backend makes."""
        return self.step.outputs

    @property
    def raws(self) -> tuple[str, ...]:
        """Files of weights, one for each memory pool."""
        return tuple(output for output in self.step.outputs if output.endswith(".raw"))

    @property
    def weights(self) -> tuple[str, ...]:
        """Names of `raws`."""
        return tuple(Path(raw).name for raw in self.raws)

    @property
    def described(self) -> tuple[str, ...]:
        """What says all about the network but the values of its weights: what `read_artifacts` reads."""
        return described_by(self.step.outputs)

    @property
    def for_runs(self) -> tuple[str, ...]:
        """All but the report, in which a compiler names the model's file as well."""
        return tuple(output for output in self.step.outputs if not output.endswith(".txt"))

    @property
    def proved(self) -> tuple[str, ...]:
        """Headers with the blobs of backend neural_art, which runs them in the model of the NPU before anything else does."""
        of_ours = any(output.endswith("_npu.json") for output in self.step.outputs)
        return tuple(output for output in self.step.outputs if of_ours and output.endswith("_ecblobs.h"))

    @property
    def c_files(self) -> tuple[str, ...]:
        """C files that are linked into the Appli."""
        return tuple(
            each for each in self.step.outputs if each.endswith(".c") and not Path(each).name.startswith("stai_")
        )

    @property
    def headers(self) -> tuple[str, ...]:
        """Generated C headers."""
        return tuple(output for output in self.step.outputs if output.endswith(".h"))


def described_by(outputs: Sequence[str]) -> tuple[str, ...]:
    """outputs: of stage 1. Those of them that `read_artifacts` reads, without weights."""
    return tuple(output for output in outputs if output.endswith((".c", ".json")))
