"""Does steps elsewhere, for as long as there is a server that gets them done. Whatever happens to it, the build goes on here, and
what happened is said once.

A step that fails there is done once more here: an error is always this machine's, with its own id and text, and a worker that
lacks something fails no build.
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
from n6build.plan.command import make_map_portable
from n6build.plan.depfile import headers_read
from n6build.plan.includes import found_headers, has_computed_include
from n6build.plan.perform import Site
from n6build.plan.step import Step
from n6build.plan.work import work_of
from n6build.remote.actions import Action, as_action, brought_back
from n6build.remote.address import parse_address, read_access
from n6build.remote.connection import Connection, connect, wrong_answer
from n6build.remote.execute import ActionFailedError, LackingError, Progress, execute
from n6build.remote.platform import Properties, properties_for, python_digest
from n6build.remote.store import Digest, digest_from, download_all, read_blobs, upload

# Of steps at a time, where -j says nothing: they wait for workers, and those that are done here wait for each other.
JOBS = 32
# What a step prints, in bytes.
_LONGEST_TEXT = 4 << 20


@dataclass
class Executor:
    """For several threads. done, known: numbers of steps done by workers of this server, and of those whose results it had.
    here: of those that had to be done here after all."""

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
        """Whether the step is done: its outputs are there, each with the digest that the worker named, and what it printed is on
        the console. If not, it is to be done here, and no output is there."""
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
            write_atomically(listed, brought_back(listed.read_bytes(), self.site))
            if not self._is_confirmed(step):
                return False
        show(text)
        return True

    def _is_confirmed(self, step: Step) -> bool:
        """Return whether the worker has compiled what this machine would compile.

        It had all headers that `#include` lines name. Where a macro expands to the name of another one, the worker may have
        taken one from another folder, or from its compiler.
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
        """Says what the server was good for."""
        self.connection.channel.close()
        if self.done or self.known:
            told = [f"{self.done} steps done by workers"]
            told += [f"{self.known} known"] if self.known else []
            told += [f"{self.here} done again here"] if self.here else []
            traffic = self.connection.traffic
            told += [f"{kib(traffic.sent)} sent, {kib(traffic.received)} received"]
            say("Remote", str(self.connection.address), ", ".join(told))

    def _action(self, step: Step, properties: Properties) -> Action | None:
        """None for a step that needs a file from elsewhere on this machine, or one that is not there."""
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
        """What the step printed. Raises N6Error if it is not done."""
        self._send(action)
        try:
            executed = execute(self.connection, action.digest, self.progress)
        except LackingError:
            # The server has thrown something away since, perhaps more than it says.
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
        """Each file once, whichever steps need it: what another thread is sending is waited for, after what nobody sends."""
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
        """Writes the outputs, all or none. outputs: path of each by its name in the action."""
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
                raise wrong_answer(self.connection, f"the server does not have {path}, which a worker has made")
            for name, path in outputs.items():
                if named[name].is_executable:
                    file = self.site.top / path
                    file.chmod(file.stat().st_mode | 0o111)
        except BaseException:
            for file in digests:
                file.unlink(missing_ok=True)
            raise

    def _text(self, result: Any) -> str:
        """What the step printed; of programs that use both streams, errors come last."""
        streams = ((result.stdout_raw, result.stdout_digest), (result.stderr_raw, result.stderr_digest))
        return "".join((raw or self._stored(digest)).decode("utf-8", "replace") for raw, digest in streams)

    def _stored(self, named: Any) -> bytes:
        """named: digest of what a step printed, if it is long."""
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
        """properties: that the step needs of a worker."""
        with self._lock:
            self.here += 1
            if isinstance(error, ActionFailedError):
                is_new, then = self.is_on and error.id not in self._said, "it is done again here"
                self._said.add(error.id)
            elif error.id == "N6-REMOTE-020":
                # Others may be done: there are workers without the virtual board.
                is_new, then = self.is_on and error.what not in self._said, "steps that need the same are done here"
                self._said.add(error.what)
                self._lacking.add(properties)
            else:
                is_new, then = self.is_on, "the rest is done here"
                self.is_on = False
        if is_new:
            say("Remote", f"{error.where}: {error.id}: {error.what}", then, "bad")


def may_leave(step: Step) -> bool:
    """Whether the step reads nothing but its inputs, and may do that anywhere: not those that touch a board, look at this
    machine, use keys of this user, or are done each time. A run of the virtual board is one whose state is known: it consults the
    flash memory, and leaves it as it was. A tool that is not even here has no content that a worker's could be compared with."""
    is_known = not step.state or bool(step.consulted)
    return not step.always and step.shared and is_known and all(tool.digest for tool in step.tools)


def use_remote(text: str, site: Site) -> Executor | None:
    """Steps of the site are done by workers wherever that is possible. text: of option remote. None where no server gets anything
    done, which is said. Raises N6-REMOTE-001 and -002 for what the user has to correct."""
    address = parse_address(text)
    access = read_access(address)
    try:
        connection = connect(address, access)
    except N6Error as error:
        if error.id == "N6-REMOTE-002":
            raise
        say("Remote", f"{error.where}: {error.id}: {error.what}", "everything is done here", "bad")
        return None
    if not connection.abilities.executes:
        say("Remote", str(address), "the server only stores: everything is done here", "bad")
        return None
    executor = Executor(connection, site, Progress(access.patience_s))
    site.elsewhere = executor.do
    site.room = threading.BoundedSemaphore(os.cpu_count() or 1)
    return executor
