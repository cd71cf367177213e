"""Updates from third parties, judged by the code that a board runs."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from n6build.describe.formats.boot_header import BASE, SIGNED_BYTES, SIGNED_OFFSET, BinaryType
from n6build.describe.formats.model_trailer import ALIGNMENT
from n6build.describe.formats.model_trailer import TRAILER as MODEL_TRAILER
from n6build.describe.formats.release import HEAD, MAGIC, PART, SIGNATURE_BYTES
from n6build.place.trust.release import Part, find_release, release_bytes, subject

from trust.host_verifier import Image, Status, built_verifier, key_file, statuses
from trust.signed_images import CHANGING, Maker, data_image, model_image, part, with_data

UPDATES = 1000


@pytest.fixture(scope="module")
def verifier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_verifier(tmp_path_factory.mktemp("verifier"))


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return key_file(tmp_path_factory.mktemp("key"))


# Applis


def test_each_key_signs_with_its_own_number_until_it_is_revoked(verifier: Path, tmp_path: Path) -> None:
    keys = [key_file(tmp_path, secret) for secret in range(18, 26)]
    images = [Maker(key, number=number).appli(random.Random(number)) for number, key in enumerate(keys)]
    assert set(statuses(verifier, keys, images)) == {Status.OK}
    exchanged = [Maker(key, number=7 - number).appli(random.Random(1)) for number, key in enumerate(keys)]
    assert set(statuses(verifier, keys, exchanged)) == {Status.ALTERED}
    for revoked in range(8):
        found = statuses(verifier, keys, [replace(image, revoked=1 << revoked) for image in images])
        assert [number for number, status in enumerate(found) if status is not Status.OK] == [revoked]
        assert found[revoked] is Status.REVOKED
    # A bit of a key that the board does not have revokes none.
    assert set(statuses(verifier, keys, [replace(image, revoked=0xFFFFFF00) for image in images])) == {Status.OK}


def covered(image: Image) -> list[int]:
    """Return the offsets of the bytes that a signature or a release covers.

    An Appli's magic, version and checksum belong to its loader. Padding between the parts of a slot is
    not read. Programming changes two words of a model's trailer.
    """
    if image.is_appli:
        end = BASE.offset_of("signature"), BASE.offset_of("checksum")
        return [*range(*end), *range(SIGNED_OFFSET, len(image.data))]
    file_bytes = image.code + image.weights
    trailer = -(-file_bytes // ALIGNMENT) * ALIGNMENT
    behind = trailer + image.trailer
    is_model = image.trailer == MODEL_TRAILER.size
    test = MODEL_TRAILER.unpack(image.data, trailer)["test_input_bytes"] if is_model else 0
    changing = {trailer + word + byte for word in CHANGING for byte in range(4)} if is_model else set()
    return [*range(file_bytes), *(at for at in range(trailer, behind + test) if at not in changing)]


def flipped(image: Image, random: random.Random, offsets: list[int]) -> Image:
    data = bytearray(image.data)
    data[random.choice(offsets)] ^= 1 << random.randrange(8)
    return with_data(image, bytes(data))


def flip_anywhere(maker: Maker, random: random.Random) -> Image:
    image = maker.appli(random)
    return flipped(image, random, covered(image))


def flip_in_signature(maker: Maker, random: random.Random) -> Image:
    start = BASE.offset_of("signature")
    return flipped(maker.appli(random), random, list(range(start, start + SIGNATURE_BYTES)))


def flip_in_header(maker: Maker, random: random.Random) -> Image:
    return flipped(maker.appli(random), random, list(range(SIGNED_OFFSET, SIGNED_OFFSET + SIGNED_BYTES)))


def truncated(maker: Maker, random: random.Random) -> Image:
    image = maker.appli(random)
    return with_data(image, image.data[: random.randrange(len(image.data))])


def older(maker: Maker, random: random.Random) -> Image:
    floor = random.randrange(1, 33)
    old = replace(maker, counter=random.randrange(floor)).appli(random)
    return replace(old, floor=floor)


def of_another_key(maker: Maker, random: random.Random) -> Image:
    return replace(maker, key=key_file(maker.key.parent, random.randrange(19, 30))).appli(random)


def of_a_key_that_is_not_there(maker: Maker, random: random.Random) -> Image:
    return replace(maker, number=random.choice((1, 7, 8, 31, 32, 2**31, 2**32 - 1))).appli(random)


def of_a_revoked_key(maker: Maker, random: random.Random) -> Image:
    return replace(maker.appli(random), revoked=random.randrange(1 << 31) * 2 + 1)


def of_another_board(maker: Maker, random: random.Random) -> Image:
    return replace(maker, board=random.choice(("stm32n6570-dk", "nucleo-n65", "", "NUCLEO-N657"))).appli(random)


def for_another_purpose(maker: Maker, random: random.Random) -> Image:
    """Return an FSBL as Appli."""
    return maker.appli(random, BinaryType.FSBL)


def without_signature(maker: Maker, random: random.Random) -> Image:
    """Return an Appli with an invalid signature.

    The signature has zeros, ones, or numbers that no signature has.
    """
    image, order = maker.appli(random), 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
    one, n = (number.to_bytes(SIGNATURE_BYTES // 2, "big") for number in (1, order))
    zero, ones = bytes(SIGNATURE_BYTES // 2), b"\xff" * (SIGNATURE_BYTES // 2)
    r, s = random.choice(((zero, zero), (ones, ones), (zero, one), (one, zero), (n, n), (one, n), (n, one), (one, one)))
    data, at = bytearray(image.data), BASE.offset_of("signature")
    data[at : at + SIGNATURE_BYTES] = r + s
    return with_data(image, bytes(data))


CRAFTED = (
    flip_anywhere,
    flip_in_signature,
    flip_in_header,
    truncated,
    older,
    of_another_key,
    of_a_key_that_is_not_there,
    of_a_revoked_key,
    of_another_board,
    for_another_purpose,
    without_signature,
)


def test_a_board_takes_what_was_signed_for_it(verifier: Path, key: Path) -> None:
    source, maker = random.Random(1), Maker(key, counter=3)
    images = [maker.appli(source) for _ in range(20)]
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
    of_a_key_that_is_not_there: Status.ALTERED,
    of_a_revoked_key: Status.REVOKED,
    of_another_board: Status.OTHER_BOARD,
    for_another_purpose: Status.OTHER_BOARD,
}


@pytest.mark.parametrize("craft", SAID, ids=lambda craft: craft.__name__)
def test_what_is_wrong_is_said(craft: Craft, verifier: Path, key: Path) -> None:
    source = random.Random(5)
    images = [craft(Maker(key), source) for _ in range(5)]
    assert set(statuses(verifier, key, images)) == {SAID[craft]}


# Parts of a release

MAKES = (data_image, model_image)


def others(random: random.Random) -> list[Part]:
    """Return further parts of a release, as each model and its vectors have one."""
    return [part(random.choice(MAKES)(random), random.randbytes(32)) for _ in range(random.randrange(4))]


def release(image: Image, random: random.Random, of: bytes | None = None) -> bytes:
    """Return a release with this image among other parts.

    Args:
        of: Subject of the image; None for that of all these tests.
    """
    parts = [*others(random), part(image) if of is None else part(image, of)]
    random.shuffle(parts)
    return release_bytes(2, parts)


def judged(verifier: Path, key: Path, image: Image, release: bytes) -> Status:
    (status,) = statuses(verifier, key, [image], release)
    return status


@pytest.mark.parametrize("make", MAKES)
def test_a_release_takes_its_own_parts(make: Callable[[random.Random], Image], verifier: Path, key: Path) -> None:
    source = random.Random(6)
    for _ in range(20):
        image = make(source)
        assert judged(verifier, key, image, release(image, source)) is Status.OK


@pytest.mark.parametrize("make", MAKES)
def test_a_release_refuses_every_other_image(make: Callable[[random.Random], Image], verifier: Path, key: Path) -> None:
    source, tried = random.Random(7), 0
    for _ in range(8):
        image, another = make(source), make(source)
        listed, offsets = release(image, source), covered(image)
        wrong = [flipped(image, source, offsets) for _ in range(40)]
        wrong += [with_data(image, image.data[:size]) for size in source.sample(range(len(image.data)), 20)]
        wrong += [another, replace(image, weights=max(image.weights - 1, 0), code=image.code + 1)]
        assert set(statuses(verifier, key, wrong, listed)) == {Status.ALTERED}
        tried += len(wrong)
        # The same image under another name, and a release that does not list it.
        for parts in (release(image, source, subject("weights", "keyword-2", "a.raw")), release_bytes(2, [])):
            assert judged(verifier, key, image, parts) is Status.ALTERED
    assert tried > UPDATES // 4


def test_without_the_digest_of_weights_other_weights_are_not_noticed(verifier: Path, key: Path) -> None:
    """docs/threat-model.md describes this gap of trust=code."""
    source = random.Random(3)
    image = data_image(source)
    other = flipped(image, source, list(range(image.weights)))
    listed = release(image, source)
    assert judged(verifier, key, other, listed) is Status.ALTERED
    assert judged(verifier, key, replace(other, with_weights=False), listed) is Status.OK


def test_programming_a_model_as_a_newer_revision_keeps_its_release(verifier: Path, key: Path) -> None:
    source = random.Random(4)
    image = model_image(source)
    data = bytearray(image.data)
    at = -(-(image.code + image.weights) // ALIGNMENT) * ALIGNMENT
    for word in CHANGING:
        data[at + word : at + word + 4] = b"\x12\x34\x56\x78"
    assert judged(verifier, key, with_data(image, bytes(data)), release(image, source)) is Status.OK


# The release of an Appli on a board, as a computer reads it


@given(st.integers(0, 5), st.binary(max_size=300), st.binary(max_size=300), st.integers(0))
def test_a_computer_finds_the_release_in_an_appli(count: int, before: bytes, behind: bytes, seed: int) -> None:
    source = random.Random(seed)
    parts = tuple(part(data_image(source), source.randbytes(32)) for _ in range(count))
    packed = release_bytes(1, parts)
    assert find_release(before + packed + behind) == parts
    assert find_release(before + packed[:-1]) is None
    assert find_release(before) is None


@given(st.binary(max_size=4 * PART.size), st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1))
def test_any_bytes_behind_the_magic_are_a_release_or_none(data: bytes, layout: int, count: int) -> None:
    head = HEAD.pack(magic=MAGIC, layout=layout, parts=count)
    for image in (MAGIC + data, head + data):
        found = find_release(image)
        assert found is None or len(found) * PART.size <= len(data)
