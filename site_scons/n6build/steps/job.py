"""Common inputs of one application's steps: choices, and tools of this machine."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from n6build.base.environment import Environment
from n6build.base.errors import N6Error
from n6build.base.paths import MODELS
from n6build.base.same_fields import with_fields_of
from n6build.board.run.ladder import RUNGS, WHOLE
from n6build.compile.application.vision_project import VisionProject, is_project, read_vision_project
from n6build.compile.device_headers import check_device_header
from n6build.compile.ll_aton import version_text
from n6build.compile.runtime_files import project_around
from n6build.compile.runtimes import Runtime, own_runtime, st_runtime, without_unknown_flags
from n6build.compile.toolchain import Toolchain, find_toolchain
from n6build.describe.choices import AUTO, Choices
from n6build.describe.hardware.board import FIELD, RESET_CLOCK, Board
from n6build.describe.hardware.boards import home_of_board, known_boards, load_board
from n6build.describe.model import Model, load_model, models_folder
from n6build.describe.targets import LADDER
from n6build.place.memory_plan.plan import application_name
from n6build.place.reloc.openmv import Firmware, check_version, read_firmware
from n6build.place.trust.choice import Trust
from n6build.place.trust.encryption import Encryption
from n6build.steps.foreign_model import as_the_models_are
from n6build.steps.goal_checks import ALL_BOARDS
from n6build.steps.network import Stage1
from n6build.steps.quantise_model import with_int8_file
from n6build.steps.reloc_networks import ModelOptions
from n6build.steps.signing_settings import trust_of

# Goals that need no compiled firmware.
_WITHOUT_FIRMWARE = frozenset({"network", "reloc", "romfs", "flash-model", "time"})


@dataclass(frozen=True)
class Job:
    """Common inputs of the steps of one application.

    Attributes:
        choices: Choices of the command line.
        environment: Tools and paths of this machine.
        board: Board with the choices applied.
        models: Models of the application.
        runtime: Linked runtime.
        toolchain: Compiler and linker.
        folder: Folder of the application.
        board_folder: Folder of files that all applications of a board share.
        notes: Folder for the output of tools about themselves; None to keep nothing.
        trust: Signature settings; None if nothing is signed.
        project: Third-party project that the network is put into; None for another program.
    """

    choices: Choices
    environment: Environment
    board: Board
    models: tuple[Model, ...]
    runtime: Runtime
    toolchain: Toolchain
    folder: str
    board_folder: str
    notes: Path | None
    trust: Trust | None
    project: VisionProject | None = None

    @property
    def encryption(self) -> Encryption | None:
        """Return the key of encrypted images; None if they are not encrypted."""
        return self.trust.encryption if self.trust else None

    @property
    def virtual_board(self) -> str:
        """Return the folder of the virtual board, with its NOR and its record."""
        parts = (self.choices.build, "virtual_board", self.board.name, self.choices.pair)
        return "/".join(part for part in parts if part)

    @property
    def flags(self) -> tuple[str, ...]:
        """Return the surrounding project's C flags that this compiler knows."""
        return tuple(without_unknown_flags(list(self.choices.c_flags)))

    @property
    def model_options(self) -> ModelOptions:
        """Return the options of stage 2."""
        return with_fields_of(ModelOptions, self, self.choices, c_file=self.choices.gen_c_file)

    @property
    def stage1(self) -> Stage1:
        """Return the inputs of stage 1."""
        return with_fields_of(Stage1, self, self.choices)


def job_of(choices: Choices, environment: Environment, notes: Path | None) -> Job:
    """Return the common inputs of the application's steps.

    Args:
        choices: Choices of the command line.
        environment: Tools and paths of this machine.
        notes: Folder for the output of tools about themselves; None to keep nothing.

    Raises:
        N6Error: N6-BOARD-00x, N6-MODEL-00x, N6-TRUST-00x, N6-TOOL-00x or N6-LLATON-00x if a chosen item
            does not exist.
    """
    launched = Path(choices.launched)
    models = (
        rungs()
        if choices.ladder
        else tuple(load_model(name, models_folder(name), relative_to=launched) for name in choices.models)
    )
    choices = as_the_models_are(choices, models)
    models = tuple(with_int8_file(each, choices) for each in models)
    if choices.name and models:
        models = (replace(models[0], network=replace(models[0].network, name=choices.name)), *models[1:])
    board = _board(choices)
    environment = environment_of(choices, environment)
    project = _project(choices, board)
    if project is None:
        runtime = runtime_of(choices, environment)
    else:
        # The project links its own runtime. Its code calls the network by a name.
        runtime = st_runtime(project.root, tuple(map(Path, choices.cmsis)))
        models = tuple(replace(each, network=replace(each.network, name=_name(each, project))) for each in models)
    if choices.firmware and not choices.romfs:
        runtime = runtime_for(read_firmware(choices.firmware, launched), runtime)
    toolchain = find_toolchain(environment, notes)
    trust = trust_of(choices)
    board_folder = f"{choices.build}/{board.name}{FIELD if choices.field else ''}"
    board_folder += f"-{LADDER}" if choices.ladder else ""
    board_folder += f"-ll_aton-{version_text(runtime.version)}" if choices.firmware and not choices.romfs else ""
    board_folder += f"-trust-{trust.level}" if trust else ""
    board_folder += "-encrypted" if trust and trust.encryption else ""
    folder = f"{board_folder}/{_application_folder(choices, models)}"
    return Job(choices, environment, board, models, runtime, toolchain, folder, board_folder, notes, trust, project)


def _project(choices: Choices, board: Board) -> VisionProject | None:
    """Return the project in option appli, or None for a program in a file.

    Raises:
        N6Error: N6-APP-035 without a single model; N6-APP-03x for a folder that is not such a project.
    """
    if not is_project(choices.appli):
        return None
    if len(choices.models) != 1 or choices.loader == "reloc":
        what = "a project in option appli needs one model to put into it, linked"
        hint = "add model=FILE; to use the project's own network, build it and name its ELF file in appli="
        raise N6Error("N6-APP-035", what, where=choices.appli, hint=hint)
    return read_vision_project(Path(choices.appli), board.title)


def _name(model: Model, project: VisionProject) -> str | None:
    """Return the name of a network; one that was compiled elsewhere keeps its own."""
    return model.network.name if model.prebuilt else project.symbol


def _board(choices: Choices) -> Board:
    """Return the board with the chosen alias and clock."""
    board = load_board(choices.board, home_of_board(choices.board))
    board.profile(choices.profile)
    if not choices.secure:
        board = replace(board, alias="non-secure")
    if "max-speed" in choices.modes:
        return replace(board, clock=board.max_speed)
    if choices.clock:
        return replace(board, clock=board.at_clock(choices.clock))
    if choices.is_foreign and RESET_CLOCK in board.soc.clock_profiles and board.clock.profile.dividers:
        # ST's HAL refuses to change a PLL while the CPU runs on it (stm32n6xx_hal_rcc.c, HAL_RCC_OscConfig), and programs of
        # STM32CubeMX stop there for ever.
        return replace(board, clock=board.at_clock(RESET_CLOCK))
    return board


def _application_folder(choices: Choices, models: Sequence[Model]) -> str:
    application = LADDER if choices.ladder else application_name([model.name for model in models])
    profile = "" if choices.profile == "extflash" else f"-{choices.profile}"
    loader = "-reloc" if choices.loader == "reloc" else ""
    whose = f"-{choices.program.name}" if choices.program else "-foreign" if choices.is_foreign else ""
    return f"{application}{profile}{loader}{whose}"


def rungs() -> tuple[Model, ...]:
    """Return the networks of target ladder, in their order.

    Small ones made for the ladder come first, then a whole one that comes with n6build.
    """
    return (*(load_model(each.name, MODELS / LADDER) for each in RUNGS), load_model(WHOLE, MODELS))


def environment_of(choices: Choices, environment: Environment) -> Environment:
    """Return the environment with option core in place of STEDGEAI_CORE_DIR.

    ST's runtime and ST's compiler are searched there.

    Raises:
        N6Error: N6-LLATON-002 if core=auto finds no project.
    """
    if not choices.core:
        return environment
    automatic = choices.core == AUTO
    return environment.with_core(project_around(Path(choices.launched)) if automatic else Path(choices.core))


def runtime_of(choices: Choices, environment: Environment) -> Runtime:
    """Return ST's runtime if the environment names a core, else n6build's.

    Raises:
        N6Error: N6-LLATON-00x if ST's runtime cannot be used.
    """
    start = Path(choices.launched)
    cmsis = tuple(project_around(start) if folder == AUTO else Path(folder) for folder in choices.cmsis)
    return st_runtime(environment.core, cmsis) if environment.core else own_runtime()


def runtime_for(firmware: Firmware, runtime: Runtime) -> Runtime:
    """Return the runtime of models for another firmware.

    Args:
        firmware: Firmware that installs the models.
        runtime: Runtime of the build. ST's has its own version; n6build's takes the version of the
            firmware.

    Raises:
        N6Error: N6-ROMFS-010 if ST's runtime has another version than the firmware.
    """
    if runtime.name == "n6build":
        return own_runtime(firmware.ll_aton)
    check_version(runtime.version, firmware, "the ll_aton of STEDGEAI_CORE_DIR")
    return runtime


def boards_of(choices: Choices) -> tuple[str, ...]:
    """Return the names of the requested boards; the build is for the first one.

    With board=all, the first one is the default board, and all other known boards follow.
    """
    if choices.board != ALL_BOARDS:
        return (choices.board,)
    usual = Choices().board
    return usual, *(name for name in known_boards() if name != usual)


def check_device(job: Job, goals: Collection[str]) -> None:
    """Check that ST's runtime has device headers if a goal needs firmware.

    Args:
        job: Common inputs of the steps.
        goals: Goals of the command line; empty for the default goals.

    Raises:
        N6Error: N6-LLATON-005 if device headers are missing.
    """
    # Skip goals that are single files: for these, the compiler reports missing headers.
    wanted = {goal for goal in goals if "/" not in goal}
    if not goals or wanted - _WITHOUT_FIRMWARE:
        check_device_header(job.runtime.foreign_folders, job.flags)
