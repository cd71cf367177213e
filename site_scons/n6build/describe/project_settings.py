"""The sources of an option's value, of which the last one is used.

These are: default < user's settings file < project's < environment < a host's build script <
command line.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from pathlib import Path

from n6build.base.errors import N6Error, did_you_mean, nearest
from n6build.base.files import files_in, is_file, is_folder
from n6build.base.paths import check_text
from n6build.describe.choices import Choices
from n6build.describe.given_options import ON_THE_DESK
from n6build.describe.invocation import Invocation
from n6build.describe.option import Option, Setting, options_of
from n6build.describe.targets import LISTS, ON_A_BOARD, TARGETS

SETTINGS_FILE = "n6build.local.yaml"
# Suffix of models that another tool has linked; `steps/foreign_model.py` looks into them.
_RELOCATABLE = re.compile(r"\.bin(,|$)")
OPTIONS = (*options_of(Choices), *options_of(Invocation))
# Options that name one file, some of them or a folder, which no step makes.
_FILES = ("samples", "dataset", "inputs", "expected", "audio", "base", "svd")
_OR_FOLDERS = ("samples", "dataset", "inputs")
# Values of option mode that change nothing in flash.
_MODES_OF_A_RUN = frozenset({"no-flash", "no-run"})


def resolve(
    arguments: Mapping[str, str],
    environment: Mapping[str, str],
    folder: Path,
    script: Mapping[str, Setting] | None = None,
) -> dict[str, Setting]:
    """Return the setting of every option.

    Args:
        arguments: Options of the command line.
        environment: Variables.
        folder: Folder of the SConstruct.
        script: Options of a host's build script, which only the command line may change.

    Raises:
        N6Error: N6-OPTION-001 for an unknown option; N6-OPTION-002 for a value that is not
            possible; N6-OPTION-004 for an option
            without effect; N6-FILE-004 for a text that is not UTF-8; N6-YAML-00x for a settings file.
    """
    options = {option.name: option for option in OPTIONS}
    settings = {option.name: Setting(option.default, "default", option.name) for option in OPTIONS}
    for path in settings_files(folder):
        if is_file(path):
            from n6build.base.yaml_schema import read_document  # noqa: PLC0415 - most builds have no such file.

            document = read_document(path)
            for name, value in document.load(dict[str, str]).items():
                _known(name, options, document.where(name))
                settings[name] = Setting(value, path.name, name)
    for option in OPTIONS:
        if option.environment and environment.get(option.environment):
            settings[option.name] = Setting(environment[option.environment], option.environment, option.name)
    for name, setting in (script or {}).items():
        _known(name, options, setting.origin)
        settings[name] = setting
    for name, value in arguments.items():
        _known(name, options, None)
        settings[name] = Setting(value, "command line", name, is_explicit=True)
    if settings["loader"].origin == "default" and _RELOCATABLE.search(settings["model"].value):
        # A model that is linked already can only be a relocatable one.
        settings["loader"] = Setting("reloc", settings["model"].origin, "loader")
    check_text(str(folder))
    for name, setting in settings.items():
        check_text(setting.value)
        _check(options[name], setting, settings["loader"].value)
    return settings


def settings_files(folder: Path) -> tuple[Path, ...]:
    """Return the places of settings files, whether the files exist or not.

    Args:
        folder: Folder of the project.
    """
    return _user_settings(), folder / SETTINGS_FILE


def _user_settings() -> Path:
    from platformdirs import user_config_path  # noqa: PLC0415

    return user_config_path("n6build") / "settings.yaml"


def _check(option: Option, setting: Setting, loader: str) -> None:
    """Check the value of an option, and that it has an effect.

    An option without effect is an error, since it would otherwise go unnoticed.
    """
    if option.choices and setting.value not in option.choices:
        hint = did_you_mean(setting.value, option.choices)
        what = f"invalid value '{setting.value}' for option '{option.name}'"
        raise N6Error("N6-OPTION-002", what, where=setting.origin, hint=hint)
    if option.loader and loader != option.loader and setting.value != option.default:
        what = f"'{option.name}={setting.value}' is for relocatable models"
        raise N6Error("N6-OPTION-004", what, where=setting.origin, hint=f"loader={option.loader}")


def _known(name: str, options: Mapping[str, Option], where: str | None) -> None:
    if name not in options:
        raise N6Error("N6-OPTION-001", f"unknown option '{name}'", where=where, hint=did_you_mean(name, options))


def uses(option: Option, target: str) -> bool:
    """Return whether a target uses an option."""
    if target in LISTS:
        return option.name == "no_color" or (target == "doctor" and option.name in ("cmsis", "board", "probe"))
    return not option.targets or target in option.targets


def check_effect(settings: Mapping[str, Setting], targets: Collection[str]) -> None:
    """Refuse options of the command line that do nothing for its targets.

    Args:
        settings: Settings of `resolve`. A setting of a file or a variable is a habit, and not
            refused.
        targets: Names of `TARGETS`, none for all that is built by default. Nothing is checked where
            a file or a target of
            another project is among them.

    Raises:
        N6Error: N6-OPTION-020 for an option without effect.
    """
    wanted = {*(targets or ("build",))} - {"plan"} or {"build"}
    if not wanted <= TARGETS.keys():
        return
    if "matrix" in wanted:
        # Each pair is flashed and run.
        wanted |= {"flash", "run"}
    for option in OPTIONS:
        setting = settings[option.name]
        if not setting.is_explicit or option.name in ON_THE_DESK:
            continue
        for_run = option.name == "mode" and _MODES_OF_A_RUN.issuperset(setting.value.split(","))
        if not any(uses(option, each) for each in wanted) or (for_run and wanted.isdisjoint(ON_A_BOARD)):
            named = ON_A_BOARD if for_run else option.targets
            what = f"'{option.name}={setting.value}' has no effect on {', '.join(sorted(wanted))}"
            hint = f"use it with {', '.join(named)}" if named else "omit it"
            raise N6Error("N6-OPTION-020", what, where=setting.origin, hint=hint)


def check_files(settings: Mapping[str, Setting], folder: Path) -> None:
    """Refuse a missing file that the command line names, before anything is built.

    Args:
        settings: Settings of `resolve`.
        folder: Folder where relative paths start.

    Raises:
        N6Error: N6-OPTION-022 for a missing file.
    """
    for name in _FILES:
        setting = settings[name]
        path = folder / setting.value
        if setting.is_explicit and setting.value and not (is_file(path) or (name in _OR_FOLDERS and is_folder(path))):
            beside = [file.name for file in files_in(path.parent)] if is_folder(path.parent) else []
            near = nearest(path.name, beside)
            hint = f"did you mean {' or '.join(repr(each) for each in near)}?" if near else None
            raise N6Error("N6-OPTION-022", f"no file '{setting.value}' for '{name}'", where=setting.origin, hint=hint)
