"""Addresses of servers, and the secrets for access to them.

The address is an option, secrets come from the environment.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from n6build.base.environment import REMOTE_TOKEN, remote_variables
from n6build.base.errors import N6Error
from n6build.base.regular_file import open_regular

# grpcs is gRPC over TLS.
_SCHEMES = {"grpc": False, "grpcs": True}
_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?", re.ASCII)
_INSTANCE = re.compile(r"[A-Za-z0-9._~-]+(/[A-Za-z0-9._~-]+)*|", re.ASCII)
# The protocol uses these words in the names by which it reads and writes.
_RESERVED = {
    "blobs",
    "uploads",
    "actions",
    "actionResults",
    "operations",
    "capabilities",
    "compressed-blobs",
    ".",
    "..",
}
# The token is sent as the value of a header.
_TOKEN = re.compile(r"[\x21-\x7e]+", re.ASCII)
_LARGEST_FILE = 1 << 20
DEFAULT_TIMEOUT_S = 10.0
DEFAULT_PATIENCE_S = 60.0


@dataclass(frozen=True)
class Address:
    """The address of a server.

    Attributes:
        host: name or IP address, without brackets.
        instance: name of an instance of the server, empty for the only one.
        secure: whether the connection uses TLS.
    """

    host: str
    port: int
    instance: str = ""
    secure: bool = False

    @property
    def target(self) -> str:
        """The address as gRPC names it.

        It cannot be mistaken for another kind of address, such as a socket of this machine.
        """
        return f"dns:///{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"

    @property
    def is_loopback(self) -> bool:
        """Return whether all data stays on this machine."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        shown = f"{'grpcs' if self.secure else 'grpc'}://{host}:{self.port}"
        return f"{shown}/{self.instance}" if self.instance else shown


@dataclass(frozen=True)
class Access:
    """Credentials and time limits for a server.

    Attributes:
        token: bearer token that is sent with every call, empty for none.
        authority: certificate authority for TLS, as PEM; None for those of the system.
        certificate: own certificate for TLS, as PEM; None for none.
        key: key of the certificate, as PEM.
        timeout_s: seconds for a call, to which the time for its bytes is added.
        patience_s: seconds for which workers may leave all steps of a build waiting.
    """

    token: str = field(default="", repr=False)
    authority: bytes | None = None
    certificate: bytes | None = None
    key: bytes | None = field(default=None, repr=False)
    timeout_s: float = DEFAULT_TIMEOUT_S
    patience_s: float = DEFAULT_PATIENCE_S


def is_remote(text: str) -> bool:
    """Return whether a text is the address of a server, and not a folder.

    Every text that looks like a URL counts, so that a misspelt address makes no folder.
    """
    return "://" in text


def parse_address(text: str) -> Address:
    """Return the address in a text: grpc://host:port/instance, or grpcs:// for TLS.

    Raises:
        N6Error: N6-REMOTE-001 for an invalid address.
    """
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise _no_address(text, str(error)) from error
    if parts.scheme not in _SCHEMES:
        raise _no_address(text, f"'{parts.scheme}' is not grpc or grpcs")
    if "@" in parts.netloc or "?" in text or "#" in text:
        raise _no_address(text, f"has more than host, port and instance; put a token into {REMOTE_TOKEN}")
    if not _is_host(host):
        raise _no_address(text, "has no valid host")
    if not port:
        raise _no_address(text, "has no port")
    instance = parts.path.strip("/")
    if not _INSTANCE.fullmatch(instance) or _RESERVED & set(instance.split("/")):
        raise _no_address(text, f"'{instance}' is not a valid name of an instance")
    return Address(host, port, instance, _SCHEMES[parts.scheme])


def read_access(address: Address) -> Access:
    """Return the credentials and time limits in the environment.

    Raises:
        N6Error: N6-REMOTE-002 for a file that cannot be read, or for an invalid value.
    """
    given = remote_variables()
    token = given.token
    if given.token_file:
        token = _file(given.token_file).decode("ascii", "replace").strip()
    if token and not _TOKEN.fullmatch(token):
        raise _no_access("the token has characters other than printable ASCII")
    if token and not (address.secure or address.is_loopback):
        raise _no_access(f"the token would be sent to {address} without encryption", "use grpcs://")
    certificate, key = (_file(path) if path else None for path in (given.certificate, given.key))
    if (certificate is None) != (key is None):
        raise _no_access("a certificate needs its key, and a key its certificate: one of them is not set")
    authority = _file(given.authority) if given.authority else None
    timeout_s = _seconds(given.timeout, DEFAULT_TIMEOUT_S)
    return Access(token, authority, certificate, key, timeout_s, _seconds(given.patience, DEFAULT_PATIENCE_S))


def _is_host(host: str) -> bool:
    if ":" in host:
        try:
            return ipaddress.ip_address(host).version == 6 and "%" not in host
        except ValueError:
            return False
    return bool(_NAME.fullmatch(host)) and ".." not in host


def _seconds(text: str, default: float) -> float:
    if not text:
        return default
    if not re.fullmatch(r"\d{1,4}(\.\d{1,3})?", text, re.ASCII) or not float(text):
        raise _no_access(f"'{text}' is not a time in seconds")
    return float(text)


def _file(path: str) -> bytes:
    try:
        with open_regular(Path(path).expanduser()) as file:
            return file.read(_LARGEST_FILE)
    except (OSError, ValueError, RuntimeError) as error:
        raise _no_access(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from error


def _no_address(text: str, why: str) -> N6Error:
    return N6Error("N6-REMOTE-001", f"'{text}' is not the address of a server: {why}", hint="grpc://host:port/instance")


def _no_access(what: str, hint: str | None = None) -> N6Error:
    return N6Error(
        "N6-REMOTE-002", what, hint=hint or "correct the variables N6BUILD_REMOTE_..., which docs/caches.md lists"
    )
