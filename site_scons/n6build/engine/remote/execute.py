"""Execution of an action by a server. Needs gRPC (extra `remote`).

The calls are Execute, and WaitExecution whenever that stream ends before the action does. The times
that a server reports are not used: its clock, and those of its workers, may differ from the clock
here.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import Any

from n6build.base.errors import N6Error
from n6build.engine.remote.connection import Connection, PreconditionError, receive, wrong_answer
from n6build.engine.remote.messages import CLASSES, EXECUTE, EXECUTING, SHA256, WAIT_EXECUTION, message
from n6build.engine.remote.store import Digest

# Longest execution in seconds; a server ends a stuck action earlier.
_LONGEST_ACTION_S = 1800
# Pause between tries to reach a server again.
_PAUSE_S = 0.2
_OK, _FAILED_PRECONDITION = 0, 9


class LackingError(Exception):
    """The server or a worker lacks files of the action that the server had before.

    Attributes:
        again: error to raise if this happens again after all files were sent once more.
    """

    def __init__(self, again: N6Error) -> None:
        super().__init__(again.what)
        self.again = again


class ActionFailedError(N6Error):
    """A failure of a single action; the next one may succeed."""


@dataclass
class Progress:
    """The progress of all actions of a build, for several threads.

    Attributes:
        patience_s: seconds for which no worker may take or finish any action while one waits.
    """

    patience_s: float
    _latest: float = field(default_factory=time.monotonic)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def note(self) -> None:
        """Record that a worker has taken an action, or finished one."""
        with self._lock:
            self._latest = time.monotonic()

    def is_over(self, since: float) -> bool:
        """Return whether nothing has happened for too long.

        Args:
            since: time of the monotonic clock at which the waiting action was requested; before
                that, there may have been no action.
        """
        with self._lock:
            return time.monotonic() - max(since, self._latest) > self.patience_s


@dataclass(frozen=True)
class Executed:
    """An executed action.

    Attributes:
        result: an ActionResult, not checked.
        is_known: whether another build had the server execute it before.
    """

    result: Any
    is_known: bool


def execute(connection: Connection, action: Digest, progress: Progress) -> Executed:
    """Execute an action, and return when it has ended, whatever its exit code.

    Raises:
        LackingError: if files have to be sent again.
        N6Error: N6-REMOTE-003 to N6-REMOTE-006 if the server fails; N6-REMOTE-020 if no worker
            takes the action; N6-REMOTE-021 if the server cannot complete this action.
    """
    run = _Run(connection, action, progress)
    while True:
        try:
            done = run.follow()
        except PreconditionError as error:
            # The protocol has one status for missing files and for missing workers.
            raise LackingError(
                _no_worker(connection, f"the server has no worker for this step: {error.said}")
            ) from error
        except N6Error as error:
            # The server may be back soon, with or without the action.
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
    """The execution of an action.

    Attributes:
        name: name of the operation, empty until the server reports it.
        stage: last reported stage.
        since: time at which that stage began.
        asked: time of the first request.
        heard: time of the last answer.
    """

    connection: Connection
    action: Digest
    progress: Progress
    name: str = ""
    stage: int = 0
    since: float = field(default_factory=time.monotonic)
    asked: float = field(default_factory=time.monotonic)
    heard: float = field(default_factory=time.monotonic)

    def follow(self) -> Executed | None:
        """Follow one stream, and return the result, or None if the stream ended before.

        The stream ends after a while even if the server sends nothing: only a new request shows
        whether the server still works.
        """
        method, request = (WAIT_EXECUTION, self._question()) if self.name else (EXECUTE, self._order())
        began = time.monotonic()
        for operation in receive(self.connection, method, request, timeout_s=self.connection.access.timeout_s):
            self.heard = time.monotonic()
            self.name = operation.name
            self._note_stage(operation)
            if operation.done:
                return _executed(operation, self.connection)
        if self.heard < began:
            # The server does not know the operation any more.
            self.name = ""
        return None

    def is_silent(self) -> bool:
        """Return whether the server has sent nothing for much longer than a call may take."""
        return time.monotonic() - self.heard > 1.5 * self.connection.access.timeout_s

    def check_patience(self) -> None:
        """Check that the action still makes progress.

        Raises:
            N6Error: N6-REMOTE-006 if the server forgets every request; N6-REMOTE-020; N6-REMOTE-021.
        """
        if self.stage == EXECUTING:
            if time.monotonic() - self.since > _LONGEST_ACTION_S:
                where = str(self.connection.address)
                raise ActionFailedError("N6-REMOTE-021", f"an action did not end in {_LONGEST_ACTION_S} s", where=where)
        elif not self.name and self.is_silent():
            raise wrong_answer(self.connection, "the server lost the request")
        elif self.progress.is_over(self.asked):
            raise _no_worker(self.connection, f"no worker accepted a step in {self.progress.patience_s:g} s")

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
    hint = "start workers with the properties in docs/remote.md"
    return N6Error("N6-REMOTE-020", what, where=str(connection.address), hint=hint)


def _executed(operation: Any, connection: Connection) -> Executed:
    response = CLASSES["ExecuteResponse"]()
    if operation.HasField("error") and operation.error.code != _OK:
        status = operation.error
    elif operation.response.Unpack(response):
        status = response.status
    else:
        raise wrong_answer(connection, "the server reports an action as done, but without its result")
    if status.code == _FAILED_PRECONDITION:
        raise LackingError(wrong_answer(connection, "the server loses files"))
    if status.code != _OK:
        what = f"the server could not complete an action: {status.message[:300] or f'status {status.code}'}"
        raise ActionFailedError("N6-REMOTE-021", what, where=str(connection.address))
    return Executed(response.result, response.cached_result)
