"""Streams of a server, and the reaction to failures.

The server's clock is wrong in all tests.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import grpc
import pytest
from n6build.base.errors import N6Error
from n6build.engine.remote.address import Access, parse_address
from n6build.engine.remote.connection import connected
from n6build.engine.remote.execute import Executed, LackingError, Progress, execute
from n6build.engine.remote.messages import COMPLETED, message
from n6build.engine.remote.store import EMPTY

from remote.scripted import WAITS, WORKS, Scripted, breaks, operation, response, says

UNAVAILABLE, NOT_FOUND = grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.NOT_FOUND
DONE = operation(COMPLETED, response(exit_code=3))
PATIENT = 60.0


def executed(scripted: Scripted, *, patience_s: float = PATIENT, timeout_s: float = 0.5) -> Executed:
    with connected(parse_address(scripted.address), Access(timeout_s=timeout_s)) as connection:
        return execute(connection, EMPTY, Progress(patience_s))


def failure(scripted: Scripted, *, patience_s: float = PATIENT, timeout_s: float = 0.5) -> N6Error:
    with pytest.raises(N6Error) as caught:
        executed(scripted, patience_s=patience_s, timeout_s=timeout_s)
    assert caught.value.where == scripted.address
    return caught.value


def test_a_result_is_what_the_last_operation_says(scripted: Scripted) -> None:
    scripted.script = [says(WAITS, WORKS, operation(COMPLETED, response(exit_code=3, cached=True)))]
    found = executed(scripted)
    assert (found.result.exit_code, found.is_known, scripted.asked) == (3, True, ["execute"])


def test_a_stream_that_ends_early_is_continued(scripted: Scripted) -> None:
    """A stream may break, as when a server is restarted, or just end."""
    scripted.script = [breaks(UNAVAILABLE, WAITS), says(WORKS), breaks(UNAVAILABLE), says(DONE)]
    assert executed(scripted).result.exit_code == 3
    assert scripted.asked == ["execute", "wait", "wait", "wait"]


def test_an_action_that_the_server_has_forgotten_is_asked_for_again(scripted: Scripted) -> None:
    scripted.script = [breaks(UNAVAILABLE, WORKS), breaks(NOT_FOUND), says(DONE)]
    assert executed(scripted).result.exit_code == 3
    assert scripted.asked == ["execute", "wait", "execute"]


def test_a_server_that_is_gone_is_given_up(scripted: Scripted) -> None:
    scripted.script = [breaks(UNAVAILABLE, WORKS), breaks(UNAVAILABLE)]
    assert failure(scripted).id == "N6-REMOTE-003"
    scripted.script = [breaks(NOT_FOUND)]
    assert failure(scripted).id == "N6-REMOTE-006"


def test_a_server_that_says_nothing_is_given_up(scripted: Scripted) -> None:
    def silent() -> Iterator[object]:
        time.sleep(1)
        yield WAITS

    scripted.script = [silent]
    error = failure(scripted, timeout_s=0.3)
    assert (error.id, error.what) == ("N6-REMOTE-003", "no answer in 0.3 s")


def test_an_action_that_no_worker_takes_is_given_up(scripted: Scripted) -> None:
    """An action that a worker has is not given up."""
    scripted.script = [says(WAITS)]
    error = failure(scripted, patience_s=0.4)
    assert (error.id, error.what) == ("N6-REMOTE-020", "no worker accepted a step in 0.4 s")
    assert set(scripted.asked) == {"execute", "wait"}
    # The patience counts from the request: before, there may have been no work.
    progress = Progress(0.001)
    time.sleep(0.01)
    assert progress.is_over(since=0.0)
    assert not progress.is_over(since=time.monotonic() + PATIENT)
    scripted.script = [says(WORKS), says(WORKS), says(WORKS), says(DONE)]
    assert executed(scripted, patience_s=0.1).result.exit_code == 3


def test_a_failure_of_the_server_is_told(scripted: Scripted) -> None:
    aborted = operation(COMPLETED, response(code=10, text="the worker\x07 died"))
    scripted.script = [says(aborted)]
    error = failure(scripted)
    assert (error.id, "died" in error.what) == ("N6-REMOTE-021", True)
    failed = operation(COMPLETED, error=message("Status", code=13, message="it broke"))
    failed.done = True
    scripted.script = [says(failed)]
    assert failure(scripted).id == "N6-REMOTE-021"
    scripted.script = [breaks(grpc.StatusCode.INVALID_ARGUMENT)]
    assert failure(scripted).id == "N6-REMOTE-005"


def test_an_end_without_a_result_is_not_believed(scripted: Scripted) -> None:
    empty = operation(COMPLETED)
    empty.done = True
    scripted.script = [says(empty)]
    assert failure(scripted).id == "N6-REMOTE-006"


def test_files_that_the_server_lacks_are_told_from_failures(scripted: Scripted) -> None:
    scripted.script = [says(operation(COMPLETED, response(code=9, text="blob is missing")))]
    with pytest.raises(LackingError) as caught:
        executed(scripted)
    assert (caught.value.again.id, caught.value.again.what) == ("N6-REMOTE-006", "the server loses files")
    scripted.script = [breaks(grpc.StatusCode.FAILED_PRECONDITION)]
    with pytest.raises(LackingError) as caught:
        executed(scripted)
    assert caught.value.again.id == "N6-REMOTE-020"
