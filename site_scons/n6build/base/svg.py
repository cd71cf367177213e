"""SVG shapes for the pictures of plans and reports.

A picture has no scripts and no fonts, and loads nothing from elsewhere.
"""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement


def picture(kind: str, width: float, height: float, label: str, style: str) -> Element:
    """Return an element <svg>.

    Args:
        kind: Class of the element. `style` has to name it in every rule: in a page, a style sheet
            applies everywhere.
        width: Width in pixels.
        height: Height in pixels.
        label: Description of the picture for people that do not see it.
        style: Style sheet.
    """
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
    """Add a rectangle of class `kind` to an element, and return it."""
    place = {"x": number(x), "y": number(y), "width": number(width), "height": number(height)}
    return SubElement(parent, "rect", {"class": kind, **place})


def text(parent: Element, kind: str, x: float, y: float, content: str) -> Element:
    """Add a text of class `kind`, which may be empty, to an element, and return it."""
    element = SubElement(parent, "text", {"class": kind, "x": number(x), "y": number(y)})
    element.text = content
    return element


def line(parent: Element, kind: str, x1: float, y1: float, x2: float, y2: float) -> Element:
    """Add a line of class `kind` to an element, and return it."""
    ends = {"x1": number(x1), "x2": number(x2), "y1": number(y1), "y2": number(y2)}
    return SubElement(parent, "line", {"class": kind, **ends})


def number(value: float, digits: int = 1) -> str:
    """Return a short text of a number, the same wherever it is computed."""
    written = f"{value:.{digits}f}"
    return written.rstrip("0").rstrip(".") if "." in written else written
