"""A compiled network as later stages see it, independent of its backend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from n6build.base.paths import project_path
from n6build.compile.artifacts.description import NetworkArtifacts
from n6build.compile.artifacts.read_artifacts import read_artifacts
from n6build.compile.backend import Backend
from n6build.compile.memory_pools import MemoryPool
from n6build.describe.model import Model
from n6build.engine.step import Step
from n6build.judge.accuracy.figures import ACCURACY


@dataclass(frozen=True)
class NetworkFiles:
    """Files of a compiled network, as parameters of a step.

    Attributes:
        name: Name of the network's files.
        folder: Folder of the network's files.
        weights: Names of the raw files, which are not read.
    """

    name: str
    folder: str
    weights: tuple[str, ...]

    def artifacts(self) -> NetworkArtifacts:
        """Read the description of the network.

        Raises:
            N6Error: The errors of `read_artifacts`.
        """
        return read_artifacts(Path(self.folder), self.name, self.weights)


@dataclass(frozen=True)
class NetworkSteps:
    """A network of the application, with the step that compiles it.

    Attributes:
        model: Model of the network.
        name: Name of the network's files.
        folder: Folder of the network's files.
        backend: Backend that compiles it.
        pools: Memory pools passed to its compiler.
        step: Step that compiles it.
        kernels: C files of kernels that the network may call.
        seeded: Step that makes inputs; None if the model has inputs or nothing runs on them.
        is_sampled: These inputs are samples of the model, not random.
        before: Steps of stage 0, which make the int8 model and measure it.
    """

    model: Model
    name: str
    folder: str
    backend: Backend
    pools: tuple[MemoryPool, ...]
    step: Step
    kernels: tuple[Path, ...]
    seeded: Step | None = None
    is_sampled: bool = False
    before: tuple[Step, ...] = ()

    @property
    def files(self) -> NetworkFiles:
        """Return the files as parameters of a step."""
        return NetworkFiles(self.name, self.folder, self.weights)

    @property
    def inputs(self) -> str:
        """Return the file with the test vectors, or an empty text without any."""
        if self.seeded:
            return self.seeded.name
        return project_path(self.model.inputs) if self.model.inputs else ""

    @property
    def steps(self) -> tuple[Step, ...]:
        """Return the steps of stage 0 and the one that compiles the network."""
        return (*self.before, self.step)

    @property
    def figures(self) -> tuple[str, ...]:
        """Return the file with the accuracy of an int8 model made here, or none."""
        return tuple(output for step in self.before for output in step.outputs if output.endswith(ACCURACY))

    @property
    def outputs(self) -> tuple[str, ...]:
        """Return all files that the backend makes."""
        return self.step.outputs

    @property
    def raws(self) -> tuple[str, ...]:
        """Return the raw weight files, one for each memory pool."""
        return tuple(output for output in self.step.outputs if output.endswith(".raw"))

    @property
    def weights(self) -> tuple[str, ...]:
        """Return the file names of `raws`."""
        return tuple(Path(raw).name for raw in self.raws)

    @property
    def described(self) -> tuple[str, ...]:
        """Return the files that `read_artifacts` reads.

        They describe the network completely, except for the values of its weights.
        """
        return described_by(self.step.outputs)

    @property
    def constants(self) -> tuple[str, ...]:
        """Return the blobs and weights of a network with blobs; none of another one."""
        blobs = tuple(each for each in self.headers if each.endswith("_ecblobs.h"))
        return (*blobs, *self.raws) if blobs else ()

    @property
    def for_runs(self) -> tuple[str, ...]:
        """Return all outputs except the report.

        In the report, a compiler also names the model's file.
        """
        return tuple(output for output in self.step.outputs if not output.endswith(".txt"))

    @property
    def proved(self) -> tuple[str, ...]:
        """Return the headers with blobs of backend neural_art, or none of another backend.

        These blobs run in the model of the NPU before anything else runs them.
        """
        of_ours = any(output.endswith("_npu.json") for output in self.step.outputs)
        return tuple(output for output in self.step.outputs if of_ours and output.endswith("_ecblobs.h"))

    @property
    def c_files(self) -> tuple[str, ...]:
        """Return the C files that are linked into the Appli."""
        return tuple(
            each for each in self.step.outputs if each.endswith(".c") and not Path(each).name.startswith("stai_")
        )

    @property
    def headers(self) -> tuple[str, ...]:
        """Return the generated C headers."""
        return tuple(output for output in self.step.outputs if output.endswith(".h"))


def described_by(outputs: Sequence[str]) -> tuple[str, ...]:
    """Return the outputs of stage 1 that `read_artifacts` reads, without weights."""
    return tuple(output for output in outputs if output.endswith((".c", ".json")))
