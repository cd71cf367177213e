"""trends.html: charts of the figures of each pair over the commits of a history.

The charts mark regressions.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from n6build.tell.matrix.matrix_settings import Limits
from n6build.tell.matrix.trends import FIGURES, Point, Trend, sentence, shown
from n6build.tell.pages import page_environment

TEMPLATE = Path(__file__).with_name("trends.html.j2")
_WIDTH, _HEIGHT = 520, 220
_LINE, _BAD = "#2563eb", "#b91c1c"
# More points would no longer be visible as a line.
_MOST_POINTS = 200
_DIGITS = 10


def trends_page(trends: Sequence[Trend], limits: Limits, commit: str) -> str:
    """Return the text of the page.

    A figure that never changed has its value in place of a chart.

    Args:
        trends: trends of all pairs.
        limits: limits of the project.
        commit: the latest commit.
    """
    from markupsafe import Markup  # noqa: PLC0415 - builds without a page need not wait for it.

    sections: dict[str, list[dict[str, object]]] = {}
    for trend in trends:
        changes = len({point.value for point in trend.points}) > 1
        sections.setdefault(trend.pair, []).append(
            {
                "figure": FIGURES[trend.figure],
                "latest": shown(trend.points[-1].value),
                "commits": len(trend.points),
                "chart": Markup(_chart(trend)) if changes else "",
                "regressions": [(point.commit[:_DIGITS], sentence(trend, point, limits.most)) for point in _bad(trend)],
            }
        )
    marked = sum(len(_bad(trend)) for trend in trends)
    template = page_environment(TEMPLATE.parent).get_template(TEMPLATE.name)
    return str(template.render(sections=sections, commit=commit[:_DIGITS], marked=marked))


def _bad(trend: Trend) -> list[Point]:
    return [point for point in trend.points if point.is_regression]


def _chart(trend: Trend) -> str:
    """Return a chart as SVG. Commits are counted from the oldest one shown."""
    import leather  # noqa: PLC0415 - as above.

    points = trend.points[-_MOST_POINTS:]
    chart = leather.Chart()
    # The scale shows even changes of a thousandth.
    low, high = min(point.value for point in points), max(point.value for point in points)
    chart.add_y_scale(low - (high - low) * 0.1, high + (high - low) * 0.1)
    chart.add_x_scale(0, max(len(points) - 1, 1))
    chart.add_line([(at, point.value) for at, point in enumerate(points)], stroke_color=_LINE)
    bad = [(at, point.value) for at, point in enumerate(points) if point.is_regression]
    if bad:
        chart.add_dots(bad, fill_color=_BAD, radius=5)
    return str(chart.to_svg(width=_WIDTH, height=_HEIGHT))
