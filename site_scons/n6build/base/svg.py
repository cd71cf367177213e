"""Shapes of the pictures of plans and reports: SVG without scripts, fonts or anything else from elsewhere."""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement


def picture(kind: str, width: float, height: float, label: str, style: str) -> Element:
    """An element <svg> of a class, which `style` has to name in every rule: in a page a style sheet applies everywhere. label:
    what it shows, for those who do not see it."""
    size = {"width": number(width), "height": number(height)}
    root = Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "class": kind,
            **size,
            "viewBox": f"0 0 {size['width']} {size['height']}",
            # A page may shrink the picture to its own width, but not enlarge it.
            "style": f"--n6-plan-width: {size['width']}px",
            "role": "img",
            "aria-label": label,
        },
    )
    SubElement(root, "style").text = style
    SubElement(root, "rect", {"class": "paper", **size})
    return root


def rect(parent: Element, kind: str, x: float, y: float, width: float, height: float) -> Element:
    """kind: its class."""
    place = {"x": number(x), "y": number(y), "width": number(width), "height": number(height)}
    return SubElement(parent, "rect", {"class": kind, **place})


def text(parent: Element, kind: str, x: float, y: float, content: str) -> Element:
    """kind: its class, which may be empty."""
    element = SubElement(parent, "text", {"class": kind, "x": number(x), "y": number(y)})
    element.text = content
    return element


def line(parent: Element, kind: str, x1: float, y1: float, x2: float, y2: float) -> Element:
    """kind: its class."""
    ends = {"x1": number(x1), "x2": number(x2), "y1": number(y1), "y2": number(y2)}
    return SubElement(parent, "line", {"class": kind, **ends})


def number(value: float, digits: int = 1) -> str:
    """Short, and the same wherever it is computed."""
    written = f"{value:.{digits}f}"
    return written.rstrip("0").rstrip(".") if "." in written else written
