"""The choices for a build: each option is a field with its default and its help."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from n6build.base.environment import CMSIS
from n6build.base.errors import N6Error
from n6build.base.members import member_names
from n6build.describe.application_names import APPLICATION_HELP, APPLICATIONS
from n6build.describe.backend_names import backend_names
from n6build.describe.host_program import HostProgram
from n6build.describe.option import (
    Loader,
    PlacedFile,
    Setting,
    chosen,
    count,
    folder,
    listed_paths,
    names,
    number,
    parsed,
    path,
    paths,
    placed_files,
    switch,
    word,
)
from n6build.describe.targets import FLASHING, MCUBOOT, ON_A_BOARD, RECOVER, TALKING
from n6build.describe.until import Until, modes_of, parse_until

# Value of an option for a folder that n6build looks for itself.
AUTO = "auto"
LoadMode = Literal["copy", "xip"]
Trace = Literal["none", "npu", "profile"]
_RUN = ("run",)
# Names of the programmers' modules, which need not be loaded for that.
PROGRAMMERS = tuple(name.replace("_", "-") for name in member_names("n6build.board.flash.programmers.*"))


@dataclass(frozen=True)
class Choices:
    """All choices that a plan depends on, and nothing else.

    Attributes:
        models: Names, or paths relative to `launched`.
        launched: Folder in which the command was typed.
        build: Folder of all build products.
        pair: Pair of a matrix, in which each pair has its own virtual board.
        c_flags: Flags of the host project.
        debug_info: Whether linked programs have debug information.
        field: Whether the programs are for a field report.
        ladder: Whether the networks are the rungs of target ladder.
        program: Program of the host project in place of the Appli; None for this project's own Appli.
    """

    board: str = word(
        "nucleo-n657",
        "the board, by name or alias (`scons boards` lists them); target time: all",
        environment="N6BUILD_BOARD",
    )
    models: tuple[str, ...] = names(
        "miniresnet",
        "the model: a name (`scons models`), a folder with a model.yaml or a network.c, or a model file; several: a,b",
        name="model",
        environment="N6BUILD_MODEL",
    )
    profile: str = word(
        "extflash",
        "memory pools: extflash reads weights in place from flash, noextmem copies them to AXISRAM at boot; "
        "extram and allmems use external RAM",
    )
    samples: str = path(
        "quantises a float ONNX model to int8 with these inputs: a .npy file with a row for each, or a folder of arrays, "
        "pictures, sounds or tables; default: quantise.samples in model.yaml",
    )
    dataset: str = path(
        "with samples: other inputs, in the same formats, on which the accuracy is measured; folders name the classes; "
        "default: quantise.dataset in model.yaml, else the samples",
    )
    backend: str = word(
        "auto",
        f"the network compiler: {', '.join(backend_names())}; auto uses ST's tool if n6build finds it, else the "
        f"reference backend, which runs every epoch on the CPU",
        ("auto", *backend_names()),
        environment="N6BUILD_BACKEND",
    )
    core: str = folder(
        "ST's runtime, and ST's compiler if present: root of ST Edge AI Core, of an X-CUBE-AI pack, or of a project "
        "with the runtime; auto is the project around the working directory; default: STEDGEAI_CORE_DIR",
        automatic=AUTO,
    )
    cmsis: tuple[str, ...] = paths(
        "device headers and HAL for ST's runtime: STM32Cube_FW_N6, a project for an STM32N6, auto as for core, or "
        "the include folders of CMSIS, device and HAL, separated as in PATH; default: those of core, if it has them",
        automatic=AUTO,
        environment=CMSIS,
    )
    loader: Loader = word(
        "linked",
        "linked puts the network into the Appli; reloc makes a relocatable model that the Appli installs from flash",
        ("linked", "reloc"),
        environment="N6BUILD_LOADER",
    )
    load: LoadMode = word(
        "copy", "run a model's code from RAM (copy) or in place (xip)", ("copy", "xip"), loader="reloc"
    )
    split: bool = switch(False, "1 puts the weights into a separate file", loader="reloc")
    secure: bool = switch(True, "0 compiles for the non-secure state, with pools in that alias", loader="reloc")
    slots: int = number(1, "2 keeps the older model (A/B) until the new one is confirmed", ("1", "2"), loader="reloc")
    addresses: str = word(
        "", "flash addresses of model and, with split=1, weights: 0x71000000,0x71800000", loader="reloc"
    )
    name: str = word("", "name of a single network, for its files, its symbols and its model", loader="reloc")
    parse_only: bool = switch(False, "1 ends target reloc with the table of pools", loader="reloc", targets=("reloc",))
    gen_c_file: bool = switch(False, "1 writes the model as a C array, too", loader="reloc")
    trial: Literal["off", "on"] = word(
        "off",
        "on starts a new model or Appli on trial with the watchdog, and returns to the older one if it is not "
        "confirmed",
        ("off", "on"),
        loader="reloc",
    )
    confine: Literal["off", "on"] = word(
        "off",
        "on runs the code of models unprivileged under the MPU, with access to its own memory only",
        ("off", "on"),
        loader="reloc",
    )
    romfs: str = path("description of an OpenMV file system with models in it (romfs_config.json)", targets=("romfs",))
    firmware: str = word(
        "",
        "the OpenMV firmware that installs the models: openmv-5.0.0 or another release, its image, or the folder of its "
        "sources; default: the source tree around the description of romfs, else OpenMV 5.0.0",
        targets=("romfs", "reloc"),
    )
    probe: str = word(
        "auto",
        "the board to program: auto (the only attached probe), virtual, a serial number, or a programmer "
        f"({', '.join(PROGRAMMERS)}), alone or as openocd:<serial number>",
        environment="N6BUILD_PROBE",
        targets=(*ON_A_BOARD, RECOVER, "vscode", "matrix"),
    )
    most: int = count(
        "number of samples, and of inputs of dataset and inputs in a folder, spread evenly; default: quantise.most in "
        "model.yaml, 200",
        "samples",
    )
    fsbl: str = path("your own FSBL instead of n6build's: a signed image, or elf, hex or bin, which get a header")
    appli: str = path(
        "your own Appli, in the formats of fsbl; without option model, n6build adds no network to it; or the folder of a "
        "project of ST for pictures, which gets the model"
    )
    application: str = word("", APPLICATION_HELP, ("", *APPLICATIONS))
    linker_map: str = path("linker map of that Appli, else of that FSBL: names files without debug information")
    linker_script: str = path("its linker script: checks compare its MEMORY with the board")
    data: tuple[PlacedFile, ...] = placed_files(
        "more files for the NOR: FILE@0x70180000, or hex files with addresses; several: a@0x70180000,b.hex"
    )
    sign: str = word(
        "",
        "signs the FSBL for the boot ROM: n6build:FOLDER with publicKey*.pem and privateKey*.pem. STM32_SigningTool_CLI makes "
        "images with FOLDER, or with tool (no keys)",
        environment="N6BUILD_SIGN",
    )
    fsbl_version: int = count(
        "version of a signed FSBL, 0 to 63; a closed chip blows fuses for it, and then rejects lower ones",
        "images",
        most=63,
    )
    trust: Literal["off", "code", "full"] = word(
        "off",
        "signatures that a board verifies: code verifies the Appli and the code of models before they run; full "
        "also verifies all weights at every start; off verifies nothing",
        ("off", "code", "full"),
        environment="N6BUILD_TRUST",
    )
    trust_key: str = path(
        "key for releases: P-256, PEM, private; with sign_with its public half. Its password is N6BUILD_KEY_PASSWORD",
        environment="N6BUILD_TRUST_KEY",
    )
    trust_keys: tuple[str, ...] = listed_paths(
        "up to 8 keys whose releases a board accepts, in an order that never changes; default: trust_key"
    )
    sign_with: str = word(
        "",
        "signs in place of a private key here: a command, or pkcs11:URI of a key in a token",
        environment="N6BUILD_SIGN_WITH",
    )
    trust_counter: int = count(
        "security counter of a signed release, 0 to 32; boards with a higher one reject it", "updates", most=32
    )
    trust_advance: Literal["off", "blow"] = word(
        "off",
        "blow: the FSBL programs fuses once a release is confirmed, so that no older one starts again; cannot be undone",
        ("off", "blow"),
    )
    encrypt_key: str = path(
        "with trust: key (64 hexadecimal digits) for the Appli and copied weights in flash",
        environment="N6BUILD_ENCRYPT_KEY",
    )
    mcuboot_version: str = word(
        "0.0.0", "version of the image of target mcuboot, such as 1.2.3 or 1.2.3+4", targets=(MCUBOOT,)
    )
    recovery: Literal["off", "on"] = word(
        "off",
        "on: the FSBL waits on the console for target recover, if no Appli is valid or the pin of board.yaml is held",
        ("off", "on"),
    )
    fsbl_copy: Literal["off", "on"] = word(
        "off",
        "on: a second copy of the FSBL, at the place where the boot ROM looks next: an interrupted update leaves a valid one",
        ("off", "on"),
    )
    dry: bool = switch(False, "1 only prints the sectors to program", targets=FLASHING)
    inputs: str = path(
        ".npy with a row for each inference, or a folder of pictures, sounds or tables, sent over the console; for target "
        "compare the board's inputs; default: the test vectors",
        targets=("run", "compare"),
    )
    captured: tuple[str, ...] = listed_paths(
        "files with the outputs of a board, a,b: .npy, raw bytes as .bin, a console log with a hex dump",
        targets=("compare",),
    )
    expected: str = path(
        ".npy with the expected outputs for each row of inputs; default: the model's outputs for its own inputs",
        targets=_RUN,
    )
    console: str = word(
        "",
        "serial port of a real board; default: the one of the probe",
        environment="N6BUILD_CONSOLE",
        targets=(*TALKING, RECOVER),
    )
    audio: str = path("WAV file for the virtual board's microphone; default: silence", targets=_RUN)
    audio_out: str = path("WAV file to write, with what the virtual board plays", targets=_RUN)
    camera: str = path(
        "virtual board: what its image sensor sees: a picture, an animation, a folder of pictures, or pattern:colorbars",
        targets=_RUN,
        literal="pattern:",
    )
    camera_format: Literal["rgb", "raw"] = word(
        "rgb",
        "virtual board: pixels of the camera, finished as behind the ISP (rgb) or those of the sensor (raw)",
        targets=_RUN,
    )
    unplug: int = count("virtual board: the camera is unplugged after so many frames", "frames", targets=_RUN)
    display: str = path("virtual board: folder for the pictures that its panel shows", targets=_RUN)
    frames: int = count("virtual board: this picture on its panel ends the run", "pictures", targets=_RUN)
    fuses: str = path(
        "virtual board: FILE that keeps the fuses and lets programs blow them, or a board whose factory fuses it has, such as "
        "nucleo or dk; default: option board",
        targets=_RUN,
    )
    harsh: int = count(
        "virtual board: number of a random content of RAM after power-on; PLLs and parts take their times, slow pins and a "
        "PSRAM without refresh are reported; default: 0, for none of this",
        "a content of RAM, up to 4294967295",
        most=0xFFFF_FFFF,
        targets=_RUN,
    )
    runs: int = count("number of inferences over the console; default: each input once", "inferences", targets=_RUN)
    modes: tuple[str, ...] = parsed(
        (),
        "a,b of no-flash (run the programs in flash), no-run (start them without inference), max-speed (the "
        "fastest clock profile of every board of this kind, the default of option clock), copy or xip (as option load)",
        modes_of,
        name="mode",
    )
    start: Literal["flash", "ram"] = word(
        "flash",
        "how a real board starts: flash resets it; ram lets the debugger start the FSBL, with the boot selectors "
        "for programming",
        ("flash", "ram"),
        targets=ON_A_BOARD,
    )
    until: Until | None = parsed(
        None,
        "virtual board: ends at text:PART OF A LINE, symbol:NAME (symbol:fsbl:main of that program), address:0x34000400 or "
        "instructions:N; without comparison; default with appli: instructions:1_000_000_000",
        parse_until,
        name="until",
        targets=_RUN,
    )
    epochs: bool = switch(
        False,
        "virtual board: 1 feeds each epoch the reference interpreter's tensors, and compares its outputs",
        targets=_RUN,
    )
    trace: Trace = word(
        "none",
        "virtual board: npu writes every write to the NPU's registers, and its blobs, to npu_trace.txt beside run.json; "
        "profile shows the functions and the models of the board that a run spends its time in, and writes profile.json",
        ("none", "npu", "profile"),
        targets=_RUN,
    )
    clock: str = word(
        "",
        "clock profile of the chip, for example hsi (64 MHz) or overdrive; default: the fastest of the board's rating",
        environment="N6BUILD_CLOCK",
    )
    flash: str = word("", "another clock of the NOR in MHz, for example 200", targets=("time",))
    base: str = path(
        "sizes.json or merge_report.json of the base branch, for the comparison with this build",
        targets=("merge-report", "matrix"),
    )
    gdb: bool = switch(
        False,
        "1 waits for a debugger: the virtual board before its first instruction, a real one with its programmer's server",
        targets=_RUN,
    )
    svd: str = path(
        "description of the chip's registers (SVD), if you have one", environment="N6BUILD_SVD", targets=("vscode",)
    )
    verbosity: int = number(
        0, "1 shows the summary of target reloc, 2 also shows whole command lines", ("0", "1", "2"), loader="reloc"
    )
    log: str = path("file for the summary of target reloc", loader="reloc", targets=("reloc",))
    debug_info: bool = True
    field: bool = False
    ladder: bool = False
    build: str = "build"
    pair: str = ""
    c_flags: tuple[str, ...] = ()
    launched: str = ""
    program: HostProgram | None = None

    @property
    def is_foreign(self) -> bool:
        """Return whether a program other than n6build's own starts on the board."""
        return bool(self.fsbl or self.appli or self.program)


def choices_of(settings: Mapping[str, Setting], launched: Path) -> Choices:
    """Return the choices that the settings make.

    Args:
        settings: Setting of each option by its name.
        launched: Folder in which the command was typed, where relative paths start.

    Raises:
        N6Error: N6-OPTION-002 for values that are not possible, alone or together; N6-OPTION-004
            for a mode that needs
            loader=reloc; N6-OPTION-005 for an invalid name.
    """
    choices = chosen(Choices, settings, launched, launched=str(launched))
    if settings["debug"].value == "1":
        choices = replace(choices, verbosity=2)
    if choices.appli and not settings["model"].is_explicit:
        # The default model is not part of a third-party program.
        choices = replace(choices, models=())
    if choices.clock and "max-speed" in choices.modes:
        what = f"'mode=max-speed' and 'clock={choices.clock}' both choose the clock"
        raise N6Error("N6-OPTION-002", what, where=settings["clock"].origin, hint="remove one of them")
    if choices.name and (len(choices.models) > 1 or not choices.name.isidentifier()):
        what = f"'name={choices.name}' must name a single network with letters, digits and _"
        raise N6Error("N6-OPTION-005", what, hint="set network.name in each model.yaml to name several networks")
    for mode in ("copy", "xip"):
        if mode in choices.modes:
            choices = _loaded_as(mode, choices, settings)
    return choices


def _loaded_as(mode: LoadMode, choices: Choices, settings: Mapping[str, Setting]) -> Choices:
    load, by_mode = settings["load"], settings["mode"]
    if load.origin != "default" and load.value != mode:
        what = f"'load={load.value}' and 'mode={by_mode.value}' exclude each other"
        raise N6Error("N6-OPTION-002", what, where=load.origin)
    if choices.loader != "reloc":
        what = f"'mode={by_mode.value}' is for relocatable models"
        raise N6Error("N6-OPTION-004", what, where=by_mode.origin, hint="loader=reloc")
    return replace(choices, load=mode)
