"""A server in this process with faults: slow, full, forgetful, failing or lying.

Without an order it answers correctly; tests/remote/test_store.py uses a real server.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import grpc
import zstandard
from n6build.engine.remote import messages
from n6build.engine.remote.messages import CLASSES, ZSTD, message

Answer = Callable[[Any, Any], Any]


@dataclass
class OddServer:
    """A server and its faults.

    Attributes:
        certificate: Its key and certificate, for TLS.
        zstd: True if it takes and sends compressed files.
        tokens: Tokens with the right to write; empty if all may write.
        blobs: Stored blobs by digest.
        results: Results of actions by digest.
        instead: Replaced methods by name. A replacement returns bytes, a message or messages.
        asked: Names of the called methods, in order.
    """

    port: int = 0
    certificate: tuple[bytes, bytes] | None = None
    zstd: bool = False
    tokens: tuple[str, ...] = ()
    blobs: dict[str, bytes] = field(default_factory=dict)
    results: dict[str, Any] = field(default_factory=dict)
    instead: dict[str, Answer] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    @property
    def address(self) -> str:
        """The server's address in the form that options take."""
        return f"grpc{'s' if self.certificate else ''}://localhost:{self.port}/odd"

    def GetCapabilities(self, request: Any, context: Any) -> Any:
        compressors = [ZSTD] if self.zstd else []
        cache = message(
            "CacheCapabilities",
            digest_functions=[messages.SHA256],
            action_cache_update_capabilities={"update_enabled": True},
            supported_compressors=compressors,
            supported_batch_update_compressors=compressors,
        )
        return message("ServerCapabilities", cache_capabilities=cache)

    def GetActionResult(self, request: Any, context: Any) -> Any:
        found = self.results.get(request.action_digest.hash)
        return found if found is not None else context.abort(grpc.StatusCode.NOT_FOUND, "no such result")

    def UpdateActionResult(self, request: Any, context: Any) -> Any:
        given = dict(context.invocation_metadata()).get("authorization", "")
        if self.tokens and given.removeprefix("Bearer ") not in self.tokens:
            context.abort(grpc.StatusCode.PERMISSION_DENIED, "only CI may write")
        self.results[request.action_digest.hash] = request.action_result
        return request.action_result

    def FindMissingBlobs(self, request: Any, context: Any) -> Any:
        missing = [each for each in request.blob_digests if each.hash not in self.blobs]
        return message("FindMissingBlobsResponse", missing_blob_digests=missing)

    def BatchUpdateBlobs(self, request: Any, context: Any) -> Any:
        for each in request.requests:
            self._take(zstandard.decompress(each.data) if each.compressor == ZSTD else each.data, each.digest.hash)
        return message("BatchUpdateBlobsResponse", responses=[{"digest": each.digest} for each in request.requests])

    def BatchReadBlobs(self, request: Any, context: Any) -> Any:
        zstd = ZSTD in request.acceptable_compressors
        responses = []
        for each in request.digests:
            data = self.blobs.get(each.hash)
            if data is None:
                responses.append({"digest": each, "status": {"code": 5}})
            elif zstd:
                responses.append({"digest": each, "data": zstandard.compress(data), "compressor": ZSTD})
            else:
                responses.append({"digest": each, "data": data})
        return message("BatchReadBlobsResponse", responses=responses)

    def Read(self, request: Any, context: Any) -> Iterator[Any]:
        *_, kind, name, _ = request.resource_name.split("/")
        if name not in self.blobs:
            context.abort(grpc.StatusCode.NOT_FOUND, "no such file")
        data = zstandard.compress(self.blobs[name]) if kind == "zstd" else self.blobs[name]
        for start in range(0, len(data), 100_000):
            yield message("ReadResponse", data=data[start : start + 100_000])

    def Write(self, requests: Iterator[Any], context: Any) -> Any:
        sent = list(requests)
        data = b"".join(each.data for each in sent)
        *_, kind, name, _ = sent[0].resource_name.split("/")
        self._take(zstandard.ZstdDecompressor().decompressobj().decompress(data) if kind == "zstd" else data, name)
        return message("WriteResponse", committed_size=len(data))

    def _take(self, data: bytes, name: str) -> None:
        assert hashlib.sha256(data).hexdigest() == name
        self.blobs[name] = data


class _Handler(grpc.GenericRpcHandler):  # type: ignore[misc]
    def __init__(self, server: OddServer) -> None:
        self._server = server

    def service(self, details: Any) -> Any:
        name = details.method.rpartition("/")[2]
        kind = {"Read": "unary_stream", "Write": "stream_unary"}.get(name, "unary_unary")
        request = CLASSES[f"{name}Request"]

        def answer(given: Any, context: Any) -> Any:
            self._server.asked.append(name)
            return self._server.instead.get(name, getattr(self._server, name))(given, context)

        make = getattr(grpc, f"{kind}_rpc_method_handler")
        return make(answer, request_deserializer=request.FromString, response_serializer=_bytes)


def _bytes(answer: Any) -> Any:
    return answer if isinstance(answer, bytes) else answer.SerializeToString()


@contextmanager
def odd_server(**properties: Any) -> Iterator[OddServer]:
    """Yield a running server with these attributes of `OddServer`."""
    server = OddServer(**properties)
    serving = grpc.server(ThreadPoolExecutor(8), handlers=(_Handler(server),))
    if server.certificate is None:
        server.port = serving.add_insecure_port("127.0.0.1:0")
    else:
        server.port = serving.add_secure_port("127.0.0.1:0", grpc.ssl_server_credentials([server.certificate]))
    serving.start()
    try:
        yield server
    finally:
        serving.stop(0)
