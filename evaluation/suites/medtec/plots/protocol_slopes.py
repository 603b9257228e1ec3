"""The rankings of models under several protocols side by side, with a line for each model."""

from collections.abc import Sequence

from evaluation.suites.medtec.board_rows import ProtocolStanding
from evaluation.suites.medtec.plots.canvas import Plot, model_styles, single_axes


def protocol_slopes(standings: Sequence[ProtocolStanding]) -> Plot:
    """One line a model of one comparison, the best rank on top."""
    protocols = list(dict.fromkeys(row.protocol for row in standings))
    title = f"Rankings under {len(protocols)} protocols: {standings[0].comparison.replace('_', ' ')}"
    styles = model_styles(row.model for row in standings)
    figure, axes = single_axes(title, width=2.2 * len(protocols) + 2.5, height=1.5 + 0.4 * len(styles))
    for model, style in styles.items():
        own = {row.protocol: row for row in standings if row.model == model}
        ranks = [own[protocol].rank for protocol in protocols]
        axes.plot(range(len(protocols)), ranks, color=style.colour, marker=style.marker, gid=style.mark)
        axes.annotate(model, (len(protocols) - 1, ranks[-1]), xytext=(8, 0), textcoords="offset points", va="center")
    axes.set_xticks(range(len(protocols)), [f"{name}\n{_metric(standings, name)}" for name in protocols])
    axes.set_yticks(range(1, len(styles) + 1))
    axes.invert_yaxis()
    axes.set_ylabel("rank")
    axes.margins(x=0.25)
    images = "the same images" if standings[0].same_images else "different images"
    parts = [f"{row.protocol} rank {row.rank} {row.model} {row.value:.3f}" for row in standings]
    return Plot(figure, title, f"Rankings on {images}. {', '.join(parts)}.")


def _metric(standings: Sequence[ProtocolStanding], protocol: str) -> str:
    return next(row.metric for row in standings if row.protocol == protocol)
