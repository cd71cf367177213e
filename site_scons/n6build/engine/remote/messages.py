"""The messages of the Remote Execution API that n6build uses, as a table.

protobuf makes its classes from the table, because no package has only these messages. Names,
numbers and types are those of the protocol (build.bazel.remote.execution.v2 and google.bytestream);
tests/remote/test_messages.py compares each with the definitions that a server contains. protobuf
keeps fields that are not listed unchanged. The classes have a pool of their own, so that another
copy in the same process causes no conflict.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from google.protobuf import any_pb2, descriptor_pb2, timestamp_pb2
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClassesForFiles

_V2 = "build.bazel.remote.execution.v2"
# The scalar types of fields. On the wire enums are numbers, as int32 is.
_SCALARS = {"double": 1, "int64": 3, "int32": 5, "enum": 5, "bool": 8, "string": 9, "bytes": 12}
_MESSAGE, _OPTIONAL, _REPEATED = 11, 1, 3
_FIELD = re.compile(r"(repeated )?([\w.]+) (\w+) = (\d+)")

IDENTITY, ZSTD = 0, 1
SHA256 = 1
UNKNOWN, CACHE_CHECK, QUEUED, EXECUTING, COMPLETED = range(5)

# package -> message -> fields. A type with a capital letter is a message of the same package, a type with dots one of another.
TABLE: dict[str, dict[str, str]] = {
    "google.rpc": {"Status": "int32 code = 1; string message = 2; repeated google.protobuf.Any details = 3"},
    "google.longrunning": {
        "Operation": "string name = 1; google.protobuf.Any metadata = 2; bool done = 3; google.rpc.Status error = 4;"
        " google.protobuf.Any response = 5",
    },
    "google.bytestream": {
        "ReadRequest": "string resource_name = 1",
        "ReadResponse": "bytes data = 10",
        "WriteRequest": "string resource_name = 1; int64 write_offset = 2; bool finish_write = 3; bytes data = 10",
        "WriteResponse": "int64 committed_size = 1",
    },
    _V2: {
        "Digest": "string hash = 1; int64 size_bytes = 2",
        "EnvironmentVariable": "string name = 1; string value = 2",
        "Property": "string name = 1; string value = 2",
        "Platform": "repeated Property properties = 1",
        "Command": "repeated string arguments = 1; repeated EnvironmentVariable environment_variables = 2;"
        " Platform platform = 5; string working_directory = 6; repeated string output_paths = 7",
        "Action": "Digest command_digest = 1; Digest input_root_digest = 2; bytes salt = 9; Platform platform = 10",
        "FileNode": "string name = 1; Digest digest = 2; bool is_executable = 4",
        "DirectoryNode": "string name = 1; Digest digest = 2",
        "Directory": "repeated FileNode files = 1; repeated DirectoryNode directories = 2",
        "OutputFile": "string path = 1; Digest digest = 2; bool is_executable = 4; bytes contents = 5",
        "ExecutedActionMetadata": "string worker = 1; google.protobuf.Timestamp queued_timestamp = 2",
        "ActionResult": "repeated OutputFile output_files = 2;"
        " int32 exit_code = 4; bytes stdout_raw = 5; Digest stdout_digest = 6; bytes stderr_raw = 7; Digest stderr_digest = 8;"
        " ExecutedActionMetadata execution_metadata = 9",
        "GetActionResultRequest": "string instance_name = 1; Digest action_digest = 2;"
        " repeated string inline_output_files = 5; enum digest_function = 6",
        "UpdateActionResultRequest": "string instance_name = 1; Digest action_digest = 2; ActionResult action_result = 3;"
        " enum digest_function = 5",
        "FindMissingBlobsRequest": "string instance_name = 1; repeated Digest blob_digests = 2; enum digest_function = 3",
        "FindMissingBlobsResponse": "repeated Digest missing_blob_digests = 2",
        "BlobToWrite": "Digest digest = 1; bytes data = 2; enum compressor = 3",
        "BatchUpdateBlobsRequest": "string instance_name = 1; repeated BlobToWrite requests = 2; enum digest_function = 5",
        "WrittenBlob": "Digest digest = 1; google.rpc.Status status = 2",
        "BatchUpdateBlobsResponse": "repeated WrittenBlob responses = 1",
        "BatchReadBlobsRequest": "string instance_name = 1; repeated Digest digests = 2;"
        " repeated enum acceptable_compressors = 3; enum digest_function = 4",
        "ReadBlob": "Digest digest = 1; bytes data = 2; google.rpc.Status status = 3; enum compressor = 4",
        "BatchReadBlobsResponse": "repeated ReadBlob responses = 1",
        "GetCapabilitiesRequest": "string instance_name = 1",
        "ActionCacheUpdateCapabilities": "bool update_enabled = 1",
        "CacheCapabilities": "repeated enum digest_functions = 1;"
        " ActionCacheUpdateCapabilities action_cache_update_capabilities = 2; int64 max_batch_total_size_bytes = 4;"
        " repeated enum supported_compressors = 6; repeated enum supported_batch_update_compressors = 7",
        "ExecutionCapabilities": "enum digest_function = 1; bool exec_enabled = 2; repeated enum digest_functions = 5",
        "ServerCapabilities": "CacheCapabilities cache_capabilities = 1; ExecutionCapabilities execution_capabilities = 2",
        "ExecuteRequest": "string instance_name = 1; Digest action_digest = 6; enum digest_function = 9",
        "WaitExecutionRequest": "string name = 1",
        "ExecuteResponse": "ActionResult result = 1; bool cached_result = 2; google.rpc.Status status = 3; string message = 5",
        "ExecuteOperationMetadata": "enum stage = 1; ExecutedActionMetadata partial_execution_metadata = 5",
        "ToolDetails": "string tool_name = 1; string tool_version = 2",
        "RequestMetadata": "ToolDetails tool_details = 1",
    },
}  # fmt: skip


@dataclass(frozen=True)
class Method:
    """A method of gRPC.

    Attributes:
        path: path of the method.
        answer: class of its answer.
        streams: 'unary_unary', 'unary_stream' or 'stream_unary'.
    """

    path: str
    answer: Any
    streams: str = "unary_unary"


def _field(text: str, package: str) -> descriptor_pb2.FieldDescriptorProto:
    found = _FIELD.fullmatch(text.strip())
    assert found is not None, text
    repeated, kind, name, number = found.groups()
    field = descriptor_pb2.FieldDescriptorProto(name=name, number=int(number))
    field.label = _REPEATED if repeated else _OPTIONAL
    field.type = _SCALARS.get(kind, _MESSAGE)
    if kind not in _SCALARS:
        field.type_name = f".{kind}" if "." in kind else f".{package}.{kind}"
    return field


def _classes() -> dict[str, Any]:
    """Return the class of each message by its name without the package.

    The names are unique.
    """
    pool = DescriptorPool()
    known = (any_pb2, timestamp_pb2)
    for each in known:
        pool.AddSerializedFile(each.DESCRIPTOR.serialized_pb)
    needed = [each.DESCRIPTOR.name for each in known]
    for package, messages in TABLE.items():
        name = f"n6build/{package}.proto"
        file = descriptor_pb2.FileDescriptorProto(name=name, package=package, syntax="proto3", dependency=needed)
        for message, fields in messages.items():
            file.message_type.add(name=message, field=[_field(each, package) for each in fields.split(";")])
        pool.Add(file)
        needed.append(name)
    return {each.rpartition(".")[2]: kind for each, kind in GetMessageClassesForFiles(needed, pool).items()}


CLASSES = _classes()


def message(kind: str, /, **fields: object) -> Message:
    """Return a message with these fields.

    Args:
        kind: name of the message in `TABLE`.

    Raises:
        ValueError, TypeError: for fields that the message does not have.
    """
    return CLASSES[kind](**fields)


_CAS = f"/{_V2}.ContentAddressableStorage/"
_CACHE = f"/{_V2}.ActionCache/"

GET_CAPABILITIES = Method(f"/{_V2}.Capabilities/GetCapabilities", CLASSES["ServerCapabilities"])
GET_ACTION_RESULT = Method(f"{_CACHE}GetActionResult", CLASSES["ActionResult"])
UPDATE_ACTION_RESULT = Method(f"{_CACHE}UpdateActionResult", CLASSES["ActionResult"])
FIND_MISSING_BLOBS = Method(f"{_CAS}FindMissingBlobs", CLASSES["FindMissingBlobsResponse"])
BATCH_UPDATE_BLOBS = Method(f"{_CAS}BatchUpdateBlobs", CLASSES["BatchUpdateBlobsResponse"])
BATCH_READ_BLOBS = Method(f"{_CAS}BatchReadBlobs", CLASSES["BatchReadBlobsResponse"])
READ = Method("/google.bytestream.ByteStream/Read", CLASSES["ReadResponse"], "unary_stream")
WRITE = Method("/google.bytestream.ByteStream/Write", CLASSES["WriteResponse"], "stream_unary")
EXECUTE = Method(f"/{_V2}.Execution/Execute", CLASSES["Operation"], "unary_stream")
WAIT_EXECUTION = Method(f"/{_V2}.Execution/WaitExecution", CLASSES["Operation"], "unary_stream")
