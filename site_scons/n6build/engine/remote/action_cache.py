"""Results of actions in a server's cache. Needs gRPC (extra `remote`)."""

from __future__ import annotations

from collections.abc import Sequence

from google.protobuf.message import Message

from n6build.engine.remote.connection import Connection, call
from n6build.engine.remote.messages import GET_ACTION_RESULT, SHA256, UPDATE_ACTION_RESULT, message
from n6build.engine.remote.store import Digest


def known_result(connection: Connection, action: Digest, inline: Sequence[str] = ()) -> Message | None:
    """Return the ActionResult of an action; None unless the server has a success.

    A success is a result with exit code 0.

    Args:
        connection: the connection.
        action: digest of the action.
        inline: names of files whose content the server may put into the answer itself.

    Raises:
        N6Error: N6-REMOTE-003 to N6-REMOTE-005.
    """
    request = message(
        "GetActionResultRequest",
        instance_name=connection.instance,
        action_digest=action.message(),
        inline_output_files=inline,
        digest_function=SHA256,
    )
    answer = call(connection, GET_ACTION_RESULT, request)
    return answer if answer is not None and answer.exit_code == 0 else None


def remember_result(connection: Connection, action: Digest, result: Message) -> None:
    """Store the result of an action.

    Args:
        connection: the connection.
        action: digest of the action.
        result: an ActionResult whose files the server has.

    Raises:
        N6Error: N6-REMOTE-003 to N6-REMOTE-005.
    """
    request = message(
        "UpdateActionResultRequest",
        instance_name=connection.instance,
        action_digest=action.message(),
        action_result=result,
        digest_function=SHA256,
    )
    call(connection, UPDATE_ACTION_RESULT, request)
