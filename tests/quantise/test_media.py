"""Pictures, sounds and tables as samples and as inputs of a run."""

from __future__ import annotations

import struct
import wave
from pathlib import Path

import numpy as np
import pytest
from n6build.base.errors import N6Error
from n6build.compile.quantise.float_model import Input
from n6build.compile.quantise.media import open_media, read_picture, read_sound, read_table, read_wav
from n6build.compile.quantise.samples import fitted
from n6build.describe.preprocess import Preprocess, Sound
from n6build.describe.sample_files import sample_files
from n6build.judge.accuracy.labels import folder_labels
from PIL import Image

from models import spoken_words
from models.features import Framing, cosine_transform, log_mel, mel_filters, standardised

CHANNELS_FIRST, CHANNELS_LAST = (1, 3, 4, 6), (1, 4, 6, 3)


def picture(folder: Path, size: tuple[int, int] = (6, 4), name: str = "a.png") -> tuple[Path, np.ndarray]:
    values = np.random.default_rng(0).integers(0, 256, (size[1], size[0], 3)).astype(np.uint8)
    Image.fromarray(values).save(folder / name)
    return folder / name, values


def sound(folder: Path, samples: np.ndarray, width: int = 2, rate: int = 16_000, channels: int = 1) -> Path:
    """Write samples from -1 to 1 as a WAV file."""
    whole = np.rint(samples * ((1 << (8 * width - 1)) - 1)).astype(np.int64) + (128 if width == 1 else 0)
    data = b"".join(int(each).to_bytes(8, "little", signed=True)[:width] for each in whole.ravel())
    with wave.open(str(folder / "a.wav"), "wb") as file:
        file.setsampwidth(width)
        file.setnchannels(channels)
        file.setframerate(rate)
        file.writeframes(data)
    return folder / "a.wav"


def refused(call: object, *arguments: object) -> N6Error:
    with pytest.raises(N6Error) as caught:
        call(*arguments)  # type: ignore[operator]
    assert caught.value.where
    assert caught.value.hint
    return caught.value


# Pictures


def test_a_picture_of_the_input_s_size_keeps_its_pixels(tmp_path: Path) -> None:
    path, values = picture(tmp_path)
    found = read_picture(path, CHANNELS_LAST, Preprocess())
    np.testing.assert_allclose(found, values / 255, atol=1e-7)
    np.testing.assert_array_equal(read_picture(path, CHANNELS_FIRST, Preprocess()), found.transpose(2, 0, 1))
    np.testing.assert_array_equal(read_picture(path, CHANNELS_LAST, Preprocess(colour="bgr")), found[..., ::-1])


def test_scale_mean_and_deviation_are_applied_in_this_order(tmp_path: Path) -> None:
    path, values = picture(tmp_path)
    how = Preprocess(scale=0.5, mean=(1, 2, 3), deviation=(2, 4, 8))
    wanted = (values * 0.5 - np.array([1, 2, 3])) / np.array([2, 4, 8])
    np.testing.assert_allclose(read_picture(path, CHANNELS_LAST, how), wanted, rtol=1e-6)


@pytest.mark.parametrize(("resize", "borders"), [("crop", False), ("fit", True), ("stretch", False)])
def test_a_picture_of_another_size(resize: str, borders: bool, tmp_path: Path) -> None:
    Image.new("RGB", (60, 20), (255, 255, 255)).save(tmp_path / "a.png")
    how = Preprocess(resize=resize)  # type: ignore[arg-type]
    found = read_picture(tmp_path / "a.png", CHANNELS_LAST, how)
    assert found.shape == (4, 6, 3)
    assert bool(found.min() == 0) is borders
    assert found.max() == 1


def test_a_grey_input_takes_a_coloured_picture(tmp_path: Path) -> None:
    path, _ = picture(tmp_path)
    assert read_picture(path, (1, 1, 4, 6), Preprocess()).shape == (1, 4, 6)
    assert read_picture(path, (4, 6), Preprocess()).shape == (4, 6, 1)


def test_a_picture_of_sixteen_bits_keeps_its_upper_eight(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    Image.new("I;16", (6, 4), 0x8012).save(path)
    assert set(read_picture(path, CHANNELS_LAST, Preprocess(scale=1.0)).ravel()) == {0x80}


@pytest.mark.parametrize("name", ["a.png", "a.jpg"])
def test_a_picture_that_is_cut_off_or_is_none(name: str, tmp_path: Path) -> None:
    path, _ = picture(tmp_path, (64, 64), name)
    data = path.read_bytes()
    for damaged in (data[: len(data) // 2], b"", b"<html>"):
        path.write_bytes(damaged)
        error = refused(read_picture, path, CHANNELS_LAST, Preprocess())
        assert (error.id, error.where) == ("N6-QUANT-014", name)


def test_an_input_that_is_no_picture(tmp_path: Path) -> None:
    path, _ = picture(tmp_path)
    assert refused(read_picture, path, (1, 40), Preprocess()).id == "N6-QUANT-005"
    assert "2 numbers for 3 channels" in refused(read_picture, path, CHANNELS_LAST, Preprocess(mean=(1, 2))).what


# Sounds


@pytest.mark.parametrize("width", [1, 2, 3, 4])
def test_samples_of_all_widths(width: int, tmp_path: Path) -> None:
    samples = np.sin(np.arange(100) / 7) * 0.9
    found = read_wav(sound(tmp_path, samples, width), 16_000)
    np.testing.assert_allclose(found, samples, atol=2 / (1 << (8 * width - 1)))


def test_channels_are_mixed_and_lengths_are_fitted(tmp_path: Path) -> None:
    both = np.stack([np.full(10, 0.5), np.full(10, -0.25)], axis=1)
    found = read_sound(sound(tmp_path, both, channels=2), (1, 16), Preprocess())
    np.testing.assert_allclose(found[0, :10], 0.125, atol=1e-4)
    assert (found[0, 10:] == 0).all()
    assert read_sound(tmp_path / "a.wav", (1, 4), Preprocess()).shape == (1, 4)


@pytest.mark.parametrize("features", ["log-mel", "mfcc"])
def test_features_are_those_of_the_project_s_own_models(features: str, tmp_path: Path) -> None:
    signal = np.random.default_rng(0).normal(0, 0.2, 16_000).clip(-0.99, 0.99)
    path = sound(tmp_path, signal)
    stored = read_wav(path, 16_000)
    framing, width = Framing(640, 320, 1024), 20 if features == "log-mel" else 8
    how = Sound(features=features, window=640, hop=320, fft=1024, bands=20, low_hz=80, high_hz=7000, standardise=True)  # type: ignore[arg-type]
    wanted = log_mel(stored, framing, mel_filters(20, 1024, 80, 7000))
    wanted = wanted @ cosine_transform(20, 8) if features == "mfcc" else wanted
    found = read_sound(path, (1, 1, len(wanted), width), Preprocess(sound=how))
    np.testing.assert_allclose(found[0, 0], standardised(wanted), atol=1e-5)
    assert spoken_words.SHAPE[0] == len(wanted)


@pytest.mark.parametrize(
    "damage", [lambda data: data[:30], lambda data: data[:-7], lambda _: b"", lambda _: b"OggS" * 20]
)
def test_a_sound_that_is_cut_off_or_is_none(damage: object, tmp_path: Path) -> None:
    path = sound(tmp_path, np.zeros(100))
    path.write_bytes(damage(path.read_bytes()))  # type: ignore[operator]
    assert refused(read_sound, path, (1, 50), Preprocess()).id == "N6-QUANT-014"


def test_a_sound_of_another_rate_and_features_of_another_number(tmp_path: Path) -> None:
    path = sound(tmp_path, np.zeros(100), rate=44_100)
    assert "44100 samples per second, but the network takes 16000" in refused(read_wav, path, 16_000).what
    path = sound(tmp_path, np.zeros(16_000))
    how = Preprocess(sound=Sound(features="log-mel", bands=30))
    assert "features, but the input takes" in refused(read_sound, path, (1, 49, 40), how).what


def test_a_sound_that_ends_in_its_head_is_refused_with_a_reason(tmp_path: Path) -> None:
    (tmp_path / "a.wav").write_bytes(b"RIFF\0\0")
    with pytest.raises(N6Error) as caught:
        read_wav(tmp_path / "a.wav", 16000)
    assert caught.value.what.endswith("whole numbers: it is cut off")


def test_a_sound_of_floats_is_refused(tmp_path: Path) -> None:
    head = struct.pack("<4sI4s4sIHHIIHH4sI", b"RIFF", 44, b"WAVE", b"fmt ", 16, 3, 1, 16000, 64000, 4, 32, b"data", 8)
    (tmp_path / "a.wav").write_bytes(head + bytes(8))
    assert "WAV file of whole numbers" in refused(read_wav, tmp_path / "a.wav", 16_000).what


# Tables


@pytest.mark.parametrize("text", ["x,y\n1,2\n3,4.5\n", "1;2\n3;4.5\n", "\ufeff1\t2\n3\t4.5\n\n"])
def test_tables_of_the_usual_forms(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(text, encoding="utf-8")
    np.testing.assert_array_equal(read_table(tmp_path / "a.csv"), np.array([[1, 2], [3, 4.5]], np.float32))


@pytest.mark.parametrize(
    ("text", "what", "where"),
    [
        ("1,2\n3,four\n", "'four' is not a number", "a.csv:2"),
        ("1,2\n3\n", "has 1 columns, not 2", "a.csv:2"),
        ("", "has no numbers", "a.csv"),
        ("x,y\n", "has no numbers", "a.csv"),
    ],
)
def test_damaged_tables(text: str, what: str, where: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(text)
    error = refused(read_table, tmp_path / "a.csv")
    assert (error.id, error.what, error.where) == ("N6-QUANT-014", what, where)


def test_a_table_has_a_sample_in_each_row_and_a_folder_one_in_each_file(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("1,2\n3,4\n")
    (tmp_path / "b.csv").write_text("5,6\n7,8\n")
    one = open_media([tmp_path / "a.csv"], [Input("x", (1, 2), "float32")], Preprocess())
    assert [fitted(one, number, [Input("x", (1, 2), "float32")])["x"].tolist() for number in range(one.count)] == [
        [[1, 2]],
        [[3, 4]],
    ]
    taken = [Input("x", (1, 2, 2), "float32")]
    two = open_media(sample_files(tmp_path), taken, Preprocess())
    assert (two.count, two.names(1)) == (2, "b.csv")
    assert fitted(two, 1, taken)["x"].tolist() == [[[5, 6], [7, 8]]]


# Folders


def test_folders_name_classes(tmp_path: Path) -> None:
    for name in ("dog", "cat"):
        (tmp_path / name).mkdir()
        picture(tmp_path / name)
    files = sample_files(tmp_path)
    assert folder_labels(files, ()) == [0, 1]
    assert folder_labels(files, ("dog", "person", "cat")) == [2, 0]
    assert refused(folder_labels, files, ("dog", "bird")).id == "N6-QUANT-012"


def test_a_folder_of_several_kinds(tmp_path: Path) -> None:
    picture(tmp_path)
    sound(tmp_path, np.zeros(9))
    assert refused(sample_files, tmp_path).what == "has files of several kinds: .png and .wav"


def test_a_model_of_two_inputs_takes_no_pictures(tmp_path: Path) -> None:
    path, _ = picture(tmp_path)
    taken = [Input(name, (1, 2), "float32") for name in ("a", "b")]
    assert refused(open_media, [path], taken, Preprocess()).id == "N6-QUANT-005"
