"""Pages about options and targets, with scons, n6build, and in scripts."""

from __future__ import annotations

from n6build.cli.arguments import COMMANDS
from n6build.describe.choices import Choices
from n6build.describe.invocation import Invocation
from n6build.describe.option import Option, options_of, scoped_help
from n6build.describe.targets import LISTS, TARGETS

from reference_docs.markdown import anchor, code, page, sentence, table, text

_OPTIONS = """\
The same with `scons name=value`, `n6build TARGET name=value` and `n6build TARGET --name value`. In an SConstruct of your own an
option is a keyword of the builders, and `n6.name=value` on the command line; `N6_OPTIONS` takes them in a Makefile, `OPTIONS` in
CMake. A value comes from the first of these places that has one:

1. the command line
2. the variable of the environment that the last column names
3. `n6build.local.yaml` in the project's folder, with lines such as `probe: virtual`
4. `settings.yaml` in your n6build folder (on Linux, `~/.config/n6build`)
5. the default

An option of the command line that the named targets do not use is an error (N6-OPTION-020), since nobody would notice that it
does nothing."""

_TARGETS = """\
Several may be named: `scons flash run report`, `n6build flash run report`. A file that a step makes is a target, too:
`scons build/nucleo-n657/fsbl/fsbl.elf`."""


def options_page() -> str:
    """Return the page with every option: values, default, meaning and variable."""
    for_models = [option for option in options_of(Choices) if option.loader]
    others = [option for option in options_of(Choices) if not option.loader]
    return page(
        "Options",
        _OPTIONS,
        "## Of a build",
        _table(others),
        "## Of relocatable models",
        "Only with `loader=reloc`; see [Relocatable models](../relocatable.md).",
        _table(for_models),
        "## Of the command",
        "They do not change what is built. `boards`, `models` and `cache` are for scons alone.",
        _table(list(options_of(Invocation))),
    )


def targets_page() -> str:
    """Return the page with every target, and with its availability in n6build."""
    rows = [
        (
            f"{anchor(name)}{code(name)}",
            text(sentence(what)) + ("" if name in COMMANDS else " With scons alone."),
        )
        for name, what in TARGETS.items()
    ]
    alone = ", ".join(code(name) for name in LISTS)
    return page(
        "Targets",
        _TARGETS,
        table(("target", "what is made or done"), rows),
        f"{alone} only print information and need no compiler.",
    )


def _table(options: list[Option]) -> str:
    rows = [
        (
            f"{anchor(option.name)}{code(option.name)}",
            " or ".join(map(code, option.choices)),
            code(option.default) if option.default else "",
            text(sentence(scoped_help(option) if option.targets else option.help)),
            code(option.environment) if option.environment else "",
        )
        for option in options
    ]
    return table(("option", "values", "default", "meaning", "variable"), rows)
