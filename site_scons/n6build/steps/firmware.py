"""Stage 3: steps for generated headers, objects, FSBL and Appli."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from n6build.base.files import files_in
from n6build.base.paths import FIRMWARE
from n6build.compile.runtimes import Runtime
from n6build.compile.toolchain import Toolchain
from n6build.describe.formats.boot_header import BinaryType
from n6build.describe.hardware.board import Board, Trial
from n6build.describe.hardware.board_header import recovery_defines
from n6build.engine.step import Step, output_with, outputs_of
from n6build.place.reloc.compilation import SECURE, firmware_defines, loader_flags
from n6build.place.trust.choice import Trust
from n6build.steps.boot_image import boot_image_step, signed_image_step
from n6build.steps.compile_c import Compilation, compile_step, compile_steps, link_step
from n6build.steps.compiled_network import NetworkSteps
from n6build.steps.firmware_headers import (
    board_header_steps,
    field_header_step,
    format_headers_step,
    kernel_headers_step,
    program_script_step,
    trust_header_step,
)
from n6build.steps.plan_memory import version_header_of
from n6build.steps.signing_settings import Signing, release_objects, trust_objects, trusting

# Files of firmware/appli that both kinds of application use.
_SHARED = ("n6_appli", "n6_inference", "n6_link", "n6_slot")


@dataclass(frozen=True)
class BoardFirmware:
    """Common inputs of all programs of one board.

    Attributes:
        board: Board of the programs.
        folder: Folder of the board.
        toolchain: Compiler and linker.
        steps: Steps that make headers and objects.
        how: Settings for C with the generated headers.
        bring_up: Object files of the bring-up code, including those that verify signatures.
        trust: Signature settings; None if nothing is verified.
        trial: Trial of new images; None if no image is on trial.
        recovers: The FSBL waits on the console for a release if it has no Appli.
    """

    board: Board
    folder: str
    toolchain: Toolchain
    steps: tuple[Step, ...]
    how: Compilation
    bring_up: tuple[str, ...]
    trust: Trust | None = None
    trial: Trial | None = None
    recovers: bool = False

    @property
    def headers(self) -> tuple[str, ...]:
        """Return the generated headers of chip, board and formats."""
        return tuple(file for file in outputs_of(self.steps) if file.endswith(".h"))


@dataclass(frozen=True)
class Program:
    """A linked program.

    Attributes:
        steps: All steps that make it.
        elf: ELF file of the program.
    """

    steps: tuple[Step, ...]
    elf: str


def c_files(directory: str) -> list[Path]:
    """Return the C files of firmware/<directory>, sorted."""
    return files_in(FIRMWARE / directory, "*.c")


def board_firmware(
    folder: str,
    board: Board,
    toolchain: Toolchain,
    flags: Sequence[str],
    *,
    field: bool = False,
    trust: Trust | None = None,
    trial: Trial | None = None,
    confined: bool = False,
    on_request: bool = False,
    recovers: bool = False,
) -> BoardFirmware:
    """Return the common headers and objects of the board's programs.

    Args:
        folder: Folder of the board.
        board: Board of the programs.
        toolchain: Compiler and linker.
        flags: Further compiler flags, from the surrounding project.
        field: The programs are for a field report.
        trust: Signatures that the programs verify; None for none.
        trial: Trial of new images; None for none.
        confined: Relocatable models run unprivileged.
        on_request: The Appli runs an inference only on request over the link, and a watchdog ends one
            that hangs.
        recovers: The FSBL waits on the console for a release if it has no Appli.
    """
    include = f"{folder}/include"
    headers = [*board_header_steps(include, board), format_headers_step(include)]
    headers += [field_header_step(include, board)] if field else []
    headers += [trust_header_step(include, board, trust)] if trust else []
    how = Compilation(toolchain, flags=tuple(flags)).looking_in(include).behind(outputs_of(headers))
    files = c_files("bring_up")
    if field:
        how = how.looking_in(FIRMWARE / "field").defining("N6_FIELD_REPORT=1")
        files += c_files("field")
    how = trusting(how, trust) if trust else how
    if trial:
        how = how.defining(*trial_defines(trial))
        files += c_files("trial")
    if confined:
        how = how.defining("N6_CONFINE=1")
    if on_request:
        how = how.defining("N6_ON_REQUEST=1").looking_in(FIRMWARE / "trial")
        files.append(FIRMWARE / "trial" / "n6_watchdog.c")
    bring_up = compile_steps(f"{folder}/common/bring_up", files, how.looking_in(FIRMWARE / "bring_up"))
    if trust:
        decrypts = trust.encryption is not None
        bring_up += trust_objects(f"{folder}/common", how.looking_in(FIRMWARE / "bring_up"), decrypts=decrypts)
    steps = (*headers, *bring_up)
    return BoardFirmware(board, folder, toolchain, steps, how, outputs_of(bring_up), trust, trial, recovers)


def trial_defines(trial: Trial) -> tuple[str, ...]:
    """Return the C macros that describe the trials of new images."""
    return (
        "N6_TRIAL=1",
        f"N6_TRIAL_JOURNAL_ADDRESS=0x{trial.journal.address:08X}u",
        f"N6_TRIAL_JOURNAL_BYTES=0x{trial.journal.size:X}u",
        f"N6_TRIAL_STARTS={trial.starts}u",
        f"N6_TRIAL_WATCHDOG_MS={trial.watchdog_ms}u",
        *([f"N6_TRIAL_APPLI_ADDRESS=0x{trial.appli.address:08X}u"] if trial.appli else []),
    )


def fsbl(firmware: BoardFirmware) -> Program:
    """Return the FSBL, the first program, which the boot ROM loads."""
    folder = f"{firmware.folder}/fsbl"
    script = program_script_step(f"{folder}/fsbl.ld", firmware.board, "fsbl")
    how = firmware.how.looking_in(FIRMWARE / "bring_up", FIRMWARE / "fsbl")
    files = c_files("fsbl")
    if firmware.trial and firmware.trial.appli:
        how = how.looking_in(FIRMWARE / "trial", FIRMWARE / "trial" / "fsbl")
        files += c_files("trial/fsbl")
    if firmware.recovers:
        how = how.looking_in(FIRMWARE / "recovery", FIRMWARE / "trial").defining(*recovery_defines(firmware.board))
        # With trials, the common objects contain the driver that writes.
        files += [*c_files("recovery"), *([] if firmware.trial else [FIRMWARE / "trial" / "n6_nor_write.c"])]
    if firmware.trust and firmware.trust.advances:
        how = how.defining("N6_TRUST_ADVANCE=1")
    own = compile_steps(folder, files, how)
    objects = (*firmware.bring_up, *outputs_of(own))
    link = link_step(f"{folder}/fsbl.elf", objects, firmware.toolchain, scripts=script.outputs)
    return Program((*firmware.steps, *own, script, link), link.name)


@dataclass(frozen=True)
class LinkedNetworks:
    """Networks compiled for a link.

    Attributes:
        steps: All steps that make the object files.
        stable: Object files that do not depend on a model.
        shared: Object files of firmware/appli.
        own: Object files of these networks.
    """

    steps: tuple[Step, ...]
    stable: tuple[str, ...]
    shared: tuple[str, ...]
    own: tuple[str, ...]

    @property
    def files(self) -> tuple[str, ...]:
        """Return all object files, those that rarely change first.

        An edit then does not move the addresses in front of it.
        """
        return (*self.stable, *self.shared, *self.own)

    @property
    def without_main(self) -> tuple[str, ...]:
        """Return the object files for programs with their own main."""
        return tuple(file for file in self.files if Path(file).stem != "main")


def linked_networks(
    folder: str,
    firmware: BoardFirmware,
    runtime: Runtime,
    networks: Sequence[NetworkSteps],
    plan: Step,
    release: Step | None = None,
) -> LinkedNetworks:
    """Return the compiled networks for a link.

    Objects that do not depend on a model are compiled once for each board.

    Args:
        folder: Folder of the application.
        firmware: Common headers and objects of the board.
        runtime: Linked runtime.
        networks: Networks of the application.
        plan: Step of the memory plan.
        release: Step of the release; None for a program that verifies nothing.
    """
    headers = kernel_headers_step(f"{firmware.folder}/include")
    how = firmware.how.looking_in(FIRMWARE / "bring_up", FIRMWARE / "appli")
    how = how.looking_in(*runtime.include_folders).looking_in_foreign(*runtime.foreign_folders)
    how = how.defining(*runtime.defines)
    foreign = how.with_flags(*runtime.compile_flags)
    common = f"{firmware.folder}/common" + ("" if runtime.name == "n6build" else f"-{runtime.name}")
    kernels = compile_steps(f"{common}/kernels", _called(networks), how.with_flags("-O3").behind(headers.outputs))
    of_runtime = compile_steps(f"{common}/runtime", runtime.sources, foreign)
    of_runtime += compile_steps(f"{common}/glue", runtime.glue, how)
    shared = compile_steps(f"{common}/appli", c_files("appli"), how)
    # The plan compares the versions of network and runtime, before a compiler fails on a mismatch.
    generated = (*headers.outputs, *plan.outputs, *(header for network in networks for header in network.headers))
    of_networks = foreign.looking_in(*sorted({network.folder for network in networks} | {folder})).behind(generated)
    own: list[Step] = []
    for network in networks:
        # The warnings of this project are not enabled for the code of ST's compiler.
        quiet = of_networks if network.backend.strict else of_networks.with_flags("-w")
        if version := version_header_of(folder, network):
            quiet = quiet.with_flags("-include", version).including(version)
        own += compile_steps(f"{folder}/appli", network.c_files, quiet)
    tables = output_with(plan, ".c")
    own.append(compile_step(f"{folder}/appli/{Path(tables).stem}.o", tables, how))
    released = release_objects(folder, release, how)
    return LinkedNetworks(
        (*firmware.steps, headers, *kernels, *of_runtime, *shared, *own, *released),
        (*outputs_of((*kernels, *of_runtime)), *firmware.bring_up),
        outputs_of(shared),
        outputs_of((*own, *released[1:])),
    )


def kernels_alone(firmware: BoardFirmware, networks: Sequence[NetworkSteps]) -> tuple[Step, tuple[Step, ...]]:
    """Return the step of the kernels' headers, and those of their object files.

    Args:
        firmware: Common headers and objects of the board.
        networks: Networks that call them.
    """
    headers = kernel_headers_step(f"{firmware.folder}/include")
    how = firmware.how.with_flags("-O3").behind(headers.outputs)
    return headers, tuple(compile_steps(f"{firmware.folder}/common/kernels-alone", _called(networks), how))


def _called(networks: Sequence[NetworkSteps]) -> list[Path]:
    return sorted({path for network in networks for path in network.kernels})


def appli(
    folder: str,
    firmware: BoardFirmware,
    runtime: Runtime,
    networks: Sequence[NetworkSteps],
    plan: Step,
    release: Step | None,
    of_host: Sequence[Step] = (),
) -> Program:
    """Return the Appli with the networks linked into it.

    Args:
        folder: Folder of the application.
        firmware: Common headers and objects of the board.
        runtime: Linked runtime.
        networks: Networks of the application.
        plan: Step of the memory plan.
        release: Step of the release; None for an Appli that verifies nothing.
        of_host: Steps that compile a program in place of main.c; none for n6build's own.
    """
    linked = linked_networks(folder, firmware, runtime, networks, plan, release)
    script = program_script_step(f"{firmware.folder}/common/appli.ld", firmware.board, "appli")
    compiled = tuple(file for file in outputs_of(of_host) if Path(file).suffix == ".o")
    objects = (*linked.without_main, *compiled) if of_host else linked.files
    link = link_step(
        f"{folder}/appli/appli.elf",
        objects,
        firmware.toolchain,
        scripts=(script.name, output_with(plan, ".ld")),
        libraries=runtime.libraries,
        system_libraries=runtime.system_libraries,
    )
    return Program((*linked.steps, *of_host, script, link), link.name)


def reloc_appli(
    folder: str,
    firmware: BoardFirmware,
    runtime: Runtime,
    plan: Step,
    release: Step | None,
    *,
    secure: bool,
    debug_info: bool,
    confined: bool,
) -> Program:
    """Return the Appli without networks, which installs models from flash.

    Args:
        folder: Folder for its own objects and its ELF file.
        firmware: Common headers and objects of the board.
        runtime: Runtime with its loader of models.
        plan: Step of the memory plan.
        release: Step of the release; None for an Appli that verifies nothing.
        secure: The models are compiled for the secure state. The Appli always is.
        debug_info: The models' epoch tables have debug fields.
        confined: The models run unprivileged.
    """
    assert runtime.reloc is not None
    trust = ["trust/reloc"] if firmware.trust else []
    places = ("bring_up", "trial", "confine", "appli", "appli_reloc", "reloc", *trust)
    how = firmware.how.looking_in(*(FIRMWARE / place for place in places), *runtime.include_folders)
    how = how.looking_in_foreign(*runtime.foreign_folders)
    how = how.defining(*runtime.defines, *firmware_defines(runtime, debug_info=debug_info))
    common = f"{firmware.folder}/common/reloc" + ("" if runtime.name == "n6build" else f"-{runtime.name}")
    foreign = how.with_flags(*(flag for flag in runtime.compile_flags if flag != SECURE))
    of_loader = loader_flags(runtime, secure=secure)
    of_runtime = compile_steps(f"{common}/runtime", runtime.sources, foreign.with_flags(SECURE))
    of_runtime += compile_steps(f"{common}/runtime", [runtime.reloc.loader], foreign.with_flags(*of_loader))
    check = compile_steps(f"{common}/reloc", c_files("reloc"), how.with_flags(*of_loader))
    how = how.with_flags(SECURE)
    of_runtime += compile_steps(f"{common}/glue", runtime.glue, how)
    shared = compile_steps(f"{common}/appli", [FIRMWARE / "appli" / f"{name}.c" for name in _SHARED], how)
    loader = [
        *check,
        *(
            step
            for place in ("appli_reloc", *(["confine"] if confined else []))
            for step in compile_steps(f"{common}/{place}", c_files(place), how)
        ),
    ]
    if firmware.trust:
        loader += compile_steps(f"{common}/trust", c_files("trust/reloc"), how)
    tables = output_with(plan, ".c")
    own = compile_step(f"{folder}/appli/{Path(tables).stem}.o", tables, how)
    released = release_objects(folder, release, firmware.how)
    script = program_script_step(f"{firmware.folder}/common/appli.ld", firmware.board, "appli")
    objects = (
        *outputs_of((*of_runtime, *shared, *loader)),
        *firmware.bring_up,
        *own.outputs,
        *outputs_of(released[1:]),
    )
    link = link_step(
        f"{folder}/appli/appli.elf",
        objects,
        firmware.toolchain,
        scripts=script.outputs,
        libraries=runtime.libraries,
        system_libraries=runtime.system_libraries,
    )
    return Program((*firmware.steps, *of_runtime, *shared, *loader, own, *released, script, link), link.name)


def image_step(output: str, program: Program, kind: BinaryType, board: Board, signing: Signing | None) -> Step:
    """Return the step that makes the program's image with a boot header.

    Args:
        output: Path of the image.
        program: Linked program.
        kind: FSBL; for any other type, the load address is that of the Appli.
        board: Board of the program.
        signing: Signing tool and keys; None for an unsigned image.
    """
    boot, load = board.soc.boot, board.soc.load_and_run
    if kind is BinaryType.FSBL:
        load_address, payload_offset = boot.header_address, boot.payload_offset
    else:
        load_address, payload_offset = load.load_address, load.payload_offset
    if signing is None:
        return boot_image_step(output, program.elf, kind, payload_offset)
    return signed_image_step(output, program.elf, kind, load_address, payload_offset, signing.tool, signing.keys)
