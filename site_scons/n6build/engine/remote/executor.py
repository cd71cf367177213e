"""Steps done by the workers of a server, for as long as the server succeeds.

If the server fails, the build continues on this machine, and n6build reports the reason once. A
step that fails on a worker is repeated here: an error is always this machine's, with its own id and
text, and an incomplete worker fails no build.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from n6build.base.console import kib, say, show
from n6build.base.errors import N6Error
from n6build.base.files import write_atomically
from n6build.base.regular_file import content_of
from n6build.engine.command import make_map_portable
from n6build.engine.depfile import found_headers, has_computed_include, headers_read
from n6build.engine.perform import Site
from n6build.engine.remote.actions import Action, as_action, brought_back
from n6build.engine.remote.address import parse_address, read_access
from n6build.engine.remote.connection import Connection, connect, wrong_answer
from n6build.engine.remote.execute import ActionFailedError, LackingError, Progress, execute
from n6build.engine.remote.platform import Properties, properties_for, python_digest
from n6build.engine.remote.store import Digest, digest_from, download_all, read_blobs, upload
from n6build.engine.step import Step
from n6build.engine.work import work_of

# Steps at a time without -j. They wait for workers, and steps that are done here wait for each other.
JOBS = 32
# Longest output of a step, in bytes.
_LONGEST_TEXT = 4 << 20


@dataclass
class Executor:
    """An executor of steps on a server, for several threads.

    Attributes:
        done: number of steps by workers of this server.
        known: number of steps whose results the server had.
        here: number of steps that had to be done here in the end.
    """

    connection: Connection
    site: Site
    progress: Progress
    is_on: bool = True
    done: int = 0
    known: int = 0
    here: int = 0
    _sent: dict[Digest, Future[None]] = field(default_factory=dict)
    _said: set[str] = field(default_factory=set)
    _lacking: set[Properties] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def do(self, step: Step) -> bool:
        """Do a step on a worker, and return whether it is done.

        If so, its outputs exist, each with the digest that the worker reported, and its text is on
        the console. If not, the step must be done here, and no output exists.
        """
        if not self.is_on or not may_leave(step):
            return False
        properties = properties_for(step, self._python)
        action = None if properties in self._lacking else self._action(step, properties)
        if action is None:
            return False
        try:
            text = self._carried_out(action)
        except N6Error as error:
            self._note(error, properties)
            return False
        make_map_portable(step)
        if step.depfile:
            listed = self.site.top / step.depfile
            write_atomically(listed, brought_back(content_of(listed), self.site))
            if not self._is_confirmed(step):
                return False
        show(text)
        return True

    def _is_confirmed(self, step: Step) -> bool:
        """Return whether the worker has compiled the headers that this machine would use.

        The worker had all headers that `#include` lines name. If a macro expands to the name of
        another header, the worker may have taken it from another folder, or from its compiler.
        """
        read = headers_read(step)
        sent = found_headers(step.sources, step.include_folders)
        if {*read} <= {*sent} and not has_computed_include((*step.sources, *read)):
            return True
        with self._lock:
            self.here += 1
            self.done -= 1
        return False

    def finish(self) -> None:
        """Report the steps and bytes that the server handled."""
        self.connection.channel.close()
        if self.done or self.known:
            told = [f"{self.done} steps by workers"]
            told += [f"{self.known} known"] if self.known else []
            told += [f"{self.here} repeated here"] if self.here else []
            traffic = self.connection.traffic
            told += [f"{kib(traffic.sent)} sent, {kib(traffic.received)} received"]
            say("Remote", str(self.connection.address), ", ".join(told))

    def _action(self, step: Step, properties: Properties) -> Action | None:
        """Return the action of a step; None if the step cannot leave this machine.

        Such a step needs a file from outside the tree, or a missing file.
        """
        headers = found_headers(step.sources, step.include_folders) if step.depfile else []
        work = work_of(step, self.site, headers)
        if work is None:
            return None
        try:
            action = as_action(work, self.site, properties)
        except FileNotFoundError:
            return None
        return action if action.is_portable else None

    @cached_property
    def _python(self) -> str:
        return python_digest(self.site.code)

    def _carried_out(self, action: Action) -> str:
        """Execute an action, and return the text that the step printed.

        Raises N6Error if the step is not done.
        """
        self._send(action)
        try:
            executed = execute(self.connection, action.digest, self.progress)
        except LackingError:
            # The server has deleted files since, perhaps more than it reports.
            with self._lock:
                self._sent.clear()
            self._send(action)
            try:
                executed = execute(self.connection, action.digest, self.progress)
            except LackingError as lacking:
                raise lacking.again from None
        result = executed.result
        text = self._text(result)
        if result.exit_code:
            raise self._failed(result, f"ended with status {result.exit_code}", text)
        self._take(result, action.outputs)
        with self._lock:
            self.known += executed.is_known
            self.done += not executed.is_known
        return text

    def _send(self, action: Action) -> None:
        """Send each file once, whichever steps need it.

        Files that other threads are sending are waited for after the upload of all others.
        """
        blobs = {each.digest: each for each in (*action.files, *action.directories, action.command, action.action)}
        sent: Future[None] = Future()
        with self._lock:
            others = {self._sent[digest] for digest in blobs if digest in self._sent}
            mine = {digest: sent for digest in blobs if digest not in self._sent}
            self._sent |= mine
        try:
            upload(self.connection, [blobs[digest] for digest in mine])
        except BaseException as error:
            sent.set_exception(error)
            raise
        sent.set_result(None)
        for other in others:
            other.result()

    def _take(self, result: Any, outputs: Mapping[str, str]) -> None:
        """Write all outputs or none. outputs: path of each by its name in the action."""
        named = {each.path: each for each in result.output_files}
        lacking = [path for name, path in outputs.items() if name not in named]
        if lacking:
            raise self._failed(result, f"did not make {lacking[0]}", "")
        digests = {
            self.site.top / path: digest_from(named[name].digest, self.connection) for name, path in outputs.items()
        }
        try:
            absent = download_all(self.connection, digests, {})
            if absent is not None:
                path = os.path.relpath(absent, self.site.top)
                raise wrong_answer(self.connection, f"the server has no {path}, although a worker made it")
            for name, path in outputs.items():
                if named[name].is_executable:
                    file = self.site.top / path
                    file.chmod(file.stat().st_mode | 0o111)
        except BaseException:
            for file in digests:
                file.unlink(missing_ok=True)
            raise

    def _text(self, result: Any) -> str:
        """Return the text that the step printed, with the errors last."""
        streams = ((result.stdout_raw, result.stdout_digest), (result.stderr_raw, result.stderr_digest))
        return "".join((raw or self._stored(digest)).decode("utf-8", "replace") for raw, digest in streams)

    def _stored(self, named: Any) -> bytes:
        """Return a long text that the step printed. named: its digest."""
        if not 0 < named.size_bytes <= _LONGEST_TEXT:
            return b""
        digest = digest_from(named, self.connection)
        return read_blobs(self.connection, [digest]).get(digest, b"")

    def _failed(self, result: Any, how: str, text: str) -> ActionFailedError:
        worker = result.execution_metadata.worker or "unknown"
        last = text.strip().rpartition("\n")[2][:200]
        what = f"a step {how} on worker '{worker}'{f': {last}' if last else ''}"
        return ActionFailedError("N6-REMOTE-022", what, where=str(self.connection.address))

    def _note(self, error: N6Error, properties: Properties) -> None:
        """Count and report a failure. properties: properties that the step needs."""
        with self._lock:
            self.here += 1
            if isinstance(error, ActionFailedError):
                is_new, then = self.is_on and error.id not in self._said, "this computer repeats it"
                self._said.add(error.id)
            elif error.id == "N6-REMOTE-020":
                # Other steps may succeed: some workers lack only the virtual board.
                is_new, then = (
                    self.is_on and error.what not in self._said,
                    ("this computer runs all steps with the same needs"),
                )
                self._said.add(error.what)
                self._lacking.add(properties)
            else:
                is_new, then = self.is_on, "this computer runs the rest"
                self.is_on = False
        if is_new:
            say("Remote", f"{error.where}: {error.id}: {error.what}", then, "bad")


def may_leave(step: Step) -> bool:
    """Return whether a step reads nothing but its inputs and may do so on any machine.

    Steps that touch a board, examine this machine, use keys of this user, or are done each time may
    not leave. The state of a run on the virtual board is known: it consults the flash memory, and
    leaves it unchanged. A tool that is missing here has no content to compare with a worker's.
    """
    is_known = not step.state or bool(step.consulted)
    return not step.always and step.shared and is_known and all(tool.digest for tool in step.tools)


def use_remote(text: str, site: Site) -> Executor | None:
    """Let workers do the steps of a site wherever possible.

    Args:
        text: value of option remote.
        site: the place of the steps.

    Returns:
        The executor; None, after a report, if the server cannot execute steps.

    Raises:
        N6Error: N6-REMOTE-001 and N6-REMOTE-002 for errors that the user has to correct.
    """
    address = parse_address(text)
    access = read_access(address)
    try:
        connection = connect(address, access)
    except N6Error as error:
        if error.id == "N6-REMOTE-002":
            raise
        say("Remote", f"{error.where}: {error.id}: {error.what}", "this computer runs all steps", "bad")
        return None
    if not connection.abilities.executes:
        say("Remote", str(address), "the server only stores files: this computer runs all steps", "bad")
        return None
    executor = Executor(connection, site, Progress(access.patience_s))
    site.elsewhere = executor.do
    site.room = threading.BoundedSemaphore(os.cpu_count() or 1)
    return executor
