"""YAML for JSON documents of ST's tools, and back, without loss.

Keys keep their order, and numbers their spelling.
"""

from __future__ import annotations

import yaml

from n6build.base.bounded import WRONG_FIELDS, check_yaml
from n6build.base.errors import N6Error
from n6build.compile.strict_json import Number


class _Dumper(yaml.SafeDumper):
    """A dumper that keeps the spelling of numbers and puts flat objects on one line."""


class _Loader(yaml.SafeLoader):
    """A loader that keeps the spelling of numbers and refuses aliases.

    Aliases could make a few lines endless, and JSON has none.
    """

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise yaml.composer.ComposerError(None, None, "aliases are not allowed", mark)
        node: yaml.Node | None = super().compose_node(parent, index)
        return node


_INT, _FLOAT = "tag:yaml.org,2002:int", "tag:yaml.org,2002:float"


def _number(dumper: yaml.SafeDumper, value: Number) -> yaml.Node:
    return dumper.represent_scalar(_INT if value.lstrip("-").isdigit() else _FLOAT, str(value))


def _plain_number(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> Number:
    return Number(loader.construct_scalar(node))


def _represent_mapping(dumper: yaml.SafeDumper, value: dict[str, object]) -> yaml.Node:
    flat = not any(isinstance(item, (dict, list)) for item in value.values())
    return dumper.represent_mapping("tag:yaml.org,2002:map", value.items(), flow_style=flat)


_Dumper.add_representer(Number, _number)
_Dumper.add_representer(dict, _represent_mapping)
_Loader.add_constructor(_INT, _plain_number)
_Loader.add_constructor(_FLOAT, _plain_number)


def to_yaml(document: object, kind: str) -> str:
    """Return a document as YAML.

    Texts that look like numbers are quoted, numbers are not.

    Args:
        document: The document.
        kind: Kind of the document, used as the one key around it.
    """
    return str(yaml.dump({kind: document}, Dumper=_Dumper, sort_keys=False, allow_unicode=False, width=160))


def from_yaml(text: str, file: str) -> tuple[str, object]:
    """Return (kind, document) of a YAML text.

    Raises:
        N6Error: N6-MPOOL-003 if the text is not the output of `to_yaml`.
    """
    try:
        check_yaml(text)
        document = yaml.load(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        where = f"{file}:{error.problem_mark.line + 1}" if error.problem_mark else file
        raise N6Error("N6-MPOOL-003", f"is not YAML: {error.problem}", where=where) from error
    except (yaml.YAMLError, *WRONG_FIELDS) as error:
        raise N6Error("N6-MPOOL-003", f"is not YAML: {error}", where=file) from error
    if not isinstance(document, dict) or len(document) != 1 or not isinstance(next(iter(document)), str):
        raise N6Error(
            "N6-MPOOL-003",
            "is not a descriptor of memory pools or profiles",
            where=file,
            hint="convert the file with tools/pools.py import",
        )
    kind, inner = next(iter(document.items()))
    return kind, inner
