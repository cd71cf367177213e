"""Shared by the SCons tools in site_tools/: nodes of steps, about which SCons asks the engine (n6build.plan.perform).

SCons schedules steps, and its content signatures, scanner, database and cache have no part in them. Nodes of the surrounding
project that depend on an output of a step keep SCons' signatures of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import SCons.Action
from n6build.base import uses
from n6build.base.errors import N6Error
from n6build.plan.perform import Site, is_current, perform, reasons_now
from n6build.plan.progress import shown_line
from n6build.plan.step import Step
from n6scons import failing_build
from SCons.Action import FunctionAction
from SCons.Errors import StopError
from SCons.Node.FS import Dir, File
from SCons.Scanner import ScannerBase
from SCons.Util import hash_signature

_HEADERS = (".h", ".hh", ".hpp", ".inc")


class _PlainFile(File):  # type: ignore[misc]
    """A file of which SCons stores nothing in its database, unless the surrounding project makes it."""

    __slots__ = ()

    @property
    def store_info(self) -> int:
        """Whether SCons stores what it knows of the file. A rule for a source may come after the step that reads it."""
        return int(self.has_builder() and not isinstance(self, StepFile))

    @store_info.setter
    def store_info(self, value: int) -> None:
        """SCons sets it for every file."""

    def get_max_drift_csig(self) -> None:
        """Trust no signature of an earlier build: archives have fixed times."""
        # Not "", which SCons 4.5 would take for the signature.
        return None

    def get_csig(self) -> Any:
        """Return the content signature, for nodes of the surrounding project."""
        ninfo = self.get_ninfo()
        if not hasattr(ninfo, "csig") and is_sha256() and (digest := uses.digest_of(self.rfile().get_abspath())):
            ninfo.csig = digest
        return super().get_csig()


class InputFile(_PlainFile):
    """A file that steps read and that no step makes."""

    __slots__ = ()

    def missing(self) -> bool:
        """Raises StopError, as whoever asks would, but as an error of n6build."""
        if super().missing():
            raise StopError(str(N6Error("N6-FILE-002", "cannot read: no such file", where=str(self))))
        return False


class StepFile(_PlainFile):
    """An output of a step."""

    __slots__ = ()

    def is_up_to_date(self) -> bool:
        """Return the engine's answer. SCons asks when all that the step needs is there."""
        return is_current(self.attributes.n6_step, self.attributes.n6_site)

    def changed(self, node: Any = None, allowcache: bool = False) -> bool:
        """Return False: SCons would compare the node with its database to keep what it finds for later."""
        return False

    def make_ready(self) -> None:
        """Collect no signatures: nobody stores them."""

    def explain(self) -> str:
        """Return the engine's reasons for --debug=explain."""
        reasons = list(reasons_now(self.attributes.n6_step, self.attributes.n6_site))
        return f"rebuilding `{self}' because {'; '.join(reasons) or 'it was asked for'}\n"


def file_node(env: Any, path: str) -> Any:
    """Return the node of a file that steps name, never substituted."""
    node = env.fs.File(node_name(path), env.fs.Top)
    if type(node) is File and not node.has_builder():
        node.__class__ = InputFile
    return node


def step_nodes(env: Any, step: Step, site: Site, *, verbose: bool) -> list[Any]:
    """Return the nodes of the step's outputs, made once.

    Args:
        env: An environment without tools and scanners.
        step: The step.
        site: Where it is done.
        verbose: Whether to show whole commands.
    """
    made = [env.fs.File(node_name(output), env.fs.Top) for output in step.outputs]
    if hasattr(made[0].attributes, "n6_step"):
        return made
    sources = [file_node(env, source) for source in step.sources]
    scanner = {"target_scanner": _generated_headers(env, step.include_folders)} if step.depfile else {}
    env.Command(made, sources, _StepAction(step, site, verbose=verbose), **scanner)
    env.Depends(made, [file_node(env, template) for template in step.templates])
    env.Requires(made, [file_node(env, before) for before in step.after])
    if step.depfile:
        env.Clean(made, file_node(env, step.depfile))
    # SCons would remove them before the step, and the engine compares with them.
    env.Precious(made)
    env.NoCache(made)
    for node in made:
        node.__class__ = StepFile
        node.attributes.n6_step, node.attributes.n6_site = step, site
    return made


def _generated_headers(env: Any, folders: Iterable[str]) -> ScannerBase:
    """Return a scanner that has headers of the surrounding project made before they are compiled.

    Which of them are read is the compiler's answer: it is enough that all those exist which its folders will have.
    """
    places = [env.fs.Dir(node_name(path), env.fs.Top) for path in folders]

    def generated(node: Any, _env: Any, _path: Any = ()) -> list[Any]:
        return [each for place in places for each in _built_headers(place)]

    return ScannerBase(generated)


def _built_headers(folder: Any) -> Iterable[Any]:
    for name, entry in list(folder.entries.items()):
        if name in (".", ".."):
            continue
        if isinstance(entry, Dir):
            yield from _built_headers(entry)
        elif name.endswith(_HEADERS) and entry.has_builder() and not isinstance(entry, StepFile):
            # Not yet known to be a file where Command() was given its name.
            yield entry.disambiguate()


class _StepAction(FunctionAction):  # type: ignore[misc]
    """Does a step. SCons would examine and sign the bytecode of a callable, which is nobody's concern here."""

    def __init__(self, step: Step, site: Site, *, verbose: bool) -> None:
        super().__init__(_nothing, {})
        self.execfunction = self._do
        self._step, self._site, self._verbose = step, site, verbose

    def _do(self, target: list[Any], source: list[Any], env: Any) -> None:
        with failing_build(target[0], self._site.build):
            perform(self._step, self._site)

    def strfunction(self, target: Any, source: Any, env: Any, executor: Any = None) -> str:
        """Return the line for -n; else the engine prints it, which knows whether a cache has the step."""
        return "" if SCons.Action.execute_actions else shown_line(self._step, verbose=self._verbose)

    def get_presig(self, target: Any, source: Any, env: Any, executor: Any = None) -> bytes:
        """Return nothing to sign."""
        return b""


def _nothing() -> None:
    """A placeholder for the function that SCons would examine."""


def is_sha256() -> bool:
    """Return whether SCons signs content as n6build does; a surrounding project may have chosen otherwise."""
    return len(hash_signature(b"")) == 64


def node_name(path: str) -> str:
    """Return the path for a node. SCons would take a name that begins with '#' as relative to the top of the project."""
    return f"./{path}" if path.startswith("#") else path
