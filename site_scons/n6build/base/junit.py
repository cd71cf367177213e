"""Test results in the format that CI servers read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree import ElementTree

from n6build.base.console import printable


@dataclass(frozen=True)
class Case:
    """A test case.

    Attributes:
        group: Class of the test case.
        name: Name of the test case.
        seconds: Duration.
        failure: Message, empty if the test passed.
        output: Further text.
    """

    group: str
    name: str
    seconds: float
    failure: str
    output: str


def junit(suite: str, cases: Sequence[Case]) -> bytes:
    """Return JUnit XML of one suite, in UTF-8."""
    root = ElementTree.Element("testsuites")
    element = ElementTree.SubElement(
        root,
        "testsuite",
        name=printable(suite),
        tests=str(len(cases)),
        failures=str(sum(bool(case.failure) for case in cases)),
        time=f"{sum(case.seconds for case in cases):.3f}",
    )
    for case in cases:
        child = ElementTree.SubElement(
            element,
            "testcase",
            classname=printable(case.group),
            name=printable(case.name),
            time=f"{case.seconds:.3f}",
        )
        if case.failure:
            failure = ElementTree.SubElement(child, "failure", message=printable(case.failure.splitlines()[0]))
            failure.text = printable(case.failure)
        ElementTree.SubElement(child, "system-out").text = printable(case.output)
    ElementTree.indent(root)
    return bytes(ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"
