"""Networks that were compiled elsewhere: a folder's files by any name."""

from __future__ import annotations

import io
import random
import tracemalloc
from collections.abc import Mapping
from pathlib import Path

import intelhex
import pytest
from n6build.base.errors import N6Error
from n6build.compile.artifacts.read_artifacts import read_artifacts
from n6build.compile.prebuilt.imported import import_network
from n6build.describe.compiled_folder import find_network
from n6build.describe.hardware.boards import load_board
from n6build.describe.model import load_model
from n6build.describe.network_names import network_names
from n6build.place.image.hexfile import hex_chunks
from n6build.place.image.manifest import Segment
from n6build.place.memory_plan.board_memory import memory_of
from n6build.place.memory_plan.build_plan import CompiledNetwork, make_plan
from n6build.place.memory_plan.vectors import NO_VECTORS
from samples import sample

from network.network_c_texts import CORES, network_c

RELEASE_3, RELEASE_2 = CORES[3], CORES[0]
WEIGHTS = bytes(range(256)) * 18 + bytes(96)


def put(folder: Path, files: Mapping[str, bytes | str]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def hex_of(data: bytes, address: int) -> str:
    image = intelhex.IntelHex()
    image.frombytes(data, offset=address)
    text = io.StringIO()
    image.write_hex_file(text)
    return text.getvalue()


@pytest.mark.parametrize(
    "weights",
    [
        {"od_atonbuf.xSPI2.raw": WEIGHTS},
        {"od_data.xSPI2.bin": WEIGHTS},
        {"network_data.hex": hex_of(WEIGHTS, 0x7038_0000)},
        {"aed_weights.bin": WEIGHTS},
        {"od_atonbuf.xSPI2.raw": WEIGHTS, "network_data.xSPI2.bin": WEIGHTS, "network_data.hex": "garbage"},
    ],
    ids=" ".join,
)
def test_weights_of_any_name_become_the_pools_image(tmp_path: Path, weights: dict[str, bytes | str]) -> None:
    folder = put(tmp_path / "st", {"od.c": network_c(RELEASE_3), "od_ecblobs.h": "/* blobs */", **weights})
    network = find_network(folder)
    import_network(network, tmp_path / "out")
    assert {path.name for path in (tmp_path / "out").iterdir()} == set(network.outputs)
    (image,) = read_artifacts(tmp_path / "out", network.name).initializers
    assert (image.fname, image.file.read_bytes()) == ("xSPI2", WEIGHTS)


def test_beside_a_single_network_other_sources_do_not_matter(tmp_path: Path) -> None:
    files = {
        "network.c": network_c(RELEASE_2),
        "stai_network.c": "",
        "network_weights.c": "",
        "main.c": "",
        "app_x.c": "",
    }
    assert find_network(put(tmp_path, files)).name == "network"


def test_of_several_networks_one_is_chosen_by_name(tmp_path: Path) -> None:
    files: dict[str, bytes | str] = {
        "od.c": network_c(RELEASE_3),
        "reid.c": network_c(RELEASE_3).replace("_od", "_reid"),
        "od_atonbuf.xSPI2.raw": b"od",
        "reid_atonbuf.xSPI2.raw": b"reid",
    }
    folder = put(tmp_path, files)
    with pytest.raises(
        N6Error, match=f"N6-PRE-002: contains several networks: od, reid\n  hint: .* model={folder}/od.c,"
    ):
        find_network(folder)
    assert [weights.file.name for weights in find_network(folder, "reid").weights] == ["reid_atonbuf.xSPI2.raw"]
    with pytest.raises(N6Error, match="did you mean 'reid'"):
        find_network(folder, "ried")


WHOLE = network_c(RELEASE_2)


def test_network_1_and_network_never_get_the_weights_of_each_other(tmp_path: Path) -> None:
    files: dict[str, bytes | str] = {
        "network.c": WHOLE,
        "network_1.c": WHOLE,
        "network_1_atonbuf.xSPI2.raw": b"1",
        "network_atonbuf.xSPI2.raw": b"0",
        "network_1_data.AXISRAM5.bin": b"1",
        "weights.hex": "of neither",
    }
    folder = put(tmp_path, files)
    with pytest.raises(N6Error, match="N6-PRE-002: contains several networks: network, network_1"):
        find_network(folder)
    found = {name: find_network(folder, name).weights for name in ("network", "network_1")}
    assert [each.file.name for each in found["network"]] == ["network_atonbuf.xSPI2.raw"]
    assert [each.file.name for each in found["network_1"]] == [
        "network_1_data.AXISRAM5.bin",
        "network_1_atonbuf.xSPI2.raw",
    ]


def test_weights_that_another_network_left_are_used_only_where_there_are_no_others(tmp_path: Path) -> None:
    folder = put(tmp_path, {"network.c": WHOLE, "network_1_atonbuf.xSPI2.raw": b"1"})
    assert [each.file.name for each in find_network(folder).weights] == ["network_1_atonbuf.xSPI2.raw"]
    put(tmp_path, {"network_data.bin": b"0"})
    assert [each.file.name for each in find_network(folder).weights] == ["network_data.bin"]


def test_beside_a_network_c_files_that_are_none_do_not_count(tmp_path: Path) -> None:
    folder = put(tmp_path, {"od.c": network_c(RELEASE_3), "post_processing.c": "int x;\n", "aed_weights.bin": b"0"})
    network = find_network(folder)
    assert (network.name, [each.file.name for each in network.weights]) == ("od", ["aed_weights.bin"])


def test_network_c_itself_may_be_named(tmp_path: Path) -> None:
    folder = put(tmp_path, {"od.c": network_c(RELEASE_3), "reid.c": network_c(RELEASE_3).replace("_od", "_reid")})
    models = [load_model(str(folder / name)) for name in ("od.c", "reid.c")]
    assert [(model.name, model.prebuilt) for model in models] == [("od", folder), ("reid", folder)]
    assert network_names(models) == ["od", "reid"]


def test_a_folder_without_a_network(tmp_path: Path) -> None:
    with pytest.raises(N6Error, match="N6-PRE-001: contains no compiled network"):
        find_network(tmp_path)


def test_a_folder_with_network_c_is_a_model(tmp_path: Path) -> None:
    folder = put(tmp_path / "my net", {"network.c": network_c(RELEASE_2)})
    model = load_model(str(folder))
    assert (model.name, model.file, model.network.folder) == ("my_net-b973a0eb", None, ".")
    assert network_names([model]) == ["network"]


def test_so_is_one_whose_network_has_another_name(tmp_path: Path) -> None:
    model = load_model(str(put(tmp_path / "net", {"od.c": network_c(RELEASE_3), "main.c": ""})))
    assert (model.file, network_names([model])) == (None, ["od"])
    with pytest.raises(N6Error, match="N6-MODEL-001: no model in folder"):
        load_model(str(put(tmp_path / "program", {"main.c": "", "app_x.c": ""})))


def test_a_folder_of_folders_with_networks_names_those_with_weights(tmp_path: Path) -> None:
    put(tmp_path / "Model/DK", {"network.c": network_c(RELEASE_2), "network_data.hex": hex_of(WEIGHTS, 0)})
    put(tmp_path / "Model/Nucleo", {"network.c": network_c(RELEASE_2)})
    put(tmp_path / "Model/Pointer", {"network.c": network_c(RELEASE_2), "network_data.hex": POINTER})
    put(tmp_path / "Model/C/array", {"od.c": network_c(RELEASE_3), "od_atonbuf.xSPI2.c": c_array(WEIGHTS)})
    put(tmp_path / "Model/Other", {"app.c": "int x;\n", "app.bin": b"1"})
    with pytest.raises(N6Error) as caught:
        load_model("./Model", relative_to=tmp_path)
    assert str(caught.value).splitlines() == [
        "error N6-MODEL-001: no model in folder './Model'",
        "  hint: use a compiled network in one of its folders: model='Model/C/array' or model='Model/DK'",
    ]
    with pytest.raises(N6Error, match=f"model='{tmp_path}/Model/C/array' or"):
        load_model(str(tmp_path / "Model"))


def test_of_several_networks_the_hint_names_one_with_weights(tmp_path: Path) -> None:
    files: dict[str, bytes | str] = {"od.c": network_c(RELEASE_3), "reid.c": network_c(RELEASE_3)}
    files["reid_atonbuf.xSPI2.raw"] = WEIGHTS
    with pytest.raises(N6Error, match=r"N6-PRE-002: .*\n  hint: select one: model=\S*/reid.c"):
        find_network(put(tmp_path, files))


def test_two_networks_of_one_name_are_refused(tmp_path: Path) -> None:
    models = [load_model(str(put(tmp_path / name, {"network.c": network_c(RELEASE_2)}))) for name in ("a", "b")]
    with pytest.raises(
        N6Error,
        match=r"N6-NET-023: two networks of .* have the name 'network'\n  hint: compile one of them again with --name",
    ):
        network_names(models)


READ_BY_EPOCH_2 = network_c(RELEASE_3).replace("LL_ATON_LIB_UNUSED(epoch_block);", "conv(0x70380040UL);")
POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 4704\n"
NEEDED = "4704 bytes at 0x70380000, which network 'od' reads first in epoch 2"


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (
            {},
            rf"st/od\.c: error N6-NET-025: the weights of pool xSPI2 are missing: {NEEDED}\n  hint: .* od_atonbuf.xSPI2.raw",
        ),
        ({"od_data.xSPI2.bin": b""}, rf"st/od_data\.xSPI2\.bin: error N6-NET-025: is empty: {NEEDED}"),
        (
            {"od_data.xSPI2.bin": WEIGHTS[1:]},
            rf"st/od_data\.xSPI2\.bin: error N6-NET-021: has 4703 bytes instead of the {NEEDED}",
        ),
        (
            {"od_data.hex": hex_of(WEIGHTS + b"0", 0)},
            f"od_data.hex: error N6-NET-021: has 4705 bytes instead of the {NEEDED}",
        ),
        *(
            (
                {name: POINTER},
                f"st/{name}: error N6-FILE-006: is a Git LFS pointer: the file of 4704 bytes was not downloaded; it "
                rf"contains {NEEDED}\n  hint: run git -C \S*/st lfs pull --include={name} ",
            )
            for name in ("od_atonbuf.xSPI2.raw", "od_data.xSPI2.bin", "od_data.hex")
        ),
    ],
    ids=str,
)
def test_weights_that_are_not_there_are_named_with_their_reader(
    tmp_path: Path, files: dict[str, bytes | str], message: str
) -> None:
    folder = put(tmp_path / "st", {"od.c": READ_BY_EPOCH_2, **files})
    with pytest.raises(N6Error, match=message):
        import_network(find_network(folder), tmp_path / "out")


@pytest.mark.parametrize("placeholder", [b"", POINTER])
@pytest.mark.parametrize(
    ("there", "not_there"),
    [
        ("od_data.hex", "od_data.xSPI2.bin"),
        ("od_data.xSPI2.bin", "od_data.xSPI2.raw"),
        ("w.bin", "od_atonbuf.xSPI2.raw"),
    ],
)
def test_of_several_files_of_weights_the_one_that_is_there_is_taken(
    tmp_path: Path, there: str, not_there: str, placeholder: bytes | str
) -> None:
    content = hex_of(WEIGHTS, 0) if there.endswith(".hex") else WEIGHTS
    folder = put(tmp_path / "st", {"od.c": READ_BY_EPOCH_2, there: content, not_there: placeholder})
    network = find_network(folder)
    assert [each.file.name for each in network.weights] == [there]
    import_network(network, tmp_path / "out")


@pytest.mark.parametrize("name", ["od.c", "od_ecblobs.h", "od_c_info.json", "od_atonbuf.xSPI2.c"])
def test_any_other_file_of_a_network_may_be_a_pointer(tmp_path: Path, name: str) -> None:
    files: dict[str, bytes | str] = {"od.c": READ_BY_EPOCH_2, "od_atonbuf.xSPI2.raw": WEIGHTS}
    if name.endswith(".xSPI2.c"):
        del files["od_atonbuf.xSPI2.raw"]
    folder = put(tmp_path / "st", files | {name: POINTER})
    with pytest.raises(N6Error, match=f"st/{name}: error N6-FILE-006: is a Git LFS pointer"):
        import_network(find_network(folder), tmp_path / "out")


def c_array(data: bytes) -> str:
    words = [int.from_bytes(data[at : at + 8], "little") for at in range(0, len(data), 8)]
    return (
        f"const uint64_t _mem_pool_xSPI2_od[{len(words)}] = {{\n"
        + "".join(f"0x{word:X}ULL,\n" for word in words)
        + "};\n"
    )


@pytest.mark.parametrize(("mode", "address"), [("absolute", 0x7038_0000), ("relative", 0)])
def test_a_c_array_is_a_file_of_weights(tmp_path: Path, mode: str, address: int) -> None:
    text = network_c(RELEASE_3, flash_mode=mode)
    folder = put(tmp_path / "st", {"od.c": text, "od_atonbuf.xSPI2.c": c_array(WEIGHTS)})
    network = find_network(folder)
    assert network.outputs == ("od.c", "od_atonbuf.xSPI2.raw")
    import_network(network, tmp_path / "out")
    (image,) = read_artifacts(tmp_path / "out", "od").initializers
    assert (image.address, image.file.read_bytes()) == (address, WEIGHTS)
    put(folder, {"od_atonbuf.xSPI2.raw": WEIGHTS})
    assert [each.file.name for each in find_network(folder).weights] == ["od_atonbuf.xSPI2.raw"]


def test_a_c_array_of_another_network_is_refused(tmp_path: Path) -> None:
    folder = put(tmp_path / "st", {"od.c": READ_BY_EPOCH_2, "od_atonbuf.xSPI2.c": c_array(WEIGHTS[8:])})
    with pytest.raises(N6Error, match=f"od_atonbuf.xSPI2.c: error N6-NET-021: has 4696 bytes instead of the {NEEDED}"):
        import_network(find_network(folder), tmp_path / "out")


def content_of_hex(folder: Path, text: str) -> bytes:
    """Return the bytes that a network reads from this hex file.

    A network of another size raises N6-NET-021, which is ignored: its message gives the size.
    """
    put(folder, {"network.c": network_c(RELEASE_2), "network_data.hex": text})
    try:
        import_network(find_network(folder), folder / "out")
    except N6Error as error:
        if error.id != "N6-NET-021":
            raise
    return (folder / "out/network_atonbuf.raw").read_bytes()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is an empty Intel hex file"),
        (hex_of(b"ab", 0) + hex_of(b"c", 2), None),
        (hex_of(bytes(40_000), 0x7038_0000).replace(":00000001FF\n", ":020000040000FA\n:0100000000FF\n"), "spans 1882"),
        (hex_of(bytes(40_000), 0x100).replace(":00000001FF\n", ":0101000001FD\n"), "data overlap at address 0x100"),
        (
            hex_of(bytes(40_000), 0).replace(":00000001FF", ":0100000000FE"),
            "network_data.hex:2501: .*invalid checksum",
        ),
        (":" * 2000, "network_data.hex:1: "),
    ],
)
def test_what_a_hex_file_has_wrong_is_told(tmp_path: Path, text: str, message: str | None) -> None:
    if message is None:
        assert content_of_hex(tmp_path, text) == b"abc"
        return
    with pytest.raises(N6Error, match=message) as caught:
        content_of_hex(tmp_path, text)
    assert caught.value.id in {"N6-PRE-003", "N6-HEX-001"}
    assert not (tmp_path / "out/network_atonbuf.raw").exists()


def test_a_large_hex_file_takes_little_memory(tmp_path: Path) -> None:
    data = random.Random(1).randbytes(1 << 19)
    segment = Segment("weights", "w.bin", 0x7038_0010, len(data), "")
    (tmp_path / "w.bin").write_bytes(data)
    text = b"".join(hex_chunks([segment], tmp_path)).decode()
    (tmp_path / "w.bin").unlink()
    tracemalloc.start()
    try:
        assert content_of_hex(tmp_path / "st", text) == data
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # The peak includes the bytes twice while they are collected, and the text that the test writes.
    assert peak < 5 << 20


@pytest.mark.parametrize(
    ("folder", "name", "ll_aton", "weights", "address", "input_shape", "output_bytes", "pools"),
    [
        ("yamnet-core-2.2", "network", (1, 1, 1, 14), 3_581_153, 0x70180000, (1, 64, 96, 1), 40, {"AXISRAM6": 147_456}),
        (
            "reid-mobilenetv2-core-3.0",
            "reid",
            (1, 1, 3, 8),
            2_432_337,
            0x72000000,
            (1, 256, 128, 3),
            1280,
            {"AXISRAM5": 393_216, "AXISRAM4": 327_680, "AXISRAM3": 458_752},
        ),
    ],
)
def test_networks_that_st_compiled_for_the_npu(
    tmp_path: Path,
    folder: str,
    name: str,
    ll_aton: tuple[int, ...],
    weights: int,
    address: int,
    input_shape: tuple[int, ...],
    output_bytes: int,
    pools: dict[str, int],
) -> None:
    network = find_network(sample(f"npu/{folder}"))
    assert network_names([load_model(str(sample(f"npu/{folder}")))]) == [name]
    import_network(network, tmp_path)
    artifacts = read_artifacts(tmp_path, network.name)
    assert (network.name, artifacts.ll_aton) == (name, ll_aton)
    assert [(image.fname, image.bytes) for image in artifacts.initializers] == [("xSPI2", weights)]
    assert artifacts.initializers[0].file.read_bytes() == network.weights[0].file.read_bytes()
    assert [buffer.shape for buffer in artifacts.inputs] == [input_shape]
    assert [buffer.bytes for buffer in artifacts.outputs] == [output_bytes]
    used = {pool.fname: pool.used_bytes for pool in artifacts.pools if pool.rights == "ACC_WRITE" and pool.used_bytes}
    assert used == pools
    board = load_board("nucleo-n657")
    compiled = [CompiledNetwork("m", artifacts, NO_VECTORS, False)]
    (image,) = make_plan(memory_of(board, {}), "extflash", compiled).images
    assert (image.source, image.in_place) == (address, True)


@pytest.mark.parametrize("name", ["a b", "-o", 'a"};', "a\nb", "net-1", "1st", "é", "$(touch PWNED)"])
def test_a_network_is_called_as_a_symbol_of_c(tmp_path: Path, name: str) -> None:
    with pytest.raises(N6Error, match="N6-MODEL-007"):
        find_network(put(tmp_path, {f"{name}.c": ""}))
