"""Small plots as SVG text to stand in a page: its colours, its fonts, no ids of their own meaning.

Every plot is one panel with units on its axes; the page lays panels out and titles them. Colours
are Okabe and Ito's, which the colour-blind can tell apart, as CSS variables with dark variants.
"""

import io
import re
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

Points = Sequence[tuple[float, float]]

WIDE, SMALL = (5.6, 2.9), (3.3, 2.0)
"""Inches, at which text has one size in the page whatever the plot."""
INK, LINE = "#010203", "#010204"
_SERIES = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00")
STATUS = {
    "ok": "#009e73",
    "correctness_error": "#e69f00",
    "runtime_error": "#d55e00",
    "compile_error": "#cc79a7",
    "extract_error": "#56b4e9",
    "timeout": "#0072b2",
    "cheating": INK,
    "infra_error": "#999999",
    "invalid_problem": "#bbbbbb",
}
"""Best first, as they are stacked."""
_STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "kernelwright",
    "font.size": 8.5,
    "text.parse_math": False,
    "text.color": INK,
    "axes.edgecolor": LINE,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": LINE,
    "grid.linewidth": 0.6,
    "xtick.color": LINE,
    "ytick.color": LINE,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "lines.linewidth": 1.6,
    "lines.solid_capstyle": "round",
}


def lines(
    series: Mapping[str, Points], x: str, y: str, share: bool = False, small: bool = False
) -> str:
    """A line for each of *series*; with *share* the y axis is 0 to 100 %."""

    def draw(axes: Any) -> None:
        for place, (name, points) in enumerate(series.items()):
            axes.plot(
                *zip(*points, strict=True),
                color=_SERIES[place % len(_SERIES)],
                marker="o" if len(points) < 4 else None,
                markersize=3,
                label=name,
            )
        _finish(axes, share, legend=len(series) > 1)

    return _svg(draw, x, y, SMALL if small else WIDE)


def banded(
    series: Mapping[str, Sequence[tuple[float, float, float, float]]],
    x: str,
    y: str,
    share: bool = False,
) -> str:
    """Lines with bands; each point is x, lower, middle, upper."""

    def draw(axes: Any) -> None:
        for place, (name, points) in enumerate(series.items()):
            at, lower, middle, upper = zip(*points, strict=True)
            colour = _SERIES[place % len(_SERIES)]
            axes.fill_between(at, lower, upper, color=colour, alpha=0.18, linewidth=0)
            axes.plot(at, middle, color=colour, label=name, marker="o", markersize=2.5)
        _finish(axes, share, legend=len(series) > 1)

    return _svg(draw, x, y)


def smoothed(
    points: Points, x: str, y: str, share: bool = False, level: float | None = None
) -> str:
    """Dots, and a centred mean over a tenth of them; *level* is a line to compare with."""

    def draw(axes: Any) -> None:
        at, value = zip(*points, strict=True)
        half = max(1, len(points) // 20)
        windows = [value[max(0, i - half) : i + half + 1] for i in range(len(value))]
        axes.plot(at, value, "o", color=_SERIES[4], markersize=3, label="a step")
        mean = [sum(each) / len(each) for each in windows]
        axes.plot(at, mean, color=_SERIES[0], label=f"mean of {2 * half + 1} steps")
        if level is not None:
            axes.axhline(level, color=INK, linewidth=0.8, dashes=(4, 3))
        _finish(axes, share, legend=True)

    return _svg(draw, x, y)


def stacked(shares: Mapping[str, Sequence[float]], steps: Sequence[float], x: str, y: str) -> str:
    """Shares of statuses over *steps*, the best at the bottom; statuses that never occur left out.

    There is no legend: the page writes one, in which colours have names.
    """

    def draw(axes: Any) -> None:
        names = [name for name in STATUS if any(shares.get(name, ()))]
        colours = [STATUS[name] for name in names]
        # A band a step wide keeps a run of one step visible.
        edges = [step + side for step in steps for side in (-0.5, 0.5)]
        heights = [[value for value in shares[name] for _ in range(2)] for name in names]
        axes.stackplot(edges, heights, colors=colours, linewidth=0)
        axes.set_xlim(edges[0], edges[-1])
        axes.grid(False)
        _finish(axes, share=True, legend=False)

    return _svg(draw, x, y)


def css(text: str) -> str:
    """*text* with the colours of this module as CSS, so that they follow light and dark."""
    text = text.replace(INK, "currentColor").replace(LINE, "var(--line)")
    for place, colour in enumerate(_SERIES):
        text = text.replace(colour, f"var(--c{place})")
    return text


def _finish(axes: Any, share: bool, legend: bool) -> None:
    from matplotlib.ticker import MaxNLocator, PercentFormatter

    if share:
        axes.set_ylim(0, 1)
        axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0, symbol=" %"))
    axes.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True, min_n_ticks=1))
    if legend:
        axes.legend(loc="best", handlelength=1.2)


def _svg(draw: Callable[[Any], None], x: str, y: str, size: tuple[float, float] = WIDE) -> str:
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=size)
        width, height = size
        left, bottom = 0.72 / width, 0.45 / height  # inches that labels take
        figure.subplots_adjust(left, bottom, 1 - 0.1 / width, 1 - 0.1 / height)
        axes = figure.subplots()
        draw(axes)
        axes.set_xlabel(x)
        axes.set_ylabel(y)
        text = io.StringIO()
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
    return _inline(text.getvalue(), f"{y} over {x}")


def _inline(svg: str, label: str) -> str:
    """*svg* without what a file of its own needs, its colours and font those of the page."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"font-family: [^;\"]*;?", "", svg)
    svg = re.sub(r"(font: [\d.]+px) [^;\"]*", r"\1 system-ui, sans-serif", svg)
    svg = css(svg)
    view = re.search(r'viewBox="[^"]*"', svg)
    head = f'<svg role="img" aria-label="{escape(label)}" {view.group() if view else ""}>'
    return re.sub(r"<svg[^>]*>", lambda _: head, svg, count=1)
