"""Haar cascades of OpenCV in OpenMV's binary form."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from n6build.base.errors import N6Error
from n6build.place.image.haar_cascade import haar_cascade

RECTS = "<rects><_>1 2 3 4 -1.</_><_>5 6 7 8 2.</_></rects><tilted>0</tilted>"
OLDER = f"""<?xml version="1.0"?>
<opencv_storage>
<eye type_id="opencv-haar-classifier">
  <size>20 30</size>
  <stages>
    <_><trees><_><_><feature>{RECTS}</feature>
         <threshold>-0.5</threshold><left_val>0.25</left_val><right_val>-2.</right_val></_></_></trees>
       <stage_threshold>-1.5</stage_threshold></_>
    <_><trees><_><_><feature><rects><_>9 9 9 9 3.</_></rects></feature>
         <threshold>1e-1</threshold><left_val>1</left_val><right_val>2</right_val></_></_></trees>
       <stage_threshold>3.</stage_threshold></_></stages></eye>
</opencv_storage>
"""
NEWER = f"""<opencv_storage><cascade><height>30</height><width>20</width><stageNum>2</stageNum>
<stages>
  <_><maxWeakCount>1</maxWeakCount><stageThreshold>-1.5</stageThreshold>
     <weakClassifiers><_><internalNodes>0 -1 1 -0.5</internalNodes><leafValues>0.25 -2.</leafValues></_></weakClassifiers></_>
  <_><maxWeakCount>1</maxWeakCount><stageThreshold>3.</stageThreshold>
     <weakClassifiers><_><internalNodes>0 -1 0 1e-1</internalNodes><leafValues>1 2</leafValues></_></weakClassifiers></_>
</stages>
<features><_><rects><_>9 9 9 9 3.</_></rects></_><_>{RECTS}</_></features></cascade></opencv_storage>
"""
# The value is rounded towards zero, as in OpenMV's converter: 0.1 x 4096 is 409.6.
BINARY = (
    struct.pack("<3i", 20, 30, 2)
    + bytes([1, 1, 0, 0])
    + struct.pack("<2h", -384, 768)
    + struct.pack("<2h", -2048, 409)
    + struct.pack("<2h", 64, 256)
    + struct.pack("<2h", -512, 512)
    + bytes([2, 1])
    + struct.pack("<3b", -1, 2, 3)
    + bytes([1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 9])
)


@pytest.mark.parametrize("text", [OLDER, NEWER], ids=["older", "newer"])
def test_both_formats_become_the_same_bytes(text: str) -> None:
    assert haar_cascade(text.encode(), 0, "eye.xml") == BINARY


@pytest.mark.parametrize("text", [OLDER, NEWER], ids=["older", "newer"])
def test_the_first_stages_alone(text: str) -> None:
    first = haar_cascade(text.encode(), 1, "eye.xml")
    assert first[:13] == struct.pack("<3iB", 20, 30, 1, 1)
    assert first[16:24] == struct.pack("<4h", -384, -2048, 64, -512)
    with pytest.raises(N6Error, match="N6-ROMFS-008: has 2 stages, but 3 are requested"):
        haar_cascade(text.encode(), 3, "eye.xml")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("</opencv_storage>", "", "is not a Haar cascade: no element found"),
        ("<opencv_storage>", '<!DOCTYPE a [<!ENTITY b "c">]><opencv_storage>', "it has a document type"),
        ("1 2 3 4 -1.", "1 2 3 300 -1.", "binary form cannot hold"),
        ("1 2 3 4 -1.", "1 2 3 4 -1.5", "<_> has a fraction"),
        ("1 2 3 4 -1.", "1 2 3 4", "<_> has 4 numbers, 5 are supported"),
        ("<left_val>0.25", "<left_val>nan", "'nan' is not a number"),
        ("<left_val>0.25", "<left_val>1e99", "1e99 is out of range"),
        ("<stage_threshold>3.</stage_threshold>", "", "<_> has no <stage_threshold>"),
        ("<stage_threshold>3.", "<stage_threshold>1000", "binary form cannot hold"),
        ("</_></_></trees>", "</_><_/></_></trees>", "a tree has 2 nodes, OpenMV's detector reads 1"),
        ("stages>", "steps>", "it has no stages"),
    ],
)
def test_what_is_refused(old: str, new: str, words: str) -> None:
    assert old in OLDER
    with pytest.raises(N6Error, match="N6-ROMFS-008") as caught:
        haar_cascade(OLDER.replace(old, new).encode(), 0, "eye.xml")
    assert words in str(caught.value)


@given(st.sampled_from([OLDER, NEWER]), st.data())
def test_any_file_is_converted_or_refused(text: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(text)))
    damaged = text[:at] + data.draw(st.text(max_size=8)) + text[at + data.draw(st.integers(0, 40)) :]
    try:
        haar_cascade(damaged.encode("utf-8", "surrogatepass"), data.draw(st.integers(-1, 3)), "eye.xml")
    except N6Error as error:
        assert error.id == "N6-ROMFS-008"
