"""Networks that were compiled elsewhere: what is found in a folder, whatever it calls its files."""

from __future__ import annotations

import io
from pathlib import Path

import intelhex
import pytest
from hypothesis import given
from hypothesis import strategies as st
from n6build.errors import N6Error
from n6build.models import load_model
from n6build.network.names import network_names
from n6build.network.prebuilt import find_network, import_network
from n6build.network.read_artifacts import read_artifacts
from network_c_texts import CORES, network_c

RELEASE_3, RELEASE_2 = CORES[3], CORES[0]
WEIGHTS = bytes(range(256)) * 18 + bytes(96)


def put(folder: Path, files: dict[str, bytes | str]) -> Path:
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
    files = {
        "od.c": network_c(RELEASE_3),
        "reid.c": network_c(RELEASE_3).replace("_od", "_reid"),
        "od_atonbuf.xSPI2.raw": b"od",
        "reid_atonbuf.xSPI2.raw": b"reid",
    }
    folder = put(tmp_path, files)
    with pytest.raises(N6Error, match="N6-PRE-002: holds several networks: od, reid"):
        find_network(folder)
    assert [weights.file.name for weights in find_network(folder, "reid").weights] == ["reid_atonbuf.xSPI2.raw"]
    with pytest.raises(N6Error, match="did you mean 'reid'"):
        find_network(folder, "ried")


def test_a_folder_without_a_network(tmp_path: Path) -> None:
    with pytest.raises(N6Error, match="N6-PRE-001: holds no compiled network"):
        find_network(tmp_path)


def test_a_folder_with_network_c_is_a_model(tmp_path: Path) -> None:
    folder = put(tmp_path / "my net", {"network.c": network_c(RELEASE_2)})
    model = load_model(str(folder))
    assert (model.name, model.file, model.network.backend) == ("my_net", None, "prebuilt")
    assert network_names([model]) == ["network"]


def test_two_networks_of_one_name_are_refused(tmp_path: Path) -> None:
    models = [load_model(str(put(tmp_path / name, {"network.c": network_c(RELEASE_2)}))) for name in ("a", "b")]
    with pytest.raises(N6Error, match="N6-NET-023: two networks of the application are called 'network'"):
        network_names(models)


def test_weights_as_a_c_array_are_left_to_the_compiler(tmp_path: Path) -> None:
    text = network_c(RELEASE_3, flash_mode="relative")
    folder = put(tmp_path / "st", {"od.c": text, "od_atonbuf.xSPI2.c": "const int x;"})
    network = find_network(folder)
    import_network(network, tmp_path / "out")
    artifacts = read_artifacts(tmp_path / "out", "od")
    assert not artifacts.initializers
    assert [path.name for path in artifacts.weight_sources] == ["od_atonbuf.xSPI2.c"]


def test_missing_weights_name_the_pool(tmp_path: Path) -> None:
    folder = put(tmp_path / "st", {"od.c": network_c(RELEASE_3)})
    import_network(find_network(folder), tmp_path / "out")
    with pytest.raises(N6Error, match="cannot read the initializers of pool octoFlash"):
        read_artifacts(tmp_path / "out", "od")


@given(data=st.binary(max_size=200) | st.text(alphabet=":0123456789ABCDEF\n", max_size=200).map(str.encode))
def test_a_hex_file_that_is_none(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    folder = put(tmp_path_factory.mktemp("hex"), {"network.c": network_c(RELEASE_2), "network_data.hex": data})
    try:
        import_network(find_network(folder), folder / "out")
    except N6Error as error:
        assert error.id == "N6-PRE-003"
