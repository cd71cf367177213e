"""The table of messages is equal to that of the protocol in a server's copy."""

from __future__ import annotations

import json
import subprocess

from build_grid import SERVERS
from n6build.engine.remote.messages import TABLE

# The protocol nests these messages in others. The names of the outer messages are not on the wire.
_INSIDE = {
    "EnvironmentVariable": "Command.EnvironmentVariable",
    "Property": "Platform.Property",
    "BlobToWrite": "BatchUpdateBlobsRequest.Request",
    "WrittenBlob": "BatchUpdateBlobsResponse.Response",
    "ReadBlob": "BatchReadBlobsResponse.Response",
}
_DUMP = """
import json
from buildgrid._protos.build.bazel.remote.execution.v2 import remote_execution_pb2
from buildgrid._protos.google.bytestream import bytestream_pb2
from buildgrid._protos.google.longrunning import operations_pb2
from buildgrid._protos.google.rpc import status_pb2
TYPES = {1: "double", 3: "int64", 5: "int32", 8: "bool", 9: "string", 12: "bytes", 14: "enum"}
found = {}
def add(message):
    for field in message.fields:
        kind = TYPES.get(field.type) or field.message_type.full_name
        text = f"{'repeated ' if field.is_repeated else ''}{kind} {field.name} = {field.number}"
        found.setdefault(message.full_name, []).append(text)
    for inner in message.nested_types:
        add(inner)
for module in (remote_execution_pb2, bytestream_pb2, operations_pb2, status_pb2):
    for message in module.DESCRIPTOR.message_types_by_name.values():
        add(message)
print(json.dumps(found))
"""


def test_every_field_is_as_in_the_protocol() -> None:
    shown = subprocess.run([SERVERS / "python", "-c", _DUMP], capture_output=True, text=True, check=True).stdout
    protocol = json.loads(shown)
    for package, messages in TABLE.items():
        for message, fields in messages.items():
            theirs = protocol[f"{package}.{_INSIDE.get(message, message)}"]
            for field in fields.split(";"):
                *repeated, kind, name, _, number = field.split()
                if kind[0].isupper():
                    kind = f"{package}.{_INSIDE.get(kind, kind)}"
                assert " ".join([*repeated, kind, name, "=", number]) in theirs, message
