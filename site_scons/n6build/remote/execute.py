"""Has a server carry out an action: Execute, and WaitExecution wherever that stream ends before the action does. Needs gRPC (the
extra `remote`).

What a server says about time is not used: its clock, and those of its workers, may differ from this one.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import Any

from n6build.base.errors import N6Error
from n6build.remote.connection import Connection, PreconditionError, receive, wrong_answer
from n6build.remote.messages import CLASSES, EXECUTE, EXECUTING, SHA256, WAIT_EXECUTION, message
from n6build.remote.store import Digest

# Of an action at work, in seconds; a server ends one earlier that it takes for stuck.
_LONGEST_ACTION_S = 1800
# Between tries to reach a server again.
_PAUSE_S = 0.2
_OK, _FAILED_PRECONDITION = 0, 9


class LackingError(Exception):
    """The server lacks files of the action, which it had been sent or had before, or perhaps a worker. again: what it is if all
    files are sent once more, and that happens again."""

    def __init__(self, again: N6Error) -> None:
        super().__init__(again.what)
        self.again = again


class ActionFailedError(N6Error):
    """What happened concerns a single action: the next one may fare better."""


@dataclass
class Progress:
    """Of all actions of a build, for several threads. patience_s: how long no worker may take or finish any of them while one
    waits."""

    patience_s: float
    _latest: float = field(default_factory=time.monotonic)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def note(self) -> None:
        """A worker has taken an action, or finished one."""
        with self._lock:
            self._latest = time.monotonic()

    def is_over(self, since: float) -> bool:
        """Whether nothing has happened for too long. since: when the action that waits was asked for, of the monotonic clock: for
        a while before, there may have been nothing to do."""
        with self._lock:
            return time.monotonic() - max(since, self._latest) > self.patience_s


@dataclass(frozen=True)
class Executed:
    """result: an ActionResult, of which nothing is checked. is_known: another build had the server carry it out before."""

    result: Any
    is_known: bool


def execute(connection: Connection, action: Digest, progress: Progress) -> Executed:
    """Returns when the action has ended, whatever its exit code.

    Raises LackingError if files have to be sent again, N6-REMOTE-003 to -006 if the server fails, N6-REMOTE-020 if no worker
    takes the action, N6-REMOTE-021 if the server cannot get this one done.
    """
    run = _Run(connection, action, progress)
    while True:
        try:
            done = run.follow()
        except PreconditionError as error:
            # The protocol has one status for both.
            raise LackingError(_no_worker(connection, f"the server has no worker for that: {error.said}")) from error
        except N6Error as error:
            # A server that was there may be back soon; it has kept the action, or has forgotten it.
            if error.id != "N6-REMOTE-003" or run.is_silent():
                raise
            done = None
        if done is not None:
            progress.note()
            return done
        run.check_patience()
        time.sleep(_PAUSE_S)


@dataclass
class _Run:
    """name: of the operation, empty before the server has told it. stage: as told last, since `since`. asked: when it began."""

    connection: Connection
    action: Digest
    progress: Progress
    name: str = ""
    stage: int = 0
    since: float = field(default_factory=time.monotonic)
    asked: float = field(default_factory=time.monotonic)
    heard: float = field(default_factory=time.monotonic)

    def follow(self) -> Executed | None:
        """One stream: the result, or None if it has ended before. It ends after a while even if the server says nothing: whether
        there is anybody left is seen by asking anew."""
        method, request = (WAIT_EXECUTION, self._question()) if self.name else (EXECUTE, self._order())
        began = time.monotonic()
        for operation in receive(self.connection, method, request, timeout_s=self.connection.access.timeout_s):
            self.heard = time.monotonic()
            self.name = operation.name
            self._note_stage(operation)
            if operation.done:
                return _executed(operation, self.connection)
        if self.heard < began:
            # It does not know the operation any more.
            self.name = ""
        return None

    def is_silent(self) -> bool:
        """Whether the server has said nothing about this action for much longer than a call may take."""
        return time.monotonic() - self.heard > 1.5 * self.connection.access.timeout_s

    def check_patience(self) -> None:
        """Raises N6-REMOTE-006 if the server forgets whatever it is asked, N6-REMOTE-020 and -021."""
        if self.stage == EXECUTING:
            if time.monotonic() - self.since > _LONGEST_ACTION_S:
                where = str(self.connection.address)
                raise ActionFailedError("N6-REMOTE-021", f"an action did not end in {_LONGEST_ACTION_S} s", where=where)
        elif not self.name and self.is_silent():
            raise wrong_answer(self.connection, "the server forgets what it is to do")
        elif self.progress.is_over(self.asked):
            raise _no_worker(self.connection, f"no worker took anything in {self.progress.patience_s:g} s")

    def _order(self) -> Any:
        return message(
            "ExecuteRequest",
            instance_name=self.connection.instance,
            action_digest=self.action.message(),
            digest_function=SHA256,
        )

    def _question(self) -> Any:
        return message("WaitExecutionRequest", name=self.name)

    def _note_stage(self, operation: Any) -> None:
        told = CLASSES["ExecuteOperationMetadata"]()
        operation.metadata.Unpack(told)
        if told.stage != self.stage:
            self.stage, self.since = told.stage, time.monotonic()
            if told.stage == EXECUTING:
                self.progress.note()


def _no_worker(connection: Connection, what: str) -> N6Error:
    hint = "docs/remote.md says what workers have to announce"
    return N6Error("N6-REMOTE-020", what, where=str(connection.address), hint=hint)


def _executed(operation: Any, connection: Connection) -> Executed:
    response = CLASSES["ExecuteResponse"]()
    if operation.HasField("error") and operation.error.code != _OK:
        status = operation.error
    elif operation.response.Unpack(response):
        status = response.status
    else:
        raise wrong_answer(connection, "the server says that an action is done, and not how it ended")
    if status.code == _FAILED_PRECONDITION:
        raise LackingError(wrong_answer(connection, "the server loses files"))
    if status.code != _OK:
        what = f"the server could not get an action done: {status.message[:300] or f'status {status.code}'}"
        raise ActionFailedError("N6-REMOTE-021", what, where=str(connection.address))
    return Executed(response.result, response.cached_result)
