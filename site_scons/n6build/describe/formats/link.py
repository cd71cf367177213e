"""Requests to a running Appli over its console, and its answers.

They are frames in COBS, ended by a zero byte, with a CRC-32.

    request   type, sequence, payload, CRC-32 of all of it
    answer    type | ANSWER, the same sequence, status, payload, CRC-32

A payload begins with the struct of its type, if there is one; text, data or rows of EPOCH follow.
"""

from __future__ import annotations

from enum import IntEnum

from n6build.base.c_format import Constant, Enumeration, Format, Member, Struct

VERSION = 3
# A message has at most this number of data bytes: of an input or an output, or rows of epochs.
DATA_MAX = 200
# The rest of a message is type, sequence, status, index, offset and CRC.
MESSAGE_MAX = DATA_MAX + 16
CRC_BYTES = 4
ANSWER = 0x80


class Type(IntEnum):
    """Type of a request; its answer has the same type with ANSWER set."""

    HELLO = 1
    NETWORK = 2
    INPUT = 3
    RUN = 4
    OUTPUT = 5
    EPOCHS = 6
    RESTART = 7


class Status(IntEnum):
    """Status of an answer.

    Attributes:
        OK: The request was carried out.
        UNKNOWN: There is no such type or network.
        RANGE: The data is outside the buffers.
    """

    OK = 0
    UNKNOWN = 1
    RANGE = 2


_INDEX = Member("index", "of the network", "uint8_t")
HELLO_ANSWER = Struct(
    "n6_link_hello_answer_t",
    (Member("version", kind="uint16_t"), Member("networks", kind="uint16_t"), Member("cpu_hz")),
)
NETWORK_REQUEST = Struct("n6_link_network_request_t", (_INDEX,))
NETWORK_ANSWER = Struct(
    "n6_link_network_answer_t",
    (Member("input_bytes"), Member("output_bytes"), Member("epochs")),
    "Behind it the name.",
)
INPUT_REQUEST = Struct("n6_link_input_request_t", (_INDEX, Member("offset")), "Behind it the data.")
RUN_REQUEST = Struct("n6_link_run_request_t", (_INDEX,))
RESTART_REQUEST = Struct("n6_link_restart_request_t", (_INDEX,))
RUN_ANSWER = Struct("n6_link_run_answer_t", (Member("cycles"),))
OUTPUT_REQUEST = Struct(
    "n6_link_output_request_t", (_INDEX, Member("offset"), Member("size", "of the data that is wanted", "uint8_t"))
)
EPOCHS_REQUEST = Struct("n6_link_epochs_request_t", (_INDEX, Member("first", kind="uint16_t")))
EPOCH = Struct("n6_link_epoch_t", (Member("start"), Member("core"), Member("end")), "Cycles of an epoch, in an answer.")

FORMAT = Format(
    "n6_link_format.h",
    (
        "Requests over the console's UART and their answers: frames in COBS, with a CRC-32.",
        "",
        "    request   type, sequence, payload, CRC-32 of all of it (little endian)",
        "    answer    type | N6_LINK_ANSWER, the same sequence, status, payload, CRC-32",
    ),
    constants=(
        Constant("N6_LINK_VERSION", VERSION),
        Constant("N6_LINK_DATA_MAX", DATA_MAX, "bytes of an input or an output, or of rows of epochs"),
        Constant("N6_LINK_MESSAGE_MAX", MESSAGE_MAX, "type, sequence, status, index, offset, data, CRC"),
        Constant("N6_LINK_CRC_BYTES", CRC_BYTES),
        Constant("N6_LINK_ANSWER", ANSWER),
    ),
    enumerations=(
        Enumeration(
            "n6_link_type_t",
            "N6_LINK_",
            Type,
            {
                "INPUT": "data for the inputs, which count as one",
                "RUN": "an inference, once for each sequence number",
                "OUTPUT": "data of the outputs, which count as one",
                "EPOCHS": "cycles of each, as many as fit",
                "RESTART": "the network's states get their first values, so that a sequence begins",
            },
        ),
        Enumeration(
            "n6_link_status_t",
            "N6_LINK_",
            Status,
            {"UNKNOWN": "no such type or network", "RANGE": "outside of the buffers"},
        ),
    ),
    structs=(
        HELLO_ANSWER,
        NETWORK_REQUEST,
        NETWORK_ANSWER,
        INPUT_REQUEST,
        RUN_REQUEST,
        RESTART_REQUEST,
        RUN_ANSWER,
        OUTPUT_REQUEST,
        EPOCHS_REQUEST,
        EPOCH,
    ),
)
