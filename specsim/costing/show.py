"""The cost model for people: a table for each decoder, what to choose, and one picture."""

from __future__ import annotations

import io
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Group
from rich.table import Table as Grid
from rich.text import Text

from specsim.comparing.show import AS_WRITTEN
from specsim.comparing.show import source as models
from specsim.costing.sweep import ROUNDING

READING = (
    "Speed-up: cost of plain decoding / expected cost of this run; below 1 it is slower. One target call on one token "
    "costs 1; time outside the models is not counted. Further: tokens of target calls beyond the first. "
    "Formula: (1 - a^(L+1)) / ((1 - a)(1 + (c + k) L)), a = P(kept | judged) at size 1."
)
COLUMNS = ("size", "calls", "tokens/call", "further", "drafts", "cost", "speed-up", "formula")


def view(content: dict[str, Any]) -> Group:
    """Every decoder's table and what follows from it."""
    price, source = content["prices"], content["source"]
    head = f"draft call {price['draft_call']:g}, further token in a call {price['per_token']:g}; from {source['kind']}"
    parts: list[Any] = [Text("\n".join([head, *models(source)]))]
    for swept in content["decoders"]:
        parts += [table(swept), *map(Text, findings(swept))]
    return Group(*parts, *map(Text, trust(source)), Text(READING))


def table(swept: dict[str, Any]) -> Grid:
    """One decoder at every size; the best one is marked."""
    grid = Grid(title=Text(title(swept)), title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for column in COLUMNS:
        grid.add_column(column, justify="right", no_wrap=True)
    for row in swept["sizes"]:
        mark = "*" if row["size"] == swept["best"] else ""
        counts = (row["expected_calls"], row["tokens_per_call"], row["further_tokens_in_calls"], row["draft_calls"])
        formula = "-" if row["naive_speed_up"] is None else f"{row['naive_speed_up']:.4f}"
        figures = *(f"{x:.4f}" for x in (*counts, row["cost"])), speed(row), formula
        grid.add_row(f"{mark}{row['size']}", *figures)
    return grid


def title(swept: dict[str, Any]) -> str:
    """The decoder, what is swept, and the rule."""
    return f"{swept['decoder']}, {swept['swept']} swept, {swept['rule'] or 'Strict()'}"


def speed(row: dict[str, Any]) -> str:
    """The speed-up, with half of its interval where it is measured."""
    ends = row.get("speed_up_interval")
    return f"{row['speed_up']:.4f}" + (f" ±{(ends[1] - ends[0]) / 2:.3f}" if ends else "")


def findings(swept: dict[str, Any]) -> list[str]:
    """The best size, flattering or not, and what the formula would have chosen."""
    slower = "" if swept["best_speed_up"] > 1 else ": no faster than plain decoding"
    said = [f"best {swept['swept']} {swept['best']}, speed-up {swept['best_speed_up']:.4f}{slower}"]
    if swept["naive_best"] is None:
        return said
    promise = f"promises {swept['naive_promise']:.4f} and gets {swept['naive_gets']:.4f}"
    if swept["naive_best"] == swept["best"]:
        return [*said, f"the formula takes the same, {promise}"]
    loss = f"{swept['loses']:.2%} slower than" if swept["loses"] > ROUNDING else "as good as"
    return [*said, f"the formula takes {swept['naive_best']}, {promise}: {loss} the best"]


def trust(source: dict[str, Any]) -> list[str]:
    """How well the rates of a run give back the run itself."""
    if "measured_calls" not in source:
        return []
    said = [
        "rates by slot are those of the run's own lookahead; at shorter ones they are taken to be the same, "
        "which they are only where acceptance does not depend on the position or on what was kept"
    ]
    if source["calls_from_rates"] is not None:
        ends = source["measured_calls_interval"]
        within = f" [{ends[0]:.3f}, {ends[1]:.3f}]" if ends else ""
        said.append(
            f"calls of the run: {source['measured_calls']:.3f}{within}, {source['calls_from_rates']:.3f} from the rates"
        )
    return said


def picture(content: dict[str, Any]) -> bytes:
    """PNG: speed-up against size, the formula dashed."""
    from matplotlib import rc_context

    with rc_context(AS_WRITTEN):
        return drawn(content)


def drawn(content: dict[str, Any]) -> bytes:
    """The picture under the settings that hold now."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    figure = Figure(figsize=(7, 4.2))
    FigureCanvasAgg(figure)
    plot = figure.add_subplot()
    for i, swept in enumerate(content["decoders"]):
        across = [row["size"] for row in swept["sizes"]]
        style: dict[str, Any] = {"color": f"C{i}", "linewidth": 1}
        plot.plot(across, [row["speed_up"] for row in swept["sizes"]], "o-", label=title(swept), **style)
        if swept["naive_best"] is not None:
            formula = [row["naive_speed_up"] for row in swept["sizes"]]
            plot.plot(across, formula, "x--", label="the formula", **style)
    plot.axhline(1, color="grey", linewidth=1, linestyle=":")
    plot.set_xlabel("lookahead or window")
    plot.set_ylabel("speed-up over plain decoding")
    plot.set_title(f"Draft call {content['prices']['draft_call']:g}, further token {content['prices']['per_token']:g}")
    plot.xaxis.set_major_locator(MaxNLocator(integer=True))
    plot.grid(alpha=0.3)
    plot.legend(fontsize=7, loc="upper left", bbox_to_anchor=(0, -0.15))
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=110, bbox_inches="tight")
    return buffer.getvalue()
