"""A real server of the Remote Execution API on this machine: BuildGrid.

`make setup-tests` installs it.
"""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from patience import wait_until

SERVERS = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "n6build" / "servers" / "bin"
_SETTINGS = """\
server:
  - !channel {{address: "127.0.0.1:{port}", insecure-mode: true}}
{more}storages:
  - !lru-storage &store {{size: 256M}}
caches:
  - !lru-action-cache &actions {{storage: *store, max-cached-refs: 10000, allow-updates: {updates}, cache-failed-actions: false}}
instances:
  - name: main
    services: [!cas {{storage: *store}}, !bytestream {{storage: *store}}, !action-cache {{cache: *actions}}]
"""


@dataclass(frozen=True)
class Server:
    """A running server."""

    port: int
    process: subprocess.Popen[str]

    @property
    def address(self) -> str:
        """Return the address in the form of the option."""
        return f"grpc://127.0.0.1:{self.port}/main"

    def kill(self) -> None:
        """Kill the server, as if its machine lost its power."""
        self.process.kill()
        self.process.wait()


@contextmanager
def build_grid(folder: Path, *, updates: bool = True, more: str = "") -> Iterator[Server]:
    """Run a server.

    Args:
        folder: Folder for its settings and log.
        updates: The server accepts results.
        more: Further settings.
    """
    assert (SERVERS / "bgd").is_file(), "make setup-tests installs BuildGrid"
    port = free_port()
    settings = folder / "server.yml"
    settings.write_text(_SETTINGS.format(port=port, more=more, updates=str(updates).lower()))
    with (folder / "server.log").open("w") as log:
        command = [str(SERVERS / "bgd"), "server", "start", str(settings)]
        server = Server(port, subprocess.Popen(command, stdout=log, stderr=log, text=True, stdin=subprocess.DEVNULL))
        try:
            wait_until(lambda: listens(port), server.process)
            yield server
        finally:
            server.kill()


def free_port() -> int:
    """Return a port of the loopback that was free a moment ago."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def listens(port: int) -> bool:
    """Return whether a server of this machine accepts connections."""
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=5):
        return True
    return False
