"""Fuzz targets for networks and the outputs of their compilers."""

from __future__ import annotations

import inspect
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import one_op_models as ops
from n6build.compile.artifacts.c_info_pools import read_activation_pools, read_costs
from n6build.compile.artifacts.c_info_reader import read_c_info
from n6build.compile.artifacts.description import InitializerImage
from n6build.compile.artifacts.network_c import parse_network_c
from n6build.compile.artifacts.read_artifacts import read_artifacts
from n6build.compile.artifacts.weights import first_reader
from n6build.compile.ll_aton import read_ll_aton_version
from n6build.compile.model_constants import int8_constants
from n6build.compile.model_facts import read_model_facts
from n6build.compile.mpool import parse_mpool
from n6build.compile.prebuilt.imported import read_array
from n6build.compile.quantise.tflite_model import read_float_tflite
from n6build.compile.reference.compile_model import compile_network
from n6build.compile.reference.onnx.reader import read_onnx_graph
from n6build.compile.reference.tflite_reader import read_graph
from n6build.compile.st_edge_ai.compiler_profile import options_in, parse_profiles
from n6build.compile.st_edge_ai.find import parse_version
from n6build.compile.st_edge_ai.log import read_log
from n6build.compile.st_edge_ai.normalise import normalised_c_info
from n6build.describe.formats.npu_blob import CONTAINERS, ContainerLayout
from n6build.describe.hardware.boards import load_board
from n6build.describe.quantise import Quantise
from n6build.judge.npu.blobs import read_blobs
from n6build.judge.npu.disassemble import blob_lines
from n6build.judge.npu.names import names_of
from n6build.judge.npu.settings import epochs_of_blob
from n6build.judge.npu.source_settings import epochs_of_source
from n6build.judge.npu.trace import trace_lines
from n6build.survey.kinds import Wishes
from n6build.survey.survey import KINDS, rows_of, tree_of
from network.host_network import extflash
from network.network_c_texts import CORES, network_c
from npu.test_blobs import WORDS, header
from npu.test_containers import example
from npu.test_trace import BLOB, NETWORK, words
from one_op_models import Quantisation
from onnx_models import onnx_model, qdq_convolution
from trained_models import tflite_classifier
from virtual_board.npu.model import NPU, as_bytes

from fuzz.descriptions import POOLS
from fuzz.target import Target, of_file

NAMES = names_of(NPU)
C_FILE = network_c(CORES[-1]).encode()
_ONE, _OTHER = Quantisation(0.05, 3), Quantisation(0.11, -7)
TFLITE = ops.fully_connected(1, np.ones((4, 8), np.int8), np.zeros(4, np.int32), [0.01] * 4, _ONE, _OTHER)
POOL = ops.pad((1, 4, 4, 2), ((0, 0), (1, 1), (1, 1), (0, 0)), _ONE)
_TRACE = "\n".join(
    ["epoch 0 0", "w 0x1a000 0x00000001", "run 0", "blob 0x70000000", *words(BLOB), "epoch 0 1", "run 3"]
)
_VERSION = b"".join(b"#define LL_ATON_VERSION_%s 3\n" % part for part in (b"MAJOR", b"MINOR", b"MICRO", b"DEV"))
_COSTS = (
    b'{"memory_pools": [{"id": 1, "name": "ram"}], "buffers": [{"id": 1, "mpool_id": 1, "is_param": false, "shape": [2, 3],'
    b' "size_bytes": 6}], "graphs": [{"nodes": [{"id": 7, "name": "epoch_3", "inputs": [1], "outputs": [1]}]}],'
    b' "memory_accesses": [{"node_id": 7, "mpool_id": 1, "reads": 6, "writes": 0}],'
    b' "power_estimates": [{"node_id": 7, "compute_cycles": 6, "max_cycles": 9}]}'
)
_LOG = b"ST Edge AI Core v4.0.1-20500 abcdef\n  50.0% done\nE101(InvalidModelError): it is none\nINTERNAL ERROR: at a.cc:17\n"
_PROFILE = b'{"Globals": {}, "Profiles": {"default": {"memory_pool": "a.mpool", "options": "-O3 \\\n--Os"}}} // end\n'
_SETTINGS = b"""static void LL_ATON_Start_EpochBlock_2(const void *block) {
  static const LL_Convacc_InitTypeDef CONVACC0_init = { .simd = 1, .kernelWidth = 3, .batchDepth = 1, };
  LL_Convacc_Init(0, &CONVACC0_init);
}
"""


@cache
def _network() -> tuple[bytes, bytes]:
    """Return network.c and c_info of a network with one operator.

    Our compiler writes them.
    """
    with TemporaryDirectory() as folder:
        model = Path(folder) / "network.tflite"
        model.write_bytes(TFLITE)
        compile_network(model, extflash(), Path(folder) / "out")
        (described,) = (Path(folder) / "out").glob("*_c_info.json")
        return described.with_name("network.c").read_bytes(), described.read_bytes()


def _beside_network_c(data: bytes, folder: Path) -> None:
    """Read a c_info together with its network.c."""
    (folder / "network.c").write_bytes(_network()[0])
    (folder / "network_c_info.json").write_bytes(data)
    inspect.unwrap(read_artifacts)(folder, "network", ())


def _surveyed(data: bytes, folder: Path) -> None:
    """Survey a folder with this network.c; a fault would be hidden in a row."""
    (folder / "od.c").write_bytes(data)
    (folder / "od_ecblobs.h").write_bytes(header(WORDS).encode())
    for kind in KINDS:
        for row in rows_of(kind, tree_of(folder), Wishes(load_board("nucleo-n657")), lambda kind, row: None):
            assert "fault of n6build" not in " ".join(row.notes), row.notes


_BLOBS = b"static const uint64_t _ec_blob_od_1 [2] =\n{\n0x00000001CA057A7A, 0x703800000000000C\n};\n"
_ARRAY = b"const uint64_t _mem_pool_xSPI2_od[3] = {\n0x0102ULL, 7, /* one */\n0x3ULL, };\n"


def _reader(source: Path) -> str:
    return first_reader(source, InitializerImage("octoFlash", "xSPI2", 0x7038_0000, source, 4704, relative=False))


def _reader_in_blobs(data: bytes, folder: Path) -> str:
    (folder / "od.c").write_bytes(C_FILE)
    (folder / "od_ecblobs.h").write_bytes(data)
    return _reader(folder / "od.c")


def _compiled(data: bytes, folder: Path) -> None:
    path = folder / "subject.tflite"
    path.write_bytes(data)
    compile_network(path, extflash(), folder / "out")


def _artifacts(data: bytes, folder: Path) -> None:
    """Read a folder with network.c and its weights."""
    (folder / "network.c").write_bytes(data)
    (folder / "network_atonbuf.xSPI2.raw").write_bytes(bytes(4704))
    inspect.unwrap(read_artifacts)(folder, "network")


def _blobs(path: Path) -> None:
    for blob in read_blobs(path):
        list(blob_lines(blob, NAMES))
        list(epochs_of_blob(blob, NAMES))


def _containers() -> list[list[int]]:
    return [example(layout) for layout in CONTAINERS]


def _container(layout: ContainerLayout) -> list[bytes]:
    return [as_bytes(example(layout))]


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


NETWORKS = (
    Target(".tflite", lambda: [TFLITE, POOL], of_file("model.tflite", read_graph), [b"TFL3"]),
    Target(".tflite, compiled", lambda: [TFLITE, POOL], _compiled, [b"TFL3"]),
    Target(
        ".tflite, float",
        lambda: [tflite_classifier().model],
        of_file("float.tflite", partial(read_float_tflite, settings=Quantise())),
        [b"TFL3"],
    ),
    Target(".tflite, facts", lambda: [TFLITE], of_file("facts.tflite", read_model_facts), [b"TFL3"]),
    Target(".onnx", lambda: [qdq_convolution()], of_file("model.onnx", read_onnx_graph)),
    Target(".onnx, facts", lambda: [onnx_model(quantised=True)], of_file("facts.onnx", read_model_facts)),
    Target("c_info", lambda: [_network()[1]], of_file("network_c_info.json", read_c_info)),
    Target("pools of a c_info", lambda: [_network()[1]], of_file("network_c_info.json", read_activation_pools)),
    Target("c_info, costs of epochs", lambda: [_network()[1], _COSTS], of_file("network_c_info.json", read_costs)),
    Target(
        "c_info, normalised",
        lambda: [b'{"environment": {"generated_time": "t", "a": "/home/x/a.c"}}'],
        lambda data, _: normalised_c_info(data, "c"),
    ),
    Target("c_info beside network.c", lambda: [_network()[1]], _beside_network_c),
    Target("survey", lambda: [C_FILE], _surveyed),
    Target("constants of a .tflite", lambda: [TFLITE], of_file("constants.tflite", int8_constants), [b"TFL3"]),
    Target("constants of a .onnx", lambda: [qdq_convolution()], of_file("constants.onnx", int8_constants)),
    Target("network.c", lambda: [C_FILE], lambda data, _: parse_network_c(_text(data), "network.c")),
    Target("folder of a network", lambda: [C_FILE], _artifacts),
    Target("readers of weights", lambda: [C_FILE], of_file("od.c", _reader)),
    Target("readers of weights in blobs", lambda: [_BLOBS], _reader_in_blobs),
    Target("weights as a C array", lambda: [_ARRAY], of_file("od_atonbuf.xSPI2.c", read_array)),
    Target("mpool", lambda: [POOLS], lambda data, _: parse_mpool(data, "a.mpool")),
    Target(
        "compiler's profiles",
        lambda: [_PROFILE],
        lambda data, _: options_in(parse_profiles(data, "n.json"), "default", "n.json"),
    ),
    Target("compiler's log", lambda: [_LOG], lambda data, _: read_log(_text(data))),
    Target(
        "compiler's version",
        lambda: [b"ST Edge AI Core v4.0.1-20500 abcdef\n"],
        lambda data, _: parse_version(_text(data)),
    ),
    Target("ll_aton_version.h", lambda: [_VERSION], of_file("ll_aton_version.h", read_ll_aton_version)),
    Target("blobs in binaries", lambda: [as_bytes(WORDS), *map(as_bytes, _containers())], of_file("a.bin", _blobs)),
    Target(
        "blobs in headers", lambda: [header(each).encode() for each in (WORDS, *_containers())], of_file("a.h", _blobs)
    ),
    *(
        Target(f"container 0x{layout.magic:08X}", partial(_container, layout), of_file("container.bin", _blobs))
        for layout in CONTAINERS
    ),
    Target("NPU settings in C", lambda: [_SETTINGS], lambda data, _: list(epochs_of_source(_text(data), NAMES))),
    Target(
        "NPU trace",
        lambda: [_TRACE.encode()],
        lambda data, _: list(trace_lines(_text(data).splitlines(), NAMES, [NETWORK])),
    ),
)
