"""A compiled network as later stages know it, whichever backend has made it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from n6build.models.model import Model
from n6build.network.backend import Backend
from n6build.network.pools.memory_pools import MemoryPool
from n6build.plan.step import Step


@dataclass(frozen=True)
class NetworkSteps:
    """A network of the application. name: of its files. folder: that they are in. pools: that its compiler is given."""

    model: Model
    name: str
    folder: str
    backend: Backend
    pools: tuple[MemoryPool, ...]
    step: Step

    @property
    def outputs(self) -> tuple[str, ...]:
        return self.step.outputs

    @property
    def raws(self) -> tuple[str, ...]:
        """Weights, of one memory pool each."""
        return tuple(output for output in self.step.outputs if output.endswith(".raw"))

    @property
    def c_files(self) -> tuple[str, ...]:
        """What the Appli is linked with."""
        return tuple(
            each for each in self.step.outputs if each.endswith(".c") and not Path(each).name.startswith("stai_")
        )

    @property
    def headers(self) -> tuple[str, ...]:
        return tuple(output for output in self.step.outputs if output.endswith(".h"))
