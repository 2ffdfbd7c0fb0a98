"""The plots of a run's measures as SVG, whose colours follow the page (light or dark).

matplotlib draws with placeholder colours.  In the SVG, each placeholder becomes a variable of the page's style.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import Any

import matplotlib as mpl
from markupsafe import Markup
from matplotlib.figure import Figure

from assay_evidence.histories.measures import PERCENTILES, Measures

_INK, _SENT, _RECEIVED, _FAULT = "#010101", "#010102", "#010103", "#010104"
_LINES = ("#010105", "#010106", "#010107", "#010108", "#010109", "#01010a", "#01010b")
_VARIABLES = {
    _INK: "--ink",
    _SENT: "--link",
    _RECEIVED: "--pass-bar",
    _FAULT: "--fault",
    _LINES[0]: "--ink",
    _LINES[1]: "--link",
    _LINES[2]: "--pass-bar",
    _LINES[3]: "--due",
    _LINES[4]: "--error-bar",
    _LINES[5]: "--fault",
    _LINES[6]: "--partial-bar",
}
_STYLES = ("-", "--", "-.", ":")
_SETTINGS: dict[Any, Any] = {
    "axes.edgecolor": _INK,
    "axes.labelcolor": _INK,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "font.size": 9,
    "svg.fonttype": "none",  # text stays text, so that screen readers and searches find it
    "svg.hashsalt": "assay",
    "text.color": _INK,
    "xtick.color": _INK,
    "ytick.color": _INK,
}
_INCHES = (9.0, 3.2)


def rates_plot(run: Measures) -> Markup | None:
    """Draw the number of messages per second over time, with a band for each fault; None without messages.

    Args:
        run: The measures.
    """
    if not run.rates:
        return None

    def draw(axes: Any) -> None:
        times = [rate.at_s for rate in run.rates]
        axes.plot(times, [rate.received for rate in run.rates], color=_RECEIVED, linestyle="--", label="received")
        axes.plot(times, [rate.sent for rate in run.rates], color=_SENT, label="sent")
        for fault in run.faults:
            end = fault.begin_s if fault.end_s is None else fault.end_s
            axes.axvspan(fault.begin_s, max(end, fault.begin_s + 0.2), color=_FAULT, alpha=0.25, linewidth=0)
        axes.set_xlabel("seconds since the begin")
        axes.set_ylabel("messages a second")
        axes.set_ylim(bottom=0)

    return _svg(draw, "Messages a second over time; the bands are faults.")


def lateness_plot(run: Measures) -> Markup | None:
    """Draw the percentiles of each group's lateness; None without delayed messages.

    Args:
        run: The measures.
    """
    if not run.lateness:
        return None

    def draw(axes: Any) -> None:
        places = range(len(PERCENTILES))
        for number, lateness in enumerate(run.lateness):
            colour, style = _LINES[number % len(_LINES)], _STYLES[number % len(_STYLES)]
            axes.plot(
                places, lateness.ms, color=colour, linestyle=style, marker="o", markersize=3, label=lateness.group
            )
        axes.set_xticks(places, [f"p{percent:g}" for percent in PERCENTILES])
        axes.set_ylabel("ms after the message was due")
        axes.set_yscale("symlog", linthresh=1)
        # Messages that came early have a negative lateness.
        axes.set_ylim(bottom=min(0.0, *(ms for lateness in run.lateness for ms in lateness.ms)))

    return _svg(draw, "Percentiles of the lateness of delayed messages, by group.")


def _svg(draw: Callable[[Any], None], caption: str) -> Markup:
    with mpl.rc_context(_SETTINGS):
        figure = Figure(figsize=_INCHES, layout="constrained")
        axes = figure.add_subplot()
        draw(axes)
        axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
        written = io.StringIO()
        figure.savefig(written, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = written.getvalue()
    text = text[text.index("<svg") :]
    for colour, variable in _VARIABLES.items():
        text = text.replace(colour, f"var({variable})")
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    title = f'<svg role="img" aria-label="{caption}"'
    return Markup(text.replace("<svg", title, 1))  # noqa: S704 - matplotlib escapes texts, and the caption is ours
