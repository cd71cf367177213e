"""The options of a build: defaults < user's settings file < environment < command line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from n6build.base.errors import N6Error, did_you_mean

# Of a run; the names are those of ST's load-and-run.
MODES = ("copy", "xip", "no-flash", "no-run", "max-speed")
SETTINGS_FILE = "n6build.local.yaml"


@dataclass(frozen=True)
class Option:
    """help: in which {programmers} stands for the names of those that there are. environment: variable that gives the value, or
    None. choices: empty where any text is possible."""

    name: str
    default: str
    help: str
    choices: tuple[str, ...] = ()
    environment: str | None = None


OPTIONS = (
    Option(
        "board", "nucleo-n657", "the board, by name or alias (`scons boards` lists them)", environment="N6BUILD_BOARD"
    ),
    Option(
        "model",
        "miniresnet",
        "the model: a name (`scons models`), a folder with a model.yaml or a network.c, or a model file; several: a,b",
        environment="N6BUILD_MODEL",
    ),
    Option(
        "profile",
        "extflash",
        "memory pools: extflash reads weights in place from flash, noextmem copies them to AXISRAM at boot; "
        "extram and allmems use external RAM",
    ),
    Option(
        "backend",
        "auto",
        "network compiler: st_edge_ai, reference (every epoch on the CPU), prebuilt; auto takes ST's tool where it is found",
        ("auto", "reference", "st_edge_ai", "prebuilt"),
        environment="N6BUILD_BACKEND",
    ),
    Option(
        "loader",
        "linked",
        "how a network gets into the Appli: linked into it, or as a relocatable model (reloc) that it installs from flash",
        ("linked", "reloc"),
        environment="N6BUILD_LOADER",
    ),
    Option("load", "copy", "reloc: run a model's code from RAM (copy) or in place (xip)", ("copy", "xip")),
    Option("split", "0", "reloc: 1 makes the weights a file of their own", ("0", "1")),
    Option("secure", "1", "reloc: 0 compiles for the non-secure state, with pools in that alias", ("0", "1")),
    Option("slots", "1", "reloc: 2 keeps an older model (A/B) until a new one has proved itself", ("1", "2")),
    Option(
        "addresses", "", "reloc: where the model goes in flash, and with split=1 its weights: 0x71000000,0x71800000"
    ),
    Option("name", "", "reloc: name of the only network: of its files, its symbols, and in the model"),
    Option("parse_only", "0", "reloc: 1 ends target reloc with the table of memory pools", ("0", "1")),
    Option("gen_c_file", "0", "reloc: 1 writes the model as a C array, too", ("0", "1")),
    Option("romfs", "", "target romfs: description of an OpenMV file system with models in it (romfs_config.json)"),
    Option(
        "probe",
        "auto",
        "what to program: auto (the only probe attached), virtual, a serial number, or a programmer ({programmers}), alone or as "
        "openocd:<serial number>",
        environment="N6BUILD_PROBE",
    ),
    Option("boards", "all", "target matrix: which boards, a,b or all"),
    Option("models", "all", "target matrix: which models, a,b or all"),
    Option(
        "cache",
        "",
        "folder for what was built once, shared by checkouts and machines (SCons CacheDir)",
        environment="N6BUILD_CACHE",
    ),
    Option(
        "sign",
        "",
        "images by ST's STM32_SigningTool_CLI: tool (without keys), or a folder with publicKey*.pem and privateKey*.pem",
        environment="N6BUILD_SIGN",
    ),
    Option("dry", "0", "flash: 1 prints what would be programmed, and touches nothing", ("0", "1")),
    Option(
        "inputs",
        "",
        "run: .npy with a row for each inference, sent over the console; default: the test vectors in flash",
    ),
    Option(
        "expected",
        "",
        "run: .npy with the right outputs for each row of inputs; default: the model's own, for its own inputs",
    ),
    Option(
        "console",
        "",
        "run on a real board: its serial port; default: the one of the probe",
        environment="N6BUILD_CONSOLE",
    ),
    Option("runs", "", "run: so many inferences over the console, the inputs in turn; default: each input once"),
    Option(
        "mode",
        "",
        "run: a,b of no-flash (what is on the board), no-run (start it, no inference), max-speed (the fastest clock profile that "
        "every board of this kind can do), copy or xip (as option load)",
    ),
    Option(
        "start",
        "flash",
        "run on a real board: flash is a reset; ram lets the debugger start the FSBL, with the boot selectors as for programming",
        ("flash", "ram"),
    ),
    Option("gdb", "0", "run: 1 waits for a debugger before the first instruction (virtual board)", ("0", "1")),
    Option("verbosity", "0", "reloc: 1 shows the summary of target reloc, 2 whole command lines, too", ("0", "1", "2")),
    Option("debug", "0", "reloc: 1 is verbosity=2", ("0", "1")),
    Option("log", "", "reloc: file for the summary of target reloc"),
    Option("no_color", "0", "1 leaves colours away, as NO_COLOR does", ("0", "1")),
    Option("verbose", "0", "1 shows whole command lines", ("0", "1")),
    Option("explain", "", "says why this file was made again, or will be, or why not; nothing is built"),
)


@dataclass(frozen=True)
class Setting:
    """origin: 'default', a file, an environment variable or 'command line'."""

    value: str
    origin: str


def resolve(arguments: Mapping[str, str], environment: Mapping[str, str], folder: Path) -> dict[str, Setting]:
    """folder: of the SConstruct. Raises N6-OPTION-001 (unknown), N6-OPTION-002 (value not possible), N6-YAML-00x."""
    options = {option.name: option for option in OPTIONS}
    settings = {option.name: Setting(option.default, "default") for option in OPTIONS}
    for path in (_user_settings(), folder / SETTINGS_FILE):
        if path.is_file():
            from n6build.base.yaml_schema import read_document  # noqa: PLC0415 - most builds have no such file.

            document = read_document(path)
            for name, value in document.load(dict[str, str]).items():
                _known(name, options, document.where(name))
                settings[name] = Setting(value, path.name)
    for option in OPTIONS:
        if option.environment and environment.get(option.environment):
            settings[option.name] = Setting(environment[option.environment], option.environment)
    for name, value in arguments.items():
        _known(name, options, None)
        settings[name] = Setting(value, "command line")
    for name, setting in settings.items():
        choices = options[name].choices
        if choices and setting.value not in choices:
            hint = did_you_mean(setting.value, choices)
            raise N6Error("N6-OPTION-002", f"'{name}={setting.value}' is not possible", where=setting.origin, hint=hint)
    for word in {"copy", "xip"} & modes_of(settings):
        load = settings["load"]
        if load.origin != "default" and load.value != word:
            what = f"'load={load.value}' and 'mode={settings['mode'].value}' exclude each other"
            raise N6Error("N6-OPTION-002", what, where=load.origin)
        settings["load"] = Setting(word, settings["mode"].origin)
    if settings["runs"].value and not settings["runs"].value.isdecimal():
        what = f"'runs={settings['runs'].value}' is not a number of inferences"
        raise N6Error("N6-OPTION-002", what, where=settings["runs"].origin, hint="runs=100")
    _check_loader(settings, options)
    return settings


def _user_settings() -> Path:
    from platformdirs import user_config_path  # noqa: PLC0415

    return user_config_path("n6build") / "settings.yaml"


def modes_of(settings: Mapping[str, Setting]) -> set[str]:
    """Of a run. Raises N6-OPTION-002 where one is not known, or two exclude each other."""
    mode = settings["mode"]
    modes = {word.strip() for word in mode.value.split(",") if word.strip()}
    for word in sorted(modes - set(MODES)):
        raise N6Error("N6-OPTION-002", f"no mode '{word}'", where=mode.origin, hint=did_you_mean(word, MODES))
    # What is on the board has the clock that it has.
    for one, other in (("copy", "xip"), ("no-flash", "no-run"), ("no-flash", "max-speed")):
        if {one, other} <= modes:
            raise N6Error("N6-OPTION-002", f"modes '{one}' and '{other}' exclude each other", where=mode.origin)
    return modes


def _check_loader(settings: Mapping[str, Setting], options: Mapping[str, Option]) -> None:
    """An option without effect is a mistake that shows too late. Raises N6-OPTION-004."""
    if settings["loader"].value == "reloc":
        return
    for name, option in options.items():
        given = settings[name].value != option.default or (name == "load" and settings[name].origin != "default")
        if option.help.startswith("reloc:") and given:
            what = f"'{name}={settings[name].value}' is for relocatable models"
            if name == "load" and settings["mode"].value:
                what = f"'mode={settings['mode'].value}' is for relocatable models"
            raise N6Error("N6-OPTION-004", what, where=settings[name].origin, hint="loader=reloc")


def _known(name: str, options: Mapping[str, Option], where: str | None) -> None:
    if name not in options:
        raise N6Error("N6-OPTION-001", f"unknown option '{name}'", where=where, hint=did_you_mean(name, options))
