"""The pipeline in its order: from models to a checked inference on a board, as one plan.

Goals: build (default), network, check, hex, reloc, romfs; flash, flash-all, flash-model, run and report where they are asked for,
since a board has to be named for them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from n6build.base.environment import Environment
from n6build.base.errors import N6Error, did_you_mean
from n6build.base.paths import project_path
from n6build.compiler.toolchain import Toolchain, find_toolchain
from n6build.flash.receipt import VIRTUAL
from n6build.hardware.boards import Board, load_board
from n6build.image.boot_header import BinaryType
from n6build.image.romfs_manifest import DEFAULT_PROFILE, RomfsEntry, read_manifest
from n6build.image.signing import find_keys, find_signing_tool
from n6build.memory_plan.plan import Content
from n6build.models.model import Model, load_model
from n6build.network.runtimes import Runtime, own_runtime, st_runtime, without_unknown_flags
from n6build.options.choices import Choices
from n6build.plan.plan import Plan, make_plan
from n6build.plan.step import Step, outputs_of
from n6build.steps.app_headers import app_headers_steps
from n6build.steps.checks import checks_step
from n6build.steps.compiled_network import NetworkSteps
from n6build.steps.firmware import Program, Signing, appli, board_firmware, fsbl, image_step, reloc_appli
from n6build.steps.firmware_hex import firmware_hex_step
from n6build.steps.flash_board import Target, flash_board_step, target_of
from n6build.steps.flash_manifest import FlashPart, flash_manifest_step
from n6build.steps.flash_models import flash_models_step
from n6build.steps.memory_plan import memory_plan_step
from n6build.steps.network import Stage1, network_steps
from n6build.steps.reloc import ModelOptions, ModelSteps, reloc_network, reloc_plan
from n6build.steps.reloc_pool_table import reloc_pool_table_step
from n6build.steps.reloc_summary import reloc_summary_step
from n6build.steps.report import report_step
from n6build.steps.romfs import romfs_step
from n6build.steps.run_board import Session, run_board_step
from n6build.steps.sizes import sizes_step
from n6build.steps.start_board import start_board_step
from n6build.steps.vectors_image import vectors_image_step
from n6build.steps.verdict import verdict_step
from n6build.steps.weights_image import weights_image_step

FLASHING = frozenset({"flash", "flash-all", "flash-model"})
_ON_A_BOARD = FLASHING | {"run"}


@dataclass(frozen=True)
class _Setting:
    """What the steps of one application are made for. folder: of the application, board_folder: of what all of a board share."""

    choices: Choices
    environment: Environment
    board: Board
    models: tuple[Model, ...]
    runtime: Runtime
    toolchain: Toolchain
    folder: str
    board_folder: str
    notes: Path | None

    @property
    def virtual_board(self) -> str:
        parts = (self.choices.build, "virtual_board", self.board.name, self.choices.pair)
        return "/".join(part for part in parts if part)

    @property
    def model_options(self) -> ModelOptions:
        choices = self.choices
        return ModelOptions(
            secure=choices.secure,
            split=choices.split,
            c_file=choices.gen_c_file,
            debug_info=choices.debug_info,
            flags=_flags(choices),
        )

    @property
    def stage1(self) -> Stage1:
        choices = self.choices
        return Stage1(
            self.board, choices.profile, choices.backend, choices.loader, self.runtime, self.environment, self.notes
        )


@dataclass(frozen=True)
class _Images:
    """What lies in flash. plan: of the memory. programs, weights: in the order of the manifest."""

    plan: Step
    programs: tuple[FlashPart, ...]
    weights: tuple[FlashPart, ...]
    fsbl: Program
    appli: Program
    steps: tuple[Step, ...]
    models: tuple[tuple[NetworkSteps, ModelSteps], ...]

    @property
    def elves(self) -> tuple[str, str]:
        return self.fsbl.elf, self.appli.elf

    @property
    def parts(self) -> tuple[FlashPart, ...]:
        return (*self.programs, *self.weights)


def application_plan(
    choices: Choices, environment: Environment, goals: Collection[str], programmer: str = "", notes: Path | None = None
) -> Plan:
    """goals: what is asked for; those that need a board are in the plan only then. programmer: name of the one that was chosen
    for them, such as 'virtual'. notes: folder that keeps what tools have said of themselves; None: nothing is kept.

    Raises N6Error for whatever cannot be built as it was chosen.
    """
    setting = _setting(choices, environment, notes)
    _check_goals(choices, goals)
    networks = network_steps(setting.folder, setting.models, setting.stage1)
    images = _reloc_images(setting, networks) if choices.loader == "reloc" else _linked_images(setting, networks)
    manifest = flash_manifest_step(
        f"{setting.folder}/flash_manifest.json", images.parts, images.plan.name, setting.board
    )
    files = tuple(part.file for part in images.parts)
    hex_file = firmware_hex_step(f"{setting.folder}/firmware.hex", manifest.name, files)
    sizes = sizes_step(
        f"{setting.folder}/sizes.txt",
        setting.board,
        manifest.name,
        images.elves,
        images.plan.name,
        files,
        setting.virtual_board,
    )
    headers = [step for each in networks for step in app_headers_steps(f"{each.folder}_app", each)]
    checks = checks_step(
        f"{setting.folder}/checks.json",
        setting.board,
        networks,
        images.plan.name,
        manifest.name,
        setting.runtime.identity,
        [(network, model.file) for network, model in images.models],
        choices.load,
    )
    verdict = verdict_step(f"{setting.folder}/checks.txt", checks.name)
    steps = [*(each.step for each in networks), *images.steps, manifest, hex_file, sizes, *headers, checks, verdict]
    named: dict[str, tuple[str, ...]] = {
        "network": tuple(file for each in networks for file in each.outputs),
        "hex": hex_file.outputs,
        "check": verdict.outputs,
        "build": (*manifest.outputs, *sizes.outputs, *verdict.outputs, *outputs_of(headers)),
    }
    _add_reloc(setting, images, steps, named)
    _add_romfs(setting, steps, named)
    done = _add_board(setting, networks, images, (manifest, verdict, sizes), goals, programmer, steps, named)
    if "report" in goals:
        run = next((name for name in done if name.endswith("run.json")), "")
        report = report_step(
            setting.folder,
            setting.board,
            networks,
            setting.runtime.identity,
            images.plan.name,
            manifest.name,
            images.elves,
            checks.name,
            run,
            (*sizes.outputs, *done),
        )
        steps.append(report)
        named["report"] = report.outputs
    return make_plan(steps, named)


def _setting(choices: Choices, environment: Environment, notes: Path | None) -> _Setting:
    board = load_board(choices.board)
    models = tuple(load_model(name, relative_to=Path(choices.launched)) for name in choices.models)
    if choices.name:
        models = (replace(models[0], network=replace(models[0].network, name=choices.name)), *models[1:])
    board.profile(choices.profile)
    if not choices.secure:
        board = replace(board, alias="non-secure")
    if "max-speed" in choices.modes:
        board = replace(board, clock=board.max_speed)
    runtime = st_runtime(environment.core, environment.cmsis) if environment.core else own_runtime()
    toolchain = find_toolchain(environment, notes)
    board_folder = f"{choices.build}/{board.name}"
    profile = "" if choices.profile == "extflash" else f"-{choices.profile}"
    loader = "-reloc" if choices.loader == "reloc" else ""
    folder = f"{board_folder}/{'+'.join(model.name for model in models)}{profile}{loader}"
    return _Setting(choices, environment, board, models, runtime, toolchain, folder, board_folder, notes)


def _flags(choices: Choices) -> tuple[str, ...]:
    return tuple(without_unknown_flags(list(choices.c_flags)))


def _check_goals(choices: Choices, goals: Collection[str]) -> None:
    """Raises N6-OPTION-006 to -009 and -011, N6-FLASH-023 and N6-ROMFS-007 for what has no effect or no sense."""
    flashing = FLASHING & set(goals)
    if "no-flash" in choices.modes and flashing:
        raise N6Error("N6-OPTION-008", "mode=no-flash programs nothing", hint="omit the flash targets")
    if choices.dry and "run" in goals and "no-flash" not in choices.modes:
        what = "dry=1 programs nothing, and 'run' would run what was there before"
        raise N6Error("N6-OPTION-006", what, hint="mode=no-flash, if that is wanted")
    if choices.loader != "reloc" and "flash-model" in goals:
        raise N6Error("N6-FLASH-023", "the network is linked into the Appli", hint="loader=reloc")
    if "romfs" in goals and not choices.romfs:
        what = "target romfs needs the description of a file system"
        raise N6Error("N6-ROMFS-007", what, hint="romfs=romfs_config.json")
    if "run" in goals:
        _check_run(choices)


def _check_run(choices: Choices) -> None:
    is_virtual = choices.probe == VIRTUAL
    linked = bool(choices.inputs or choices.expected or choices.runs) or not is_virtual
    if (choices.inputs or choices.expected) and len(choices.models) > 1:
        what = "'inputs' and 'expected' are of a single network"
        raise N6Error("N6-OPTION-007", what, hint="omit them, or name a single model")
    if choices.gdb and linked:
        what = "'gdb=1' is for a run of the virtual board on its test vectors in flash"
        raise N6Error("N6-OPTION-009", what, hint="omit inputs, expected and runs, with probe=virtual")
    if choices.start == "ram" and is_virtual and not choices.pair:
        raise N6Error("N6-OPTION-011", "'start=ram' is for a board on a cable", hint="omit it")


def _signing(choices: Choices) -> Signing | None:
    if not choices.sign:
        return None
    return Signing(find_signing_tool(), None if choices.sign == "tool" else find_keys(Path(choices.sign)))


def _programs(setting: _Setting, loader: Program, application: Program) -> tuple[Step, Step]:
    signing, board = _signing(setting.choices), setting.board
    return (
        image_step(f"{setting.board_folder}/fsbl_image.bin", loader, BinaryType.FSBL, board, signing),
        image_step(f"{setting.folder}/appli_image.bin", application, BinaryType.SSBL, board, signing),
    )


def _vectors(setting: _Setting, networks: Sequence[NetworkSteps]) -> list[tuple[Step, FlashPart]]:
    made = []
    for network in networks:
        if network.model.inputs:
            inputs = project_path(network.model.inputs)
            step = vectors_image_step(setting.folder, inputs, network.name, len(networks))
            made.append((step, FlashPart("vectors", step.name, Content("vectors", network.name))))
    return made


def _linked_images(setting: _Setting, networks: Sequence[NetworkSteps]) -> _Images:
    board, runtime = setting.board, setting.runtime
    plan = memory_plan_step(setting.folder, board, setting.choices.profile, networks, runtime.identity)
    firmware = board_firmware(setting.board_folder, board, setting.toolchain, _flags(setting.choices))
    loader = fsbl(firmware)
    application = appli(setting.folder, firmware, runtime, networks, plan)
    weights = []
    for network in networks:
        for raw in network.raws:
            step = weights_image_step(setting.folder, raw, network.name, plan.name, len(networks))
            content = Content("weights", network.name, Path(raw).name)
            weights.append((step, FlashPart("weights", step.name, content)))
    return _images(setting, plan, loader, application, networks, weights, ())


def _reloc_images(setting: _Setting, networks: Sequence[NetworkSteps]) -> _Images:
    choices, board, runtime = setting.choices, setting.board, setting.runtime
    models = tuple(
        (
            network,
            reloc_network(
                setting.folder, setting.board_folder, network, runtime, setting.toolchain, setting.model_options
            ),
        )
        for network in networks
    )
    placed = reloc_plan(
        setting.folder,
        board,
        choices.profile,
        models,
        split=choices.split,
        slots=choices.slots,
        addresses=choices.addresses,
        load_mode=choices.load,
    )
    firmware = board_firmware(setting.board_folder, board, setting.toolchain, _flags(choices))
    loader = fsbl(firmware)
    application = reloc_appli(setting.folder, firmware, runtime, placed.plan, debug_info=choices.debug_info)
    weights = list(zip(placed.slots, placed.parts, strict=True))
    return _images(setting, placed.plan, loader, application, networks, weights, models)


def _images(
    setting: _Setting,
    plan: Step,
    loader: Program,
    application: Program,
    networks: Sequence[NetworkSteps],
    weights: Sequence[tuple[Step, FlashPart]],
    models: tuple[tuple[NetworkSteps, ModelSteps], ...],
) -> _Images:
    fsbl_image, appli_image = _programs(setting, loader, application)
    vectors = _vectors(setting, networks)
    return _Images(
        plan=plan,
        programs=(
            FlashPart("fsbl", fsbl_image.name),
            FlashPart("appli", appli_image.name),
            *(part for _, part in vectors),
        ),
        weights=tuple(part for _, part in weights),
        fsbl=loader,
        appli=application,
        steps=(
            *(step for _, model in models for step in model.steps),
            plan,
            *loader.steps,
            *application.steps,
            fsbl_image,
            appli_image,
            *(step for step, _ in vectors),
            *(step for step, _ in weights),
        ),
        models=models,
    )


def _add_reloc(setting: _Setting, images: _Images, steps: list[Step], goals: dict[str, tuple[str, ...]]) -> None:
    choices, models = setting.choices, [model for _, model in images.models]
    if not models:
        goals["reloc"] = ()
        return
    if choices.parse_only:
        table = reloc_pool_table_step(f"{setting.folder}/reloc_pools.txt", [model.description for model in models])
        steps.append(table)
        goals["reloc"] = table.outputs
        return
    goals["reloc"] = tuple(file for model in models for file in model.files)
    if choices.verbosity or choices.log:
        outputs = [f"{setting.folder}/reloc_summary.txt", *([project_path(choices.log)] if choices.log else [])]
        files = [model.file for model in models]
        summary = reloc_summary_step(outputs, files, shown=bool(choices.verbosity))
        steps.append(summary)
        goals["reloc"] = (*goals["reloc"], *summary.outputs)


def _add_romfs(setting: _Setting, steps: list[Step], goals: dict[str, tuple[str, ...]]) -> None:
    """Every model is compiled with the profile of its entry, 'default' being that of the build."""
    goals["romfs"] = ()
    if not setting.choices.romfs:
        return
    path = Path(setting.choices.romfs)
    variables = {"TOP": str(Path.cwd()), "BUILD": str(Path(setting.choices.build).absolute())}
    made: dict[tuple[Path, str], ModelSteps] = {}
    for partition in read_manifest(path, variables):
        files = [
            _romfs_model(setting, entry, made, steps).file if entry.model else project_path(entry.path)
            for entry in partition.entries
        ]
        output = f"{setting.board_folder}/romfs/romfs{partition.number}.img"
        image = romfs_step(output, partition, files, path.name)
        steps.append(image)
        goals["romfs"] = (*goals["romfs"], *image.outputs)


def _romfs_model(
    setting: _Setting, entry: RomfsEntry, made: dict[tuple[Path, str], ModelSteps], steps: list[Step]
) -> ModelSteps:
    """made: models that another partition has, too."""
    choices, board = setting.choices, setting.board
    profile = choices.profile if entry.profile == DEFAULT_PROFILE else entry.profile
    if profile not in board.profiles():
        hint = did_you_mean(profile, [*board.profiles(), DEFAULT_PROFILE])
        raise N6Error("N6-ROMFS-006", f"{board.title} has no profile '{profile}'", where=entry.where, hint=hint)
    key = entry.path.resolve(), entry.profile
    if key not in made:
        same = sum(path.stem == entry.path.stem and other == entry.profile for path, other in made)
        place = f"{setting.board_folder}/romfs/{entry.path.stem}"
        place += "" if entry.profile == DEFAULT_PROFILE else f"-{profile}"
        # Two folders may have a model of the same name.
        place += f"-{same + 1}" if same else ""
        stage1 = replace(setting.stage1, profile=profile, loader="reloc")
        (network,) = network_steps(place, [load_model(str(key[0]))], stage1)
        options = replace(setting.model_options, split=False)
        model = reloc_network(place, setting.board_folder, network, setting.runtime, setting.toolchain, options)
        steps += [network.step, *model.steps]
        made[key] = model
    return made[key]


def _add_board(
    setting: _Setting,
    networks: Sequence[NetworkSteps],
    images: _Images,
    before: tuple[Step, Step, Step],
    asked: Collection[str],
    programmer: str,
    steps: list[Step],
    goals: dict[str, tuple[str, ...]],
) -> list[str]:
    """before: manifest, verdict, sizes. Returns what is done with a board: receipts, and the run where there is one."""
    if not _ON_A_BOARD & set(asked):
        return []
    choices = setting.choices
    target = target_of(
        setting.board,
        programmer,
        programmer.rpartition(":")[2],
        setting.virtual_board,
        choices.start,
        everything="flash-all" in asked,
        dry=choices.dry,
    )
    receipts = [] if "no-flash" in choices.modes else _flash_steps(setting, images, before, asked, target)
    steps += receipts
    done = list(outputs_of(receipts))
    alone = "flash-model" in asked and not {"flash", "flash-all"} & set(asked)
    for name in FLASHING:
        goals[name] = tuple(done) if (name == "flash-model") == alone else ()
    if not alone:
        goals["flash"] = goals["flash-all"] = (*before[2].outputs, *done)
    if "run" in asked:
        run = _run_step(setting, networks, images, done, target)
        steps.append(run)
        done += run.outputs
        goals["run"] = run.outputs
    return done


def _receipt(setting: _Setting, target: Target, part: str) -> str:
    """A dry run has one of its own: it must not pass for what it only reports."""
    words = (target.name, setting.board.name, setting.choices.pair, part, "dry" if target.dry else "")
    return f"{setting.choices.build}/flash/{'-'.join(word for word in words if word)}.json"


def _flash_steps(
    setting: _Setting, images: _Images, before: tuple[Step, Step, Step], asked: Collection[str], target: Target
) -> list[Step]:
    """Of models with two slots only one of them is written, and the rest first."""
    manifest, verdict, sizes = before
    board, choices = setting.board, setting.choices
    alone = "flash-model" in asked and not {"flash", "flash-all"} & set(asked)
    before_flash = verdict.outputs if alone else (*verdict.outputs, *sizes.outputs)

    def flashed(part: str, listed: Step, parts: Sequence[FlashPart]) -> Step:
        step = flash_board_step(
            _receipt(setting, target, part), listed.name, [each.file for each in parts], board, target
        )
        return replace(step, after=before_flash)

    def listed(name: str, parts: Sequence[FlashPart]) -> Step:
        return flash_manifest_step(f"{setting.folder}/{name}.json", parts, images.plan.name, board)

    if choices.loader != "reloc" or (choices.slots == 1 and not alone):
        return [flashed("", manifest, images.parts)]
    if choices.slots == 1:
        models = listed("model_manifest", images.weights)
        return [models, flashed("models", models, images.weights)]
    if choices.dry:
        what = "with slots=2 it depends on what the board holds what is programmed; dry=1 does not ask it"
        raise N6Error("N6-OPTION-006", what, hint="omit dry=1, or slots=1")
    first: list[Step] = []
    if not alone:
        rest = listed("programs_manifest", images.programs)
        first = [rest, flashed("programs", rest, images.programs)]
    files = [part.file for part in images.weights]
    after = (*before_flash, *outputs_of(first))
    receipt = _receipt(setting, target, "models")
    return [*first, flash_models_step(receipt, images.plan.name, images.elves, files, board, target, after)]


def _run_step(
    setting: _Setting, networks: Sequence[NetworkSteps], images: _Images, receipts: Sequence[str], target: Target
) -> Step:
    choices = setting.choices
    receipts = [name for name in receipts if "/flash/" in name]
    if "no-run" in choices.modes:
        return start_board_step(f"{setting.folder}/started.json", receipts, images.fsbl.elf, setting.board, target)
    session = Session(
        choices.inputs, choices.expected, choices.console, choices.runs, choices.gdb, silent=bool(choices.pair)
    )
    return run_board_step(
        f"{setting.folder}/run.json", receipts, networks, images.elves, setting.board, target, session
    )
