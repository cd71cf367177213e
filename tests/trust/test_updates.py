"""Updates from third parties, judged by the code that a board runs."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from n6build.describe.formats.boot_header import BASE, SIGNED_BYTES, SIGNED_OFFSET, BinaryType
from n6build.describe.formats.model_trailer import TRAILER as MODEL_TRAILER
from n6build.describe.formats.trust_claim import ALIGNMENT, CLAIM, SIGNATURE_BYTES, Kind
from n6build.place.trust.anchor import subject

from trust.host_verifier import Image, Status, built_verifier, key_file, statuses
from trust.signed_images import CHANGING, Maker, with_data

UPDATES = 1000


@pytest.fixture(scope="module")
def verifier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_verifier(tmp_path_factory.mktemp("verifier"))


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return key_file(tmp_path_factory.mktemp("key"))


def covered(image: Image) -> list[int]:
    """Return the offsets of the bytes that a signature covers.

    An Appli's magic, version and checksum belong to its loader. Padding between the parts of a slot is
    not read. Programming changes two words of a model's trailer.
    """
    if image.kind is Kind.APPLI:
        end = BASE.offset_of("signature"), BASE.offset_of("checksum")
        return [*range(*end), *range(SIGNED_OFFSET, len(image.data))]
    file_bytes = image.code + image.weights
    trailer = -(-file_bytes // ALIGNMENT) * ALIGNMENT
    behind = trailer + image.trailer
    test = 0
    if image.trailer == MODEL_TRAILER.size:
        test = MODEL_TRAILER.unpack(image.data, trailer)["test_input_bytes"]
    changing = {trailer + word + byte for word in CHANGING for byte in range(4)} if image.kind is Kind.MODEL else set()
    claim = len(image.data) - CLAIM.size
    return [
        *range(file_bytes),
        *(at for at in range(trailer, behind + test) if at not in changing),
        *range(claim, len(image.data)),
    ]


def flipped(image: Image, random: random.Random, offsets: list[int]) -> Image:
    data = bytearray(image.data)
    data[random.choice(offsets)] ^= 1 << random.randrange(8)
    return with_data(image, bytes(data))


def signature_of(image: Image) -> range:
    start = BASE.offset_of("signature") if image.kind is Kind.APPLI else len(image.data) - SIGNATURE_BYTES
    return range(start, start + SIGNATURE_BYTES)


def flip_anywhere(maker: Maker, random: random.Random) -> Image:
    image = maker.any(random)
    return flipped(image, random, covered(image))


def flip_in_signature(maker: Maker, random: random.Random) -> Image:
    image = maker.any(random)
    return flipped(image, random, list(signature_of(image)))


def flip_in_header(maker: Maker, random: random.Random) -> Image:
    return flipped(maker.appli(random), random, list(range(SIGNED_OFFSET, SIGNED_OFFSET + SIGNED_BYTES)))


def truncated(maker: Maker, random: random.Random) -> Image:
    image = maker.any(random)
    return with_data(image, image.data[: random.randrange(len(image.data))])


def older(maker: Maker, random: random.Random) -> Image:
    floor = random.randrange(1, 33)
    old = replace(maker, counter=random.randrange(floor)).any(random)
    return replace(old, floor=floor)


def of_another_key(maker: Maker, random: random.Random) -> Image:
    return replace(maker, key=key_file(maker.key.parent, random.randrange(19, 30))).any(random)


def of_another_board(maker: Maker, random: random.Random) -> Image:
    return replace(maker, board=random.choice(("stm32n6570-dk", "nucleo-n65", "", "NUCLEO-N657"))).any(random)


def of_another_subject(maker: Maker, random: random.Random) -> Image:
    """Return an image for another model, another file of the same model, or for none."""
    others = (
        subject("weights", "keyword-2", "network_atonbuf.xSPI2.raw"),
        subject("weights", "keyword", "network_atonbuf.xSPI1.raw"),
        subject("vectors", "keyword"),
        bytes(32),
    )
    other = replace(maker, subject=random.choice(others))
    return random.choice((other.data, other.model))(random)


def with_weights_of_another(maker: Maker, random: random.Random) -> Image:
    make: Callable[..., Image] = random.choice((maker.data, maker.model))
    image, other = make(random), b""
    while len(other) < image.weights or image.weights == 0:
        image, another = make(random), make(random)
        other = another.data[another.code : another.code + another.weights]
    end = image.code + image.weights
    return with_data(image, image.data[: image.code] + other[: image.weights] + image.data[end:])


def with_claim_of_another(maker: Maker, random: random.Random) -> Image:
    image, other = maker.data(random), maker.data(random)
    return with_data(image, image.data[: -CLAIM.size] + other.data[-CLAIM.size :])


def for_another_purpose(maker: Maker, random: random.Random) -> Image:
    """Return an image for a purpose that it was not made for.

    It is a model in place of weights, weights in place of a model, or an FSBL as Appli.
    """
    if random.random() < 0.5:
        return maker.appli(random, BinaryType.FSBL)
    image = random.choice((maker.data, maker.model))(random)
    return replace(image, kind=Kind.MODEL if image.kind is Kind.DATA else Kind.DATA)


def without_signature(maker: Maker, random: random.Random) -> Image:
    """Return an image with an invalid signature.

    The signature has zeros, ones, or numbers that no signature has.
    """
    image, order = maker.any(random), 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
    one, n = (number.to_bytes(SIGNATURE_BYTES // 2, "big") for number in (1, order))
    zero, ones = bytes(SIGNATURE_BYTES // 2), b"\xff" * (SIGNATURE_BYTES // 2)
    r, s = random.choice(((zero, zero), (ones, ones), (zero, one), (one, zero), (n, n), (one, n), (n, one), (one, one)))
    data, at = bytearray(image.data), signature_of(image)
    data[at.start : at.stop] = r + s
    return with_data(image, bytes(data))


CRAFTED = (
    flip_anywhere,
    flip_in_signature,
    flip_in_header,
    truncated,
    older,
    of_another_key,
    of_another_board,
    of_another_subject,
    with_weights_of_another,
    with_claim_of_another,
    for_another_purpose,
    without_signature,
)


def test_a_board_takes_what_was_signed_for_it(verifier: Path, key: Path) -> None:
    source, maker = random.Random(1), Maker(key, counter=3)
    images = [make(source) for make in (maker.appli, maker.data, maker.model) for _ in range(20)]
    assert set(statuses(verifier, key, images)) == {Status.OK}
    # A board accepts the counter that it has reached, and newer ones.
    assert set(statuses(verifier, key, [replace(each, floor=floor) for each in images for floor in (1, 3)])) == {
        Status.OK
    }


def test_of_a_thousand_crafted_updates_none_runs(verifier: Path, key: Path) -> None:
    source, maker = random.Random(18), Maker(key)
    made = [(craft.__name__, craft(maker, source)) for craft in CRAFTED for _ in range(-(-UPDATES // len(CRAFTED)))]
    assert len(made) >= UPDATES
    found = statuses(verifier, key, [image for _, image in made])
    ran = {name for (name, _), status in zip(made, found, strict=True) if status is Status.OK}
    assert ran == set()


Craft = Callable[[Maker, random.Random], Image]
SAID: dict[Craft, Status] = {
    older: Status.OLD,
    of_another_key: Status.ALTERED,
    of_another_board: Status.OTHER_BOARD,
    of_another_subject: Status.OTHER_BOARD,
    with_weights_of_another: Status.ALTERED,
    with_claim_of_another: Status.ALTERED,
}


@pytest.mark.parametrize("craft", SAID, ids=lambda craft: craft.__name__)
def test_what_is_wrong_is_said(craft: Craft, verifier: Path, key: Path) -> None:
    source = random.Random(5)
    images = [craft(Maker(key), source) for _ in range(5)]
    assert set(statuses(verifier, key, images)) == {SAID[craft]}


def test_without_the_digest_of_weights_other_weights_are_not_noticed(verifier: Path, key: Path) -> None:
    """docs/threat-model.md describes this gap of trust=code."""
    image = replace(with_weights_of_another(Maker(key), random.Random(3)), with_weights=False)
    assert statuses(verifier, key, [image]) == [Status.OK]


def test_programming_a_model_as_a_newer_revision_keeps_its_signature(verifier: Path, key: Path) -> None:
    image = Maker(key).model(random.Random(4))
    data = bytearray(image.data)
    at = -(-(image.code + image.weights) // ALIGNMENT) * ALIGNMENT
    for word in CHANGING:
        data[at + word : at + word + 4] = b"\x12\x34\x56\x78"
    assert statuses(verifier, key, [with_data(image, bytes(data))]) == [Status.OK]
