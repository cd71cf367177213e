"""The page about SCons: builders and variables of the tools in site_tools.

The texts are the docstrings of the tools.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reference_docs.markdown import anchor, code, page, sentence, table, text
from reference_docs.meanings import introduction, meanings, parts

_TOOLS = Path(__file__).resolve().parents[2] / "site_scons/site_tools"
# These tools are for host projects; the others make and show plans, and SConstruct of n6build uses them.
_FOR_HOSTS = ("n6_builders", "n6_on_board", "n6_compile_commands")

_HEAD = """\
`Environment(tools=["default", "n6"], toolpath=[...])` loads all of this; see [SCons](../embedding/scons.md). Every
builder that takes `**options` takes n6build's [options](options.md) as keywords: `profile="noextmem"`, `backend="reference"`.
Files are nodes, or paths from the folder of the script."""


@dataclass
class _Environment:
    """A substitute for an environment of SCons that records a tool's additions."""

    methods: dict[str, Callable[..., Any]] = field(default_factory=dict)
    variables: dict[str, object] = field(default_factory=dict)

    def AddMethod(self, method: Callable[..., Any], name: str) -> None:
        self.methods[name] = method

    def SetDefault(self, **values: object) -> None:
        self.variables |= values

    def Tool(self, *_: object, **__: object) -> None:
        """Ignore other tools, which are read themselves."""


@dataclass(frozen=True)
class Tool:
    """A module of site_tools.

    Attributes:
        name: Name of the module.
        methods: Methods that it adds, by name.
        variables: Variables with their defaults.
        meanings: Meanings of the variables.
    """

    name: str
    methods: dict[str, Callable[..., Any]]
    variables: dict[str, object]
    meanings: dict[str, str]


def tools() -> list[Tool]:
    """Return all tools, those for host projects first."""
    for folder in (_TOOLS, _TOOLS.parent):
        if str(folder) not in sys.path:
            sys.path.insert(0, str(folder))
    found = []
    for path in sorted(_TOOLS.glob("*.py"), key=lambda path: (path.stem not in _FOR_HOSTS, path.stem)):
        module, environment = importlib.import_module(path.stem), _Environment()
        module.generate(environment)
        said = {name: what for names, what in _variables_in(module.__doc__ or "") for name in names}
        variables = {name: environment.variables.get(name) for name in {**environment.variables, **said}}
        found.append(Tool(path.stem, environment.methods, variables, said))
    return sorted(found, key=lambda tool: tool.name not in _FOR_HOSTS)


def builders_page() -> str:
    """Return the page with every builder, method and construction variable.

    It lists arguments and results.
    """
    all_tools = tools()
    hosts = [tool for tool in all_tools if tool.name in _FOR_HOSTS]
    others = [tool for tool in all_tools if tool.name not in _FOR_HOSTS]
    rows = [
        (f"{anchor(name)}{code(name)}", code(repr(value)) if value is not None else "", text(sentence(what)))
        for tool in all_tools
        for name, value, what in ((name, tool.variables[name], tool.meanings.get(name, "")) for name in tool.variables)
    ]
    return page(
        "SCons builders",
        _HEAD,
        "## For your SConstruct",
        *(_method(name, method) for tool in hosts for name, method in tool.methods.items()),
        "## Construction variables",
        table(("variable", "default", "meaning"), sorted(rows)),
        "## Below the builders",
        "Building blocks of the builders and of n6build's own `SConstruct`.",
        *(_method(name, method) for tool in others for name, method in tool.methods.items()),
    )


def _method(name: str, method: Callable[..., Any]) -> str:
    signature = inspect.signature(method)
    parameters = [each for each in signature.parameters.values() if each.name != "env"]
    first, said = parts(method.__doc__ or "", [each.name for each in parameters])
    return "\n\n".join(
        [
            f"### {name}",
            f"    env.{name}{_without_annotations(parameters)}",
            text(first),
            table(("argument", "what"), [(code(each), text(sentence(what))) for each, what in said.items()]),
            _returned(method, signature.return_annotation),
        ]
    ).strip()


def _returned(method: Callable[..., Any], annotation: object) -> str:
    """Return a table of the attributes of a builder's result, if it is n6build's."""
    kind = getattr(inspect.unwrap(method), "__globals__", {}).get(str(annotation))
    if not (isinstance(kind, type) and dataclasses.is_dataclass(kind)) or kind.__module__ != "n6host":
        return ""
    rows = [(code(f".{name}"), text(sentence(what))) for name, what in meanings(kind).items()]
    for name, value in vars(kind).items():
        if inspect.isfunction(value) and not name.startswith("_"):
            arguments = [each for each in inspect.signature(value).parameters.values() if each.name != "self"]
            rows.append(
                (code(f".{name}{_without_annotations(arguments)}"), text(inspect.cleandoc(value.__doc__ or "")))
            )
    return table((f"Returns {code(kind.__name__)}", text(introduction(kind).rstrip("."))), rows)


def _without_annotations(parameters: list[inspect.Parameter]) -> str:
    return str(inspect.Signature([each.replace(annotation=inspect.Parameter.empty) for each in parameters]))


def _variables_in(doc: str) -> list[tuple[list[str], str]]:
    """Return names and meanings behind 'Construction variables'.

    The form is NAME (meaning), or NAME, NAME (meaning).
    """
    words = " ".join(doc.partition("Construction variables")[2].split())
    return [
        (names.split(", "), what)
        for names, what in re.findall(r"(N6_\w+(?:, N6_\w+)*) \(((?:[^()]|\([^)]*\))+)\)", words)
    ]
