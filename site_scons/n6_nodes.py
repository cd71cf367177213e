"""Nodes of steps, shared by the SCons tools in site_tools/.

SCons schedules the steps and asks the engine (n6build.engine.perform) about them. Its content
signatures, scanner, database and cache take no part. Nodes of the host project that depend on an
output of a step keep SCons' signatures of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import SCons.Action
from n6build.base import uses
from n6build.base.errors import N6Error
from n6build.engine.perform import Site, is_current, perform, reasons_now
from n6build.engine.progress import shown_line
from n6build.engine.step import Step
from n6scons import failing_build
from SCons.Action import FunctionAction
from SCons.Errors import StopError
from SCons.Node.FS import Dir, File
from SCons.Scanner import ScannerBase
from SCons.Util import hash_signature

_HEADERS = (".h", ".hh", ".hpp", ".inc")


class _PlainFile(File):  # type: ignore[misc]
    """A file without an entry in SCons' database, unless the host project makes it."""

    __slots__ = ()

    @property
    def store_info(self) -> int:
        """Return whether SCons stores its records of the file.

        The answer may change: a rule for a source may come after the step that reads it.
        """
        return int(self.has_builder() and not isinstance(self, StepFile))

    @store_info.setter
    def store_info(self, value: int) -> None:
        """Ignore the value that SCons sets for every file."""

    def get_max_drift_csig(self) -> None:
        """Return None, so that SCons trusts no signature of an earlier build.

        Files from archives have fixed times.
        """
        # Not "", which SCons 4.5 would take for the signature.
        return None

    def get_csig(self) -> Any:
        """Return the content signature, for nodes of the host project."""
        ninfo = self.get_ninfo()
        if not hasattr(ninfo, "csig") and is_sha256() and (digest := uses.digest_of(self.rfile().get_abspath())):
            ninfo.csig = digest
        return super().get_csig()


class InputFile(_PlainFile):
    """A file that steps read and that no step makes."""

    __slots__ = ()

    def missing(self) -> bool:
        """Return False for a file that exists.

        Raises:
            StopError: N6-FILE-002 if the file does not exist; SCons would raise its own message.
        """
        if super().missing():
            raise StopError(str(N6Error("N6-FILE-002", "cannot read: no such file", where=str(self))))
        return False


class StepFile(_PlainFile):
    """An output of a step."""

    __slots__ = ()

    def is_up_to_date(self) -> bool:
        """Return the engine's answer; SCons asks once all inputs of the step exist."""
        return is_current(self.attributes.n6_step, self.attributes.n6_site)

    def changed(self, node: Any = None, allowcache: bool = False) -> bool:
        """Return False, so that SCons does not compare the node with its database."""
        return False

    def make_ready(self) -> None:
        """Collect no signatures, since none are stored."""

    def explain(self) -> str:
        """Return the engine's reasons for --debug=explain."""
        reasons = list(reasons_now(self.attributes.n6_step, self.attributes.n6_site))
        return f"rebuilding `{self}' because {'; '.join(reasons) or 'it was requested'}\n"


def file_node(env: Any, path: str) -> Any:
    """Return the node of a file that steps name, without substituting its name."""
    node = env.fs.File(node_name(path), env.fs.Top)
    if type(node) is File and not node.has_builder():
        node.__class__ = InputFile
    return node


def step_nodes(env: Any, step: Step, site: Site, *, verbose: bool) -> list[Any]:
    """Return the nodes of the step's outputs, which are made only once.

    Args:
        env: An environment without tools and scanners.
        step: The step.
        site: The site where the step is done.
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
    # SCons would remove the outputs before the step, but the engine compares the new ones with them.
    env.Precious(made)
    env.NoCache(made)
    for node in made:
        node.__class__ = StepFile
        node.attributes.n6_step, node.attributes.n6_site = step, site
    return made


def _generated_headers(env: Any, folders: Iterable[str]) -> ScannerBase:
    """Return a scanner that makes SCons build the host project's headers first.

    Only the compiler knows which of them are read. It is enough that all headers exist that its
    folders will contain.
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
            # SCons does not know yet that it is a file if Command() only got its name.
            yield entry.disambiguate()


class _StepAction(FunctionAction):  # type: ignore[misc]
    """An action that does a step.

    SCons would examine and sign the bytecode of a plain callable, which serves no purpose here.
    """

    def __init__(self, step: Step, site: Site, *, verbose: bool) -> None:
        super().__init__(_nothing, {})
        self.execfunction = self._do
        self._step, self._site, self._verbose = step, site, verbose

    def _do(self, target: list[Any], source: list[Any], env: Any) -> None:
        with failing_build(target[0], self._site.build):
            perform(self._step, self._site)

    def strfunction(self, target: Any, source: Any, env: Any, executor: Any = None) -> str:
        """Return the line for -n, and an empty text during a build.

        The engine then prints the line, because it knows whether a cache has the step.
        """
        return "" if SCons.Action.execute_actions else shown_line(self._step, verbose=self._verbose)

    def get_presig(self, target: Any, source: Any, env: Any, executor: Any = None) -> bytes:
        """Return no bytes to sign."""
        return b""


def _nothing() -> None:
    """Do nothing: SCons examines this function in place of the step's."""


def is_sha256() -> bool:
    """Return whether SCons signs content with SHA-256, as n6build does.

    A host project may have chosen another hash.
    """
    return len(hash_signature(b"")) == 64


def node_name(path: str) -> str:
    """Return the path for a node.

    SCons would take a name that begins with '#' as relative to the top of the project.
    """
    return f"./{path}" if path.startswith("#") else path
