"""YAML as nodes that know their file and line, and files that include others.

The keys of a file override those of the file that `include: family.yaml` names. A mapping is merged
with the included one, key by key; any other value replaces the included one, and `~` removes a key.
A file includes one from its own folder, which may include another one in turn.
"""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import yaml

from n6build.base.bounded import MAX_YAML_BYTES, check_yaml
from n6build.base.errors import N6Error, did_you_mean
from n6build.base.files import files_in, is_file, read_at_most

INCLUDE = "include"
_FILE_NAME = r"[A-Za-z0-9_][\w.-]*\.yaml"
# Largest number of files in a chain of includes, and of nested mappings.
_DEPTH = 6
_LEVELS = 32
_NULL = "tag:yaml.org,2002:null"

Keys = tuple[str | int, ...]


@dataclass(frozen=True)
class Tree:
    """The nodes of a YAML file, merged with the files that it includes.

    Attributes:
        root: Root node.
        files: Files that the nodes come from, the requested one first.
    """

    root: yaml.Node
    files: tuple[Path, ...]


class _Named(io.StringIO):
    """A text whose nodes carry the name of its file."""

    def __init__(self, text: str, name: str) -> None:
        super().__init__(text)
        self.name = name


def compose(text: str, file: str) -> yaml.Node:
    """Return the root node of a YAML text.

    Args:
        text: The text.
        file: Name of its file in messages.

    Raises:
        N6Error: N6-YAML-002 if the text is not YAML, is empty, or exceeds a limit of
            base/bounded.py.
    """
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        check_yaml(text)
        root = yaml.compose(_Named(text, file), Loader=loader)
    except yaml.MarkedYAMLError as error:
        line = f":{error.problem_mark.line + 1}" if error.problem_mark else ""
        raise N6Error("N6-YAML-002", f"is not valid YAML: {error.problem}", where=f"{file}{line}") from error
    except (yaml.YAMLError, ValueError) as error:
        raise N6Error("N6-YAML-002", f"is not valid YAML: {error}", where=file) from error
    if root is None:
        raise N6Error("N6-YAML-002", "is empty", where=file)
    return root


def read_tree(path: Path, shown_as: str) -> Tree:
    """Read one YAML file, without includes.

    Args:
        path: The file.
        shown_as: Name of the file in messages.

    Raises:
        N6Error: N6-YAML-001 if the file cannot be read; N6-YAML-002 if it is not YAML.
    """
    try:
        text = read_at_most(path, MAX_YAML_BYTES).decode("utf-8")
    except N6Error as error:
        raise N6Error("N6-YAML-001", error.what, where=shown_as) from error
    except UnicodeDecodeError as error:
        raise N6Error("N6-YAML-001", f"is not UTF-8 text (byte {error.start})", where=shown_as) from error
    return Tree(compose(text, shown_as), (path,))


def read_merged_tree(path: Path, shown_as: str, before: tuple[Path, ...] = ()) -> Tree:
    """Read a YAML file, merged with the files that it includes.

    Args:
        path: The file.
        shown_as: Name of the file in messages.
        before: Files that include it, the outermost first.

    Raises:
        N6Error: N6-YAML-007 if it includes a file that is missing, is in another folder or includes
            it in turn; N6-YAML-005 if
            a key appears twice; errors of `read_tree` for each file.
    """
    tree = read_tree(path, shown_as)
    found = pairs_of(tree.root, ()) if isinstance(tree.root, yaml.MappingNode) else {}
    if INCLUDE not in found:
        return tree
    key, value = found[INCLUDE]
    included = _included(path, value, line_of(key, (INCLUDE,)), (*before, path))
    shown = str(PurePosixPath(shown_as).with_name(included.name))
    base = read_merged_tree(included, shown, (*before, path))
    own = _mapping(tree.root, [pair for name, pair in found.items() if name != INCLUDE])
    return Tree(_merged(base.root, own, (), {}), (path, *base.files))


def _included(path: Path, value: yaml.Node, where: str, chain: tuple[Path, ...]) -> Path:
    name = value.value if isinstance(value, yaml.ScalarNode) else ""
    if not re.fullmatch(_FILE_NAME, name, re.ASCII):
        what = "must name a YAML file in the folder of this one"
        raise N6Error("N6-YAML-007", what, where=where, hint="write a line such as include: family.yaml")
    included = path.with_name(name)
    if not is_file(included):
        others = [each.name for each in files_in(path.parent, "*.yaml") if each != path]
        raise N6Error("N6-YAML-007", f"file '{name}' does not exist", where=where, hint=did_you_mean(name, others))
    if included in chain:
        what = f"'{name}' includes this file: {' -> '.join(each.name for each in (*chain, included))}"
        raise N6Error("N6-YAML-007", what, where=where)
    if len(chain) >= _DEPTH:
        raise N6Error("N6-YAML-007", f"a chain of more than {_DEPTH} included files", where=where)
    return included


def pairs_of(node: yaml.MappingNode, path: Keys) -> dict[str, tuple[yaml.Node, yaml.Node]]:
    """Return key and value nodes by the key's text.

    Args:
        node: The mapping.
        path: Path of the mapping, for messages.

    Raises:
        N6Error: N6-YAML-005 if a key appears twice.
    """
    pairs: dict[str, tuple[yaml.Node, yaml.Node]] = {}
    for key, value in node.value:
        name = str(key.value)
        if name in pairs:
            raise N6Error("N6-YAML-005", "key appears twice", where=line_of(key, (*path, name)))
        pairs[name] = key, value
    return pairs


def line_of(node: yaml.Node, path: Keys) -> str:
    """Return 'board.yaml:12: slots.appli', or only 'board.yaml:12' for an empty path."""
    place = f"{node.start_mark.name}:{node.start_mark.line + 1}"
    return f"{place}: {dotted(path)}" if path else place


def dotted(path: Keys) -> str:
    """Return 'slots.appli' for ('slots', 'appli')."""
    return ".".join(str(key) for key in path)


def _mapping(like: yaml.Node, pairs: list[tuple[yaml.Node, yaml.Node]]) -> yaml.MappingNode:
    return yaml.MappingNode(like.tag, pairs, like.start_mark, like.end_mark)


def _merged(base: yaml.Node, own: yaml.Node, path: Keys, known: dict[tuple[int, int], yaml.Node]) -> yaml.Node:
    """Return a node merged with the included one.

    Args:
        base: Node of the included file.
        own: Node of the including file.
        path: Path of the nodes, for messages.
        known: Pairs of nodes that are already merged, since aliases may name one node many times.
    """
    if not (isinstance(base, yaml.MappingNode) and isinstance(own, yaml.MappingNode)):
        return own
    if len(path) > _LEVELS:
        raise N6Error("N6-YAML-002", f"nests mappings more than {_LEVELS} levels deep", where=line_of(own, ()))
    both = id(base), id(own)
    if both not in known:
        below, above = pairs_of(base, path), pairs_of(own, path)
        pairs = []
        for name, (key, value) in below.items():
            if name not in above:
                pairs.append((key, value))
            elif above[name][1].tag != _NULL:
                own_key, own_value = above[name]
                pairs.append((own_key, _merged(value, own_value, (*path, name), known)))
        pairs += [pair for name, pair in above.items() if name not in below]
        known[both] = _mapping(own, pairs)
    return known[both]
