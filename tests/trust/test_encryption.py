"""Encryption of parts in flash, with the key of a board."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CTR
from hypothesis import given
from hypothesis import strategies as st
from n6build.base.errors import N6Error
from n6build.describe.formats.boot_header import BASE, HEADER_BYTES, BinaryType
from n6build.describe.formats.encryption import ENCRYPTION, NONCE_BYTES
from n6build.place.image.boot_header import with_boot_header
from n6build.place.memory_plan.slot_image import encrypted_image
from n6build.place.trust.encryption import (
    encrypted,
    encrypted_appli,
    is_encrypted,
    key_words,
    mark_of,
    marked_appli,
    read_key,
    record,
)

KEY = bytes(range(32))


def whole(content: bytes, key: bytes = KEY) -> bytes:
    return b"".join(encrypted([content], record([content], key), key))


def test_a_part_is_encrypted_as_by_any_implementation_of_aes_in_counter_mode() -> None:
    content = bytes(1000)
    nonce = record([content], KEY)[ENCRYPTION.offset_of("nonce") :][:NONCE_BYTES]
    stream = Cipher(AES(KEY), CTR(nonce + bytes(4))).encryptor()
    assert whole(content) == stream.update(content)


@given(st.binary(max_size=200), st.lists(st.integers(0, 200), max_size=5))
def test_chunks_make_no_difference(content: bytes, cuts: list[int]) -> None:
    places = [0, *sorted(min(cut, len(content)) for cut in cuts), len(content)]
    chunks = [content[start:end] for start, end in pairwise(places)]
    of_all = record([content], KEY)
    assert record(chunks, KEY) == of_all
    assert b"".join(encrypted(chunks, of_all, KEY)) == whole(content)
    assert b"".join(encrypted([whole(content)], of_all, KEY)) == content


@given(st.binary(min_size=1, max_size=64), st.binary(min_size=1, max_size=64))
def test_only_equal_contents_share_a_nonce(one: bytes, other: bytes) -> None:
    assert (record([one], KEY) == record([other], KEY)) == (one == other)


def test_the_nonce_tells_nothing_of_a_guessed_content() -> None:
    nonces = {record([b"guessed"], bytes([number]) * 32)[:16] for number in range(1, 50)}
    assert len(nonces) == 49


def test_an_appli_keeps_its_header_and_has_a_valid_checksum() -> None:
    payload = bytes.fromhex("0000103401040034") + bytes(range(256)) * 8
    image = with_boot_header(payload, 0x34000400, BinaryType.SSBL, 0x400)
    marked = marked_appli(image, KEY)
    hidden = encrypted_appli(marked, KEY)
    assert is_encrypted(hidden)
    assert not is_encrypted(image)
    assert len(hidden) == len(image)
    assert BASE.unpack(hidden)["checksum"] == sum(hidden[HEADER_BYTES:]) & 0xFFFF_FFFF
    assert bytes(range(16)) not in hidden
    back = encrypted_appli(hidden, KEY)
    assert back[HEADER_BYTES:] == image[HEADER_BYTES:]


def test_weights_end_with_their_record_which_is_empty_without_a_key() -> None:
    content = bytes(100)
    image = b"".join(encrypted_image(lambda: [content], 7, KEY))
    assert image[-ENCRYPTION.size :] == record([content], KEY)
    assert image[:100] == whole(content)
    plain = b"".join(encrypted_image(lambda: [content], 7, b""))
    assert plain[:100] == content
    assert plain[-ENCRYPTION.size :] == bytes(ENCRYPTION.size)
    assert len(plain) == len(image)


def test_a_key_is_in_fuse_words_as_the_firmware_reads_it() -> None:
    assert key_words(KEY)[:2] == (0x03020100, 0x07060504)
    assert b"".join(word.to_bytes(4, "little") for word in key_words(KEY)) == KEY
    assert mark_of(KEY) != mark_of(KEY[::-1])


@pytest.mark.parametrize("text", ["", "00" * 32, "12" * 31, "12" * 33, "xy" * 32, "12" * 31 + "ä", "\0"])
def test_a_file_without_a_key_is_refused(text: str, tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(N6Error, match="N6-TRUST-012"):
        read_key(file)


def test_a_key_may_end_with_a_line_feed(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text(KEY.hex() + "\n")
    assert read_key(file) == KEY
