"""Steps as actions of the Remote Execution API.

An action has a command, a tree of all files that the step reads, and names of its outputs. The
state that a step's function consults, such as the flash memory of a virtual board, is large and
changes little: it is sent in pieces, which `plan.alone` joins.

In the tree, `project` is the working directory. A checkout of n6build outside the project is beside
it, and so is an installed library. All other files are under `outside`, by their path: another
machine cannot do such a step.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache

from google.protobuf.message import Message

from n6build.base.paths import LIBRARY, ROOT
from n6build.engine.command import environment_of, worker_command
from n6build.engine.perform import Site
from n6build.engine.plan import Plan, plan_json
from n6build.engine.remote.messages import message
from n6build.engine.remote.store import Blob, Digest, blob_of, blob_of_file, pieces_of_file
from n6build.engine.step import Step, canonical
from n6build.engine.step_process import MODULE as ALONE
from n6build.engine.step_process import PIECES
from n6build.engine.work import Work

PROJECT, OUTSIDE = "project", "outside"
# The place of n6build if it is not in the project.
_BESIDE = "n6build"
STEP_FILE = ".n6build-step.json"


@dataclass(frozen=True)
class Action:
    """A step as an action.

    Attributes:
        outputs: name of each file for the step, by its name for the command; with the list of
            headers, if the step writes one.
        directories: directories of the input tree.
        files: files of the input tree.
        is_portable: whether everything that the action names is in the tree.
    """

    action: Blob
    command: Blob
    outputs: Mapping[str, str]
    directories: tuple[Blob, ...]
    files: tuple[Blob, ...]
    is_portable: bool

    @property
    def digest(self) -> Digest:
        """The digest that identifies the action in caches."""
        return self.action.digest


def as_action(work: Work, site: Site, properties: Iterable[tuple[str, str]] = (), about: str = "") -> Action:
    """Return a step as an action.

    Args:
        work: the step with all its inputs.
        site: the place where the step would be done.
        properties: properties of the platform, as a server's workers state them.
        about: empty for the step itself, else the name of notes about the step.

    Raises:
        FileNotFoundError: if an input has disappeared.
    """
    step, top = work.step, str(site.top)
    files = {_place(path, top): blob_of_file(path) for path in _files(work, site)}
    outputs = {_named(path, top): path for path in (*step.outputs, step.depfile) if path}
    consulted = {_named(path, top): path for path in step.consulted} if step.function else {}
    for name, path in consulted.items():
        pieces = pieces_of_file(str(site.top / path))
        files |= {f"{PROJECT}/{PIECES}/{name}/{number:05}": piece for number, piece in enumerate(pieces)}
    if step.function:
        told = blob_of(canonical(plan_json(Plan((_moved(step, top),)))).encode() + b"\n")
        files[f"{PROJECT}/{STEP_FILE}"] = told
        build = _named(os.path.relpath(site.build, top), top)
        arguments = ["python3", "-m", ALONE, STEP_FILE, build]
        environment = {"PYTHONPATH": os.path.relpath(_place(str(LIBRARY.parent), top), PROJECT)}
    else:
        arguments = [_named(text, top) for text in worker_command(step)]
        environment = environment_of(step, f"../{_BESIDE}")
    platform = message("Platform", properties=[{"name": name, "value": value} for name, value in sorted(properties)])
    command = _blob(
        message(
            "Command",
            arguments=arguments,
            environment_variables=[{"name": name, "value": environment[name]} for name in sorted(environment)],
            output_paths=sorted(outputs),
            working_directory=PROJECT,
            platform=platform,
        )
    )
    directories = _tree(files)
    # Compilers, Python and its packages are not among the files, so the salt has their content.
    known = {"tools": work.parts["tools"], "code": work.parts["code"], **({"about": about} if about else {})}
    salt = canonical(known).encode()
    action = message(
        "Action",
        command_digest=command.digest.message(),
        input_root_digest=directories[-1].digest.message(),
        salt=salt,
        platform=platform,
    )
    inside = not any(name.startswith(f"{OUTSIDE}/") for name in files)
    inside &= not any(map(os.path.isabs, (*outputs, *consulted)))
    return Action(_blob(action), command, outputs, directories, tuple(files.values()), inside)


def _files(work: Work, site: Site) -> list[str]:
    """Return the absolute paths of all files that the step and its function need.

    State that a function consults is not among them.
    """
    step = work.step
    whole = () if step.function else step.consulted
    read = [str(site.top / path) for path in (*step.sources, *step.templates, *whole, *work.headers)]
    if step.function:
        read += site.code.files_of(step.function.partition(":")[0])
        read += site.code.files_of(ALONE)
    return list(dict.fromkeys(read))


@cache
def _folders(top: str) -> tuple[tuple[str, str], ...]:
    """Return (folder, place in the tree) pairs, the longest folder first.

    The project may be in n6build's checkout.
    """
    places = {top: PROJECT}
    # Names of files in the project are relative to it, those of n6build itself included.
    if not _is_in(str(ROOT), str(LIBRARY)) and not _is_in(str(ROOT), top):
        places[str(ROOT)] = _BESIDE
    if not _is_in(str(LIBRARY), str(ROOT)) and not _is_in(str(LIBRARY), top):
        places[str(LIBRARY.parent)] = "library"
    return tuple(sorted(places.items(), key=lambda item: -len(item[0])))


def _is_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder + os.sep)


def _place(path: str, top: str) -> str:
    """Return the place of an absolute path in the tree."""
    for folder, place in _folders(top):
        if _is_in(path, folder):
            return f"{place}{path[len(folder) :]}"
    return f"{OUTSIDE}{path}"


def _named(text: str, top: str) -> str:
    """Return a text of the step with paths relative to the project's folder."""
    for folder, place in _folders(top):
        there = "" if place == PROJECT else f"../{place}/"
        text = text.replace(f"{folder}{os.sep}", there).replace(folder, there.rstrip("/") or ".")
    return text


def brought_back(data: bytes, site: Site) -> bytes:
    """Return a list of headers from another machine with the file names of this one."""
    text = os.fsdecode(data)
    for folder, place in _folders(str(site.top)):
        text = text.replace(f"../{place}/", f"{folder}{os.sep}") if place != PROJECT else text
    return os.fsencode(text)


def sent_away(data: bytes, site: Site) -> bytes:
    """Return a list of headers with the file names of another machine."""
    return os.fsencode(_named(os.fsdecode(data), str(site.top)))


def _moved(step: Step, top: str) -> Step:
    """Return the step with names for another machine."""

    def named(texts: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(_named(text, top) for text in texts)

    return replace(
        step,
        outputs=named(step.outputs),
        sources=named(step.sources),
        templates=named(step.templates),
        parameters=_named(step.parameters, top),
        # The other machine does not do the steps before this one.
        after=(),
        state=named(step.state),
        consulted=named(step.consulted),
    )


@dataclass
class _Folder:
    files: dict[str, Digest] = field(default_factory=dict)
    folders: dict[str, _Folder] = field(default_factory=dict)


def _tree(files: Mapping[str, Blob]) -> tuple[Blob, ...]:
    """Return the directories of a tree, the root last. files: files by their place."""
    root = _Folder()
    for place, blob in files.items():
        *folders, name = place.split("/")
        at = root
        for folder in folders:
            at = at.folders.setdefault(folder, _Folder())
        at.files[name] = blob.digest
    # The command's working directory must exist even if the step reads no file in it.
    root.folders.setdefault(PROJECT, _Folder())
    found: dict[Digest, Blob] = {}
    last = _written(root, found)
    return (*(blob for blob in found.values() if blob.digest != last.digest), last)


def _written(folder: _Folder, found: dict[Digest, Blob]) -> Blob:
    files = [message("FileNode", name=name, digest=folder.files[name].message()) for name in sorted(folder.files)]
    below = {name: _written(folder.folders[name], found) for name in sorted(folder.folders)}
    directories = [message("DirectoryNode", name=name, digest=each.digest.message()) for name, each in below.items()]
    blob = _blob(message("Directory", files=files, directories=directories))
    return found.setdefault(blob.digest, blob)


def _blob(written: Message) -> Blob:
    return blob_of(written.SerializeToString(deterministic=True))
