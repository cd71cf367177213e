"""Step for checks.json, the results of the pre-flight checks.

The verdict is a separate step, so that a report is possible even if checks fail.

Step for checks.txt, the results of the checks in words. A failed check of severity error ends the
build here, before the board is programmed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from n6build.base.console import say
from n6build.base.errors import N6Error
from n6build.base.files import to_json, write_atomically
from n6build.base.paths import project_path
from n6build.check.checked_board import CheckedBoard, checked_board
from n6build.check.run import described, raise_if_failed, read_results, run_checks
from n6build.check.subject import CheckedModel, GivenPool, InstalledModel, NetworkSubject, Subject, given_pools
from n6build.compile.model_facts import ModelFacts, read_model_facts
from n6build.compile.runtimes import RuntimeVersion
from n6build.describe.hardware.board import Board
from n6build.describe.hardware.npu import Npu
from n6build.engine.step import Call, Step, to_parameters
from n6build.judge.npu.saturation import reach_of_network
from n6build.place.image.manifest import read_manifest
from n6build.place.image.program_board import ProgramBoard, program_board
from n6build.place.memory_plan.board_memory import models_memory_of
from n6build.place.memory_plan.plan import MemoryPlan, read_plan
from n6build.place.memory_plan.plan_tables import external_ram_parts
from n6build.place.reloc.openmv import refused_in_heap
from n6build.place.reloc.reader import read_reloc_file
from n6build.place.reloc.slots import executable_ram_part
from n6build.steps.compiled_network import NetworkFiles, NetworkSteps
from n6build.steps.foreign_image import GivenProgram, read_foreign_program


def verdict_step(output: str, checks: str) -> Step:
    """Return the step that prints the results of the checks.

    Args:
        output: Path of checks.txt.
        checks: Path of checks.json.
    """
    return Step(
        verb="Verdict",
        stage="checks",
        outputs=(output,),
        sources=(checks,),
        function="n6build.steps.checks:make_verdict",
        # The checks print their own lines.
        quiet=True,
    )


def make_verdict(call: Call) -> None:
    """Print the results, and write checks.txt unless a check has failed.

    Raises:
        N6Error: The error of the failed check.
    """
    results = read_results(call.sources[0])
    lines = list(described(results))
    for verb, text in lines:
        say(verb, text)
    raise_if_failed(results)
    write_atomically(call.outputs[0], "".join(f"{verb:<9}{text}\n" for verb, text in lines))


@dataclass(frozen=True)
class _Network(NetworkFiles):
    """A network as the checks receive it.

    Attributes:
        file: Model file, or None.
        facts: Facts about the model; None without a readable model file.
    """

    model: CheckedModel
    file: str | None
    facts: ModelFacts | None
    for_npu: bool
    has_blobs: bool
    pools: tuple[GivenPool, ...]


@dataclass(frozen=True)
class _Installed:
    """A relocatable model; its file is network_rel.bin."""

    model: str
    file: str


@dataclass(frozen=True)
class ChecksParameters:
    """Parameters of the step.

    Attributes:
        board: Board facts that the checks use.
        networks: Networks of the application.
        runtime: Linked runtime.
        installed: Relocatable models; empty for linked networks.
        load_mode: Load mode of relocatable models; empty without them.
        executable_ram: Bytes of executable RAM for relocatable models; 0 without them.
        external: External regions for relocatable models; empty without them.
        foreign: Third-party programs.
        programs: Board facts for reading third-party programs; None without them.
        npu: The chip's NPU; None without a network that has blobs.
        ports: Kinds of units in the order of the stream switch's sources, and of its destinations, which
            parameters do not keep in `npu`.
    """

    board: CheckedBoard
    networks: tuple[_Network, ...]
    runtime: RuntimeVersion
    installed: tuple[_Installed, ...]
    load_mode: str
    executable_ram: int
    external: tuple[str, ...]
    foreign: tuple[GivenProgram, ...]
    programs: ProgramBoard | None
    npu: Npu | None = None
    ports: tuple[tuple[str, ...], ...] = ()

    @property
    def ordered_npu(self) -> Npu | None:
        """Return the NPU with its ports in order."""
        if self.npu is None:
            return None
        sources, destinations = self.ports
        return replace(
            self.npu,
            sources={kind: self.npu.sources[kind] for kind in sources},
            destinations={kind: self.npu.destinations[kind] for kind in destinations},
        )


def checks_step(
    output: str,
    board: Board,
    networks: Sequence[NetworkSteps],
    plan: str,
    manifest: str,
    runtime: RuntimeVersion,
    installed: Sequence[tuple[NetworkSteps, str]],
    load_mode: str,
    foreign: Sequence[GivenProgram] = (),
) -> Step:
    """Return the step that runs the pre-flight checks.

    Args:
        output: Path of checks.json.
        board: Board of the application.
        networks: Compiled networks.
        plan: Path of memory_plan.json.
        manifest: Path of flash_manifest.json.
        runtime: Linked runtime.
        installed: Each relocatable model with its network_rel.bin; empty if networks are linked into
            the Appli.
        load_mode: Load mode of relocatable models.
        foreign: Third-party programs.
    """
    parameters = ChecksParameters(
        checked_board(board),
        tuple(_network(each) for each in networks),
        runtime,
        tuple(_Installed(network.model.name, file) for network, file in installed),
        load_mode if installed else "",
        board.soc.relocatable.executable_ram if installed else 0,
        models_memory_of(board).external if installed else (),
        tuple(foreign),
        program_board(board) if foreign else None,
        board.soc.npu if any(each.constants for each in networks) else None,
        (tuple(board.soc.npu.sources), tuple(board.soc.npu.destinations)),
    )
    unread = (each.file for each in parameters.networks if each.file and each.facts is None)
    return Step(
        verb="Check",
        stage="checks",
        outputs=(output,),
        sources=(
            plan,
            *([manifest] if foreign else []),
            *dict.fromkeys((*(file for each in networks for file in (*each.described, *each.constants)), *unread)),
            *(file for _, file in installed),
            *dict.fromkeys(file for program in foreign for file in program.sources),
        ),
        parameters=to_parameters(parameters),
        function="n6build.steps.checks:make_checks",
        # Third-party source lines have the paths that their compiler recorded. These differ in another folder.
        shared=not foreign,
    )


def _network(steps: NetworkSteps) -> _Network:
    model = steps.model
    file = project_path(model.file) if model.file else None
    types = model.network.input_type, model.network.output_type
    return _Network(
        steps.name,
        steps.folder,
        steps.weights,
        CheckedModel(model.name, model.waived, *types, model.postprocess, model.classes),
        file,
        # Planning must not read a file that a step makes: an older one may be there.
        _facts(model.file) if model.file and not model.float_file else None,
        steps.backend.for_npu,
        bool(steps.constants),
        given_pools(steps.pools),
    )


def _facts(file: Path) -> ModelFacts | None:
    """Return the facts of a model, or None for a file that the step will reject."""
    try:
        return read_model_facts(file)
    except N6Error:
        return None


def make_checks(call: Call) -> None:
    """Run all checks and write checks.json."""
    given = call.parameters_as(ChecksParameters)
    plan = read_plan(call.sources[0])
    subject = Subject(
        given.board,
        tuple(_subject(network, given.ordered_npu) for network in given.networks),
        plan,
        given.runtime,
        tuple(_installed(each, given, plan) for each in given.installed),
        tuple(read_foreign_program(each, given.programs) for each in given.foreign if given.programs),
        _appli_bytes(call.sources[1]) if given.foreign else 0,
    )
    write_atomically(call.outputs[0], to_json([asdict(result) for result in run_checks(subject)]))


def _appli_bytes(manifest: Path) -> int:
    return sum(each.length for each in read_manifest(manifest).segments if each.name == "appli")


def _subject(network: _Network, npu: Npu | None) -> NetworkSubject:
    file = Path(network.file) if network.file else None
    artifacts = network.artifacts()
    return NetworkSubject(
        model=network.model,
        for_npu=network.for_npu,
        artifacts=artifacts,
        pools=network.pools,
        facts=network.facts or (read_model_facts(file) if file else None),
        reach=reach_of_network(artifacts, npu) if network.has_blobs and npu else None,
    )


def _installed(model: _Installed, given: ChecksParameters, plan: MemoryPlan) -> InstalledModel:
    file = read_reloc_file(Path(model.file))
    heap = given.board.file_heap
    return InstalledModel(
        model.model,
        given.load_mode,
        file.copy_bytes if given.load_mode == "copy" else file.xip_bytes,
        executable_ram_part(given.executable_ram, len(given.installed)),
        file.context["external_ram_bytes"],
        external_ram_parts(plan, given.external)[0].size,
        refused_in_heap(file, heap) if heap else "",
    )
