"""Samples that are pictures, sounds or tables, as inputs of a network."""

from __future__ import annotations

import csv
import math
import wave
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps

from n6build.base.errors import N6Error
from n6build.base.files import read_at_most
from n6build.base.pictures import open_pictures
from n6build.base.regular_file import open_regular
from n6build.compile.quantise.float_model import Input
from n6build.compile.quantise.samples import Samples
from n6build.describe.preprocess import Preprocess, Sound
from n6build.describe.sample_files import ARRAYS, PICTURES, SOUNDS

Signal = NDArray[np.float64]
# Bands of silence have this power.
_FLOOR = 1e-6


def read_sound(path: Path, shape: Sequence[int], how: Preprocess) -> NDArray[np.float32]:
    """Return a sound in the shape of an input.

    A longer sound is cut, a shorter one continues with silence.

    Args:
        path: A WAV file of whole numbers.
        shape: Shape of the input.
        how: Pre-processing.

    Raises:
        N6Error: N6-QUANT-014 for a damaged file, another rate, or features of another number than the input takes.
    """
    sound, count = how.sound, math.prod(shape)
    signal = read_wav(path, sound.rate)
    if sound.features == "samples":
        return _of_length(signal, count).astype(np.float32).reshape(tuple(shape))
    width = next((each for each in reversed(shape) if each > 1), 1)
    frames = count // width
    features = _features(_of_length(signal, sound.window + (frames - 1) * sound.hop), sound, width)
    if features.size != count:
        what = (
            f"has {features.shape[0]} x {features.shape[1]} features, but the input takes {' x '.join(map(str, shape))}"
        )
        raise N6Error("N6-QUANT-014", what, where=path.name, hint="correct preprocess.sound: window, hop, bands")
    return features.astype(np.float32).reshape(tuple(shape))


def read_wav(path: Path, rate: int) -> Signal:
    """Return the samples of a WAV file from -1 to 1, its channels mixed to one.

    Raises:
        N6Error: N6-QUANT-014 for a damaged file, or another rate.
    """
    try:
        with open_regular(path) as opened, wave.open(opened) as file:
            width, channels, found = file.getsampwidth(), file.getnchannels(), file.getframerate()
            data = file.readframes(file.getnframes())
            if len(data) != file.getnframes() * width * channels:
                raise ValueError("it is cut off")
    except (wave.Error, EOFError, OSError, ValueError, MemoryError) as error:
        what = f"cannot be read as a WAV file of whole numbers: {str(error) or 'it is cut off'}"
        raise N6Error(
            "N6-QUANT-014", what, where=path.name, hint="save it again as 16-bit PCM, or remove it"
        ) from error
    if found != rate:
        what = f"has {found} samples per second, but the network takes {rate}"
        hint = f"convert it: sox in.wav -r {rate} out.wav, or set preprocess.sound.rate in model.yaml"
        raise N6Error("N6-QUANT-014", what, where=path.name, hint=hint)
    raw = np.frombuffer(data, np.uint8).reshape(-1, width)
    if width == 1:
        values = raw[:, 0].astype(np.int64) - 128
    else:
        # The sign is in the highest byte, which is the last one.
        parts = raw.astype(np.int64) << (8 * np.arange(width))
        values = parts.sum(axis=1)
        values -= (values >> (8 * width - 1)) << (8 * width)
    mixed: Signal = values.reshape(-1, channels).mean(axis=1) / float(1 << (8 * width - 1))
    return mixed


def _of_length(signal: Signal, count: int) -> Signal:
    return signal[:count] if len(signal) >= count else np.concatenate([signal, np.zeros(count - len(signal))])


def _features(signal: Signal, sound: Sound, width: int) -> Signal:
    """Return the features of each frame, (frames, bands or coefficients)."""
    frames = np.lib.stride_tricks.sliding_window_view(signal, sound.window)[:: sound.hop]
    spectrum = np.fft.rfft(frames * np.hanning(sound.window), max(sound.fft, sound.window))
    power = spectrum.real**2 + spectrum.imag**2
    bands: Signal = np.log(power @ mel_filters(sound).T + _FLOOR)
    if sound.features == "mfcc":
        bands = bands @ _cosines(sound.bands, width)
    if sound.standardise:
        bands = (bands - bands.mean()) / (bands.std() + _FLOOR)
    return bands


def mel_filters(sound: Sound) -> Signal:
    """Return triangular filters that are evenly spaced in mel, (bands, frequencies).

    A frequency f in Hz is 2595 log10(1 + f / 700) mel.
    """
    low, high = 2595 * np.log10(1 + np.array([sound.low_hz, sound.high_hz]) / 700)
    edges = 700 * (10 ** (np.linspace(low, high, sound.bands + 2) / 2595) - 1)
    length = max(sound.fft, sound.window)
    bins = np.arange(length // 2 + 1) * sound.rate / length
    rising = (bins - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    falling = (edges[2:, None] - bins) / (edges[2:] - edges[1:-1])[:, None]
    return np.maximum(0.0, np.minimum(rising, falling))


def _cosines(bands: int, coefficients: int) -> Signal:
    """Return the orthonormal DCT-II as a matrix (bands, coefficients)."""
    angle = np.pi * np.outer(np.arange(bands) + 0.5, np.arange(coefficients)) / bands
    matrix: Signal = np.cos(angle) * np.sqrt(2 / bands)
    matrix[:, 0] /= np.sqrt(2)
    return matrix


_MOST_BYTES = 1 << 30
_SHOWN = 40


def read_table(path: Path) -> NDArray[np.float32]:
    """Return the numbers of a CSV file, (rows, columns).

    A first line without any number is a heading. Columns end with a comma, a semicolon or a tab.

    Raises:
        N6Error: N6-QUANT-014 for a cell that is no number, or lines of different lengths.
    """
    text = read_at_most(path, _MOST_BYTES).decode("utf-8-sig", "replace")
    head = text.partition("\n")[0]
    delimiter = next((each for each in ("\t", ";") if each in head), ",")
    lines = [(number, row) for number, row in enumerate(csv.reader(text.splitlines(), delimiter=delimiter), 1) if row]
    if lines and not any(_number(cell) is not None for cell in lines[0][1]):
        lines = lines[1:]
    if not lines:
        raise N6Error("N6-QUANT-014", "has no numbers", where=path.name, hint="write a row of numbers in each line")
    rows = []
    for number, row in lines:
        values = [_number(cell) for cell in row]
        if len(row) != len(lines[0][1]) or None in values:
            bad = next((cell for cell, value in zip(row, values, strict=True) if value is None), None)
            what = (
                f"'{bad[:_SHOWN]}' is not a number"
                if bad is not None
                else f"has {len(row)} columns, not {len(lines[0][1])}"
            )
            raise N6Error("N6-QUANT-014", what, where=f"{path.name}:{number}", hint="correct or remove the line")
        rows.append(values)
    return np.asarray(rows, np.float32)


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


# Number of channels -> mode of Pillow.
CHANNELS = {1: "L", 3: "RGB"}


def real_values(values: NDArray[np.uint8], how: Preprocess, where: str) -> NDArray[np.float32]:
    """Return the real values of pixels.

    Args:
        values: Pixels; the last axis has the channels in the network's order.
        how: Pre-processing.
        where: Place of the pre-processing, for messages.

    Raises:
        N6Error: N6-QUANT-005 if `preprocess` is for another number of channels.
    """
    mean, deviation = (
        _each(numbers, usual, values.shape[-1], where) for numbers, usual in ((how.mean, 0), (how.deviation, 1))
    )
    return np.asarray((values * np.float32(how.scale) - mean) / deviation, np.float32)


def _each(numbers: Sequence[float], usual: float, channels: int, where: str) -> NDArray[np.float32]:
    if len(numbers) not in (0, 1, channels):
        what = f"preprocess has {len(numbers)} numbers for {channels} channels"
        raise N6Error("N6-QUANT-005", what, where=where, hint="write one number, or one for each channel")
    return np.asarray(numbers or [usual], np.float32)


def picture_shape(shape: Sequence[int], where: str) -> tuple[int, int, int, bool]:
    """Return height, width and channels of an input, and whether channels are first.

    Raises:
        N6Error: N6-QUANT-005 if the input is no picture of one or three channels.
    """
    row = tuple(shape[1:]) if len(shape) == 4 else tuple(shape)
    if len(row) == 2 and row[0] > 1:
        row = (*row, 1)
    if len(row) == 3 and row[2] in CHANNELS:
        return row[0], row[1], row[2], False
    if len(row) == 3 and row[0] in CHANNELS:
        return row[1], row[2], row[0], True
    what = f"is a picture, but the input has the shape {' x '.join(map(str, shape))}"
    raise N6Error("N6-QUANT-005", what, where=where, hint="give the values as a .npy file")


def read_picture(path: Path, shape: Sequence[int], how: Preprocess) -> NDArray[np.float32]:
    """Return a picture in the shape of an input.

    Args:
        path: A PNG or JPEG file.
        shape: Shape of the input, with channels first or last.
        how: Pre-processing.

    Raises:
        N6Error: N6-QUANT-014 if the file is damaged; N6-QUANT-005 if the input is no picture.
    """
    height, width, channels, first = picture_shape(shape, path.name)
    try:
        picture = next(open_pictures(path)).convert(CHANNELS[channels])
    except N6Error as error:
        what = f"cannot be read as a picture: {error.what}"
        raise N6Error("N6-QUANT-014", what, where=path.name, hint=f"{error.hint}, or remove it") from error
    values = np.asarray(_resized(picture, (width, height), how)).reshape(height, width, channels)
    if how.colour == "bgr":
        values = values[..., ::-1]
    real = real_values(values, how, path.name)
    return np.ascontiguousarray(real.transpose(2, 0, 1) if first else real, np.float32)


def _resized(picture: Image.Image, size: tuple[int, int], how: Preprocess) -> Image.Image:
    if picture.size == size:
        return picture
    method = Image.Resampling.BILINEAR
    if how.resize == "crop":
        return ImageOps.fit(picture, size, method)
    return ImageOps.pad(picture, size, method) if how.resize == "fit" else picture.resize(size, method)


def is_array(path: Path) -> bool:
    """Return whether a file has arrays of NumPy."""
    return path.suffix.lower() in ARRAYS


def open_media(files: Sequence[Path], inputs: Sequence[Input], how: Preprocess) -> Samples:
    """Open pictures, sounds or tables without reading them.

    Args:
        files: A file for each sample, or a single table with a row for each.
        inputs: Inputs of the model with fixed shapes.
        how: Pre-processing.

    Raises:
        N6Error: N6-QUANT-005 for a model with several inputs; N6-QUANT-014 for a single table that is damaged.
    """
    if len(inputs) != 1:
        what = f"the model has {len(inputs)} inputs, but a file has one"
        raise N6Error("N6-QUANT-005", what, where=files[0].name, hint="give a .npz file with an array for each input")
    (port,) = inputs
    one_folder = len({each.parent for each in files}) == 1
    folder = (files[0].parent if one_folder else files[0].parent.parent).name
    if len(files) == 1 and files[0].suffix.lower() == ".csv":
        table = read_table(files[0])
        shapes = {port.name: tuple(table.shape[1:])}
        return Samples(
            files[0].name, len(table), shapes, lambda n: {port.name: table[n]}, lambda n: f"{files[0].name}[{n}]"
        )
    return Samples(
        files[0].name if len(files) == 1 else folder,
        len(files),
        {port.name: port.shape},
        lambda number: {port.name: read_medium(files[number], port.shape, how)},
        lambda number: files[number].name,
    )


def read_medium(path: Path, shape: Sequence[int], how: Preprocess) -> NDArray[np.float32]:
    """Return the values of a picture, sound or table for an input.

    Args:
        path: The file.
        shape: Shape of the input.
        how: Pre-processing.

    Raises:
        N6Error: N6-QUANT-005; N6-QUANT-014 if the file is damaged.
    """
    suffix = path.suffix.lower()
    if suffix in PICTURES:
        return read_picture(path, shape, how)
    if suffix in SOUNDS:
        return read_sound(path, shape, how)
    return read_table(path)
