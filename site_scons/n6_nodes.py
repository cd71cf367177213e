"""Shared by the SCons tools in site_tools/: nodes from the paths of steps, and when they have changed."""

from __future__ import annotations

from typing import Any

from n6build.base import uses
from n6build.base.errors import N6Error
from n6build.base.paths import project_path
from SCons.Errors import StopError
from SCons.Node import executing
from SCons.Node.FS import File
from SCons.Scanner.C import CScanner
from SCons.Util import hash_signature


class _ReadFile(File):  # type: ignore[misc]
    """A file whose content counts. SCons would trust a time stamp older than two days whatever the content, but archives have
    fixed times; option max_drift would change that for the surrounding project, too."""

    __slots__ = ()

    def get_max_drift_csig(self) -> None:
        # Not "", which SCons 4.5 would take for the signature.
        return None

    def get_csig(self) -> Any:
        """SCons would read the file in every build; its digest may be known."""
        ninfo = self.get_ninfo()
        if not hasattr(ninfo, "csig") and is_sha256() and (digest := uses.digest_of(self.rfile().get_abspath())):
            ninfo.csig = digest
        return super().get_csig()

    def missing(self) -> bool:
        """Raises StopError, as whoever asks would, but as an error of n6build."""
        if super().missing():
            raise StopError(str(N6Error("N6-FILE-002", "cannot read: no such file", where=str(self))))
        return False


def file_node(env: Any, path: str) -> Any:
    """path: as steps have it, never substituted."""
    return _read(env.fs.File(node_name(path), env.fs.Top))


def _read(node: Any) -> Any:
    if type(node) is File:
        node.__class__ = _ReadFile
    return node


def is_sha256() -> bool:
    """Whether SCons signs content as n6build does; who embeds it may have chosen otherwise."""
    return len(hash_signature(b"")) == 64


def header_scanner() -> Any:
    """SCons' scanner of C files, which finds headers as `file_node` makes them."""
    scanner = CScanner()
    # SCons would not look into a file that it takes for outdated, since its step will write it anew. While another thread writes
    # that step's sources, which turn out to be the same as before, it is neither: the step does not run, and nobody looks again.
    scanner.scan_check = lambda node, _env: node.get_state() != executing
    scan = scanner.function
    scanner.function = lambda *arguments: [_read(node) for node in scan(*arguments)]
    return scanner


def has_changed(dependency: Any, target: Any, before: Any, *_: object) -> bool:
    """A decider, for targets of steps. The ledger knows what the target was made from, also where a build was killed or another
    executor has made it; SCons' database, which is written at the end of a build, may be older, and is asked where the ledger
    does not know."""
    entry = target.attributes.n6_site.ledger.entries.get(target.attributes.n6_step.name)
    path = dependency.get_abspath()
    known = entry.inputs.get(project_path(path)) if entry else None
    return bool(dependency.changed_content(target, before) if known is None else known != uses.digest_of(path))


def node_name(path: str) -> str:
    """The path for a node. SCons would take a relative name that begins with '#' as relative to the top of the project."""
    return f"./{path}" if path.startswith("#") else path
