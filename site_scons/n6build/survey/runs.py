"""Run of a network on the virtual board, in a process of its own.

The process calls n6build, and has a limited time: a damaged network can neither end nor stop a
survey.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from n6build.adopt.networks import FoundNetwork
from n6build.base.bounded import decode_json
from n6build.base.captured import run_in_session
from n6build.base.environment import read_environment
from n6build.base.errors import N6Error
from n6build.base.files import is_file, read_bytes, to_json, write_atomically
from n6build.base.walk import Tree, nearest
from n6build.board.run.comparison_text import percent
from n6build.board.run.epoch_test_run import FedOutcome
from n6build.board.run.session import Outcome, read_outcome
from n6build.board.virtual_board.build import find_emulator
from n6build.compile.device_headers import headers_in, missing_header
from n6build.compile.ll_aton import Version, release_name
from n6build.compile.runtime_files import missing_parts, runtime_in
from n6build.describe.model import of_noise
from n6build.survey.kinds import Wishes

_RUNTIME = "ll_aton_runtime.c"
_MODEL = "surveyed"
State = Literal["runs", "far off", "fails", "not run"]


@dataclass(frozen=True)
class Ran:
    """The result of a run.

    Attributes:
        state: 'far off' if the outputs are not as expected of the chip.
        why: Reason if it does not run.
        cosine: Smallest cosine of an output to that of the reference; None without a comparison.
        elements: Elements of all outputs, 0 without a comparison.
        equal: Equal ones of them.
        within_1: Those that are at most one step away.
        against: The reference in words.
        not_compared: Reason for a missing comparison.
    """

    state: State
    why: str = ""
    cosine: float | None = None
    elements: int = 0
    equal: int = 0
    within_1: int = 0
    against: str = ""
    not_compared: str = ""


@dataclass(frozen=True)
class Joined:
    """The buffers of a network, each made from the reference's tensors.

    Attributes:
        buffers: Buffers of the network, 0 if the run failed.
        compared: Those that were joined with a tensor of the model.
        elements: Elements of these.
        equal: Equal ones of them.
        within_1: Those that are at most one step away.
        most: Largest distance in steps.
        why_not: Reason of a failed run.
    """

    buffers: int = 0
    compared: int = 0
    elements: int = 0
    equal: int = 0
    within_1: int = 0
    most: int = 0
    why_not: str = ""

    @property
    def text(self) -> str:
        """Return the comparison as a sentence."""
        if self.why_not:
            return f"epoch by epoch: {self.why_not}"
        shares = (percent(each, self.elements) for each in (self.equal, self.within_1))
        return "epoch by epoch: {} equal, {} within 1, max {}".format(*shares, self.most)


@dataclass(frozen=True)
class _FedResult:
    """The networks of an epochs.json file."""

    networks: tuple[FedOutcome, ...]


def run_network(network: FoundNetwork, tree: Tree, wishes: Wishes) -> tuple[Ran, Joined | None]:
    """Build a network, and run it on the virtual board.

    Args:
        network: Network with all its weights.
        tree: Files of the surveyed folder, which may have a runtime for it.
        wishes: Options of the survey.
    """
    trees = (tree, *wishes.cores)
    try:
        find_emulator(wishes.board.soc)
        words = [f"board={wishes.board.name}", "probe=virtual", *_libraries(network, trees, wishes)]
    except N6Error as error:
        return Ran("not run", error.what), None
    with tempfile.TemporaryDirectory(prefix="n6build-survey-") as name:
        folder = Path(name)
        write_atomically(folder / _MODEL / "model.yaml", to_json(_described(_given(network, folder))))
        words.append(f"model={folder / _MODEL}")
        ran = _ran(folder, words, wishes.seconds)
        fed = _fed(folder, words, wishes.seconds) if wishes.epochs and ran.state in ("runs", "far off") else None
    return ran, fed


def _given(network: FoundNetwork, folder: Path) -> Path:
    """Return network.c, in a folder with links to weights that are elsewhere."""
    if not network.elsewhere:
        return network.source.absolute()
    linked = folder / network.source.parent.name
    linked.mkdir()
    for file in (*network.source.parent.iterdir(), *(each.file for each in network.elsewhere)):
        if is_file(file) and not (linked / file.name).exists():
            (linked / file.name).symlink_to(file.absolute())
    return linked / network.source.name


def _described(source: Path) -> dict[str, object]:
    """Return a model.yaml of a network.

    Its tolerance is wide: a step that fails leaves no results, and the survey judges by itself.
    """
    return {
        "name": _MODEL,
        "network": {"folder": str(source.parent), "name": source.stem},
        "tolerance": {"cosine": 0.0, "epoch": {"equal": 0.0, "within_1": 0.0}},
    }


def _libraries(network: FoundNetwork, trees: Sequence[Tree], wishes: Wishes) -> list[str]:
    """Return the options that name ST's runtime and the headers for it.

    Without an option, the environment of the user names them.
    """
    fit = [folder for tree in trees for version, folder in _runtimes(tree) if network.version in (None, version)]
    words = []
    if core := nearest(tuple(fit), network.source):
        words.append(f"core={core.absolute()}")
    elif read_environment().core is None:
        wanted = release_name(network.version) if network.version else "ST Edge AI Core"
        what = f"no runtime of {wanted} in the folder"
        raise N6Error("N6-LLATON-002", what, hint="name folders that have it: core=FOLDER,FOLDER")
    headers = wishes.cmsis or next(_headers(trees, network.source), "")
    return [*words, *([f"cmsis={headers}"] if headers else [])]


def _runtimes(tree: Tree) -> Iterator[tuple[Version, Path]]:
    """Yield the complete runtimes of a tree.

    Each comes with the lowest folder that has all of it.
    """
    for file in tree.named(_RUNTIME):
        for folder in file.parents:
            if not folder.is_relative_to(tree.root):
                break
            try:
                found = runtime_in(tree.below(folder))
            except N6Error:
                # There are two releases from here on, or the version cannot be read.
                break
            if not missing_parts(found):
                yield found.version, folder
                break


def _headers(trees: Sequence[Tree], near: Path) -> Iterator[str]:
    """Yield complete sets of CMSIS, device and HAL, as values of option cmsis."""
    for tree in trees:
        folders = tuple(headers_in(tree, near))
        if folders and not missing_header(folders):
            yield os.pathsep.join(str(each.absolute()) for each in folders)


def _ran(folder: Path, words: Sequence[str], seconds: int) -> Ran:
    why = _called(folder, ["flash", "run", *words], seconds)
    found = next(iter(folder.glob("build/*/*/run.json")), None)
    if found is None:
        return Ran("fails", why or "it made no run.json")
    return Ran("fails", why) if why else _compared(read_outcome(found))


def _compared(outcome: Outcome) -> Ran:
    network = outcome.networks[0]
    outputs = [output for verdict in network.verdicts for output in verdict.outputs]
    return Ran(
        "runs" if all(each.within(of_noise(network.nudged)) for each in outputs) else "far off",
        cosine=min((each.cosine for each in outputs), default=None),
        elements=sum(each.elements for each in outputs),
        equal=sum(each.equal for each in outputs),
        within_1=sum(each.within_1 for each in outputs),
        against=network.against,
        not_compared="" if outputs else network.not_compared,
    )


def _fed(folder: Path, words: Sequence[str], seconds: int) -> Joined:
    why = _called(folder, ["run", "epochs=1", *words], seconds)
    found = next(iter(folder.glob("build/*/*/epochs.json")), None)
    if found is None:
        return Joined(why_not=why or "it made no epochs.json")
    outcome = decode_json(read_bytes(found), _FedResult).networks[0]
    return Joined(
        buffers=len(outcome.epochs) + len(outcome.not_compared),
        compared=len(outcome.epochs),
        elements=sum(each.elements for each in outcome.epochs),
        equal=sum(each.equal for each in outcome.epochs),
        within_1=sum(each.within_1 for each in outcome.epochs),
        most=max((each.max for each in outcome.epochs), default=0),
    )


@dataclass(frozen=True)
class _Problem:
    """Fields of an error in last_error.json."""

    id: str
    what: str


def _called(folder: Path, words: Sequence[str], seconds: int) -> str:
    """Call n6build in a folder, and return why it failed, or ""."""
    try:
        status, output = run_in_session([sys.executable, "-m", "n6build", *words, "--quiet"], folder, seconds)
    except subprocess.TimeoutExpired:
        return f"it did not end within {seconds} s"
    if not status:
        return ""
    file = folder / "build" / "last_error.json"
    if is_file(file):
        problem = decode_json(read_bytes(file), _Problem)
        return f"{problem.id}: {problem.what}"
    lines = output.strip().splitlines()
    return lines[-1] if lines else f"n6build ended with status {status}"
