"""Servers as caches of steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from google.protobuf.message import Message

from n6build.base.errors import N6Error
from n6build.base.files import write_atomically
from n6build.base.regular_file import content_of
from n6build.engine.perform import Site
from n6build.engine.remote.actions import Action, as_action, brought_back, sent_away
from n6build.engine.remote.address import parse_address, read_access
from n6build.engine.remote.connection import Connection, call, connect, wrong_answer
from n6build.engine.remote.messages import GET_ACTION_RESULT, SHA256, UPDATE_ACTION_RESULT, message
from n6build.engine.remote.store import (
    Blob,
    Digest,
    blob_of,
    blob_of_file,
    digest_from,
    download_all,
    read_blobs,
    upload,
)
from n6build.engine.work import Work


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


# Notes about compilations are results of actions of their own.
_ABOUT_HEADERS, _NOTE = "headers", ".n6build-headers.json"
_LONGEST_NOTE = 1 << 20


@dataclass(frozen=True)
class ServerStore:
    """A `plan.cache.Store` on a server."""

    connection: Connection

    @property
    def name(self) -> str:
        """Name of the store in messages."""
        return str(self.connection.address)

    def fetch(self, work: Work, site: Site) -> bool:
        """Fetch the outputs of a step, and return whether the server has them.

        Raises:
            N6Error: N6-REMOTE-003 to N6-REMOTE-006, N6-FILE-001.
        """
        action = _action(work, site)
        result = known_result(self.connection, action.digest, list(action.outputs)) if action else None
        if action is None or result is None:
            return False
        files = {each.path: each for each in result.output_files}
        wanted = action.outputs
        if not wanted.keys() <= files.keys():
            raise wrong_answer(self.connection, f"a result has no {min(wanted.keys() - files.keys())}")
        digests = {site.top / path: digest_from(files[name].digest, self.connection) for name, path in wanted.items()}
        inline = [blob_of(files[name].contents) for name in wanted if files[name].contents]
        contents = {blob.digest: blob.data for blob in inline if blob.data is not None}
        if download_all(self.connection, digests, contents) is not None:
            return False
        if work.step.depfile:
            listed = site.top / work.step.depfile
            write_atomically(listed, brought_back(content_of(listed), site))
        return True

    def keep(self, work: Work, site: Site) -> int:
        """Store the outputs of a step, and return the bytes sent.

        Raises:
            N6Error: N6-REMOTE-003 to N6-REMOTE-006.
        """
        if not self.connection.abilities.may_write:
            raise N6Error("N6-REMOTE-004", "the server accepts no results from this computer", where=self.name)
        action = _action(work, site)
        if action is None:
            return 0
        return self._keep(action, _outputs(action, work, site))

    def _keep(self, action: Action, files: Mapping[str, Blob]) -> int:
        """Store files as the result of an action, and return the bytes sent."""
        sent = upload(self.connection, [*files.values(), action.command, action.action])
        listed = [message("OutputFile", path=name, digest=blob.digest.message()) for name, blob in files.items()]
        remember_result(self.connection, action.digest, message("ActionResult", output_files=listed))
        return sent

    def read_note(self, work: Work, site: Site) -> bytes | None:
        """Return the note about a step, or None if the server has none.

        Raises:
            N6Error: N6-REMOTE-003 to N6-REMOTE-006.
        """
        action = _action(work, site, _ABOUT_HEADERS)
        result = known_result(self.connection, action.digest, [_NOTE]) if action else None
        if result is None:
            return None
        (file,) = [each for each in result.output_files if each.path == _NOTE] or [None]
        if file is None:
            raise wrong_answer(self.connection, f"a result has no {_NOTE}")
        digest = digest_from(file.digest, self.connection)
        if digest.size > _LONGEST_NOTE:
            raise wrong_answer(self.connection, "a list of headers is too long")
        blob = blob_of(file.contents)
        return file.contents if blob.digest == digest else read_blobs(self.connection, [digest]).get(digest)

    def keep_note(self, work: Work, site: Site, note: bytes) -> int:
        """Store a note about a step, and return the bytes sent.

        Raises:
            N6Error: N6-REMOTE-003 to N6-REMOTE-006.
        """
        action = _action(work, site, _ABOUT_HEADERS)
        return self._keep(action, {_NOTE: blob_of(note)}) if action else 0


def open_server(where: str) -> ServerStore:
    """Connect to a server as a cache.

    Raises:
        N6Error: N6-REMOTE-001 to N6-REMOTE-006.
    """
    address = parse_address(where)
    return ServerStore(connect(address, read_access(address)))


def _action(work: Work, site: Site, about: str = "") -> Action | None:
    """Return the action of a step, or None if a file has disappeared.

    Args:
        about: as for `as_action`.
    """
    try:
        return as_action(work, site, about=about)
    except FileNotFoundError:
        return None


def _outputs(action: Action, work: Work, site: Site) -> dict[str, Blob]:
    """Return the outputs in order, by their names for the command."""
    outputs = sorted(action.outputs.items())
    found = {name: blob_of_file(str(site.top / path)) for name, path in outputs if path != work.step.depfile}
    for name, path in outputs:
        if path == work.step.depfile:
            found[name] = blob_of(sent_away(content_of(site.top / path), site))
    return found
