"""Why does this word get this vector? Every number of one attention."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from ctxembed.ask.illustrate import POSITION, TARGET, TOKEN, WEIGHT
from ctxembed.ask.recipe import RECIPE, write_recipe
from ctxembed.ask.steps import HEAD, STEPS, make_steps, tidy
from ctxembed.ask.targets import choose_attention, name_targets, number_repeats, tell_skipped
from ctxembed.attention.layer import Attended, attend
from ctxembed.attention.scores import softmax
from ctxembed.attention.sinusoids import sinusoidal
from ctxembed.context.representations import (
    Attention,
    Parsed,
    collapse,
    parse,
    representations_of,
)
from ctxembed.errors import CtxembedError, UsageError
from ctxembed.static.space import Floats
from ctxembed.store.model import Model
from ctxembed.store.places import on_model
from ctxembed.table import Cell, Chart, Column, Row, Table

MOST_ARCS = 6  # targets that are drawn each with its own arcs
EXPLAIN = (
    TARGET,
    HEAD,
    TOKEN,
    POSITION,
    Column("score", "q·k, or the cosine of the two"),
    Column("scaled", "score times the scale, plus the biases of distance and word"),
    WEIGHT,
    Column(
        "contribution",
        "share of the output along its own direction; all of them sum to 1",
        "share",
        ("target",),
    ),
)


@on_model(*EXPLAIN, RECIPE[1], STEPS[0], *STEPS[2:])
def explain(
    model: Model,
    sentence: str,
    *,
    word: str | None = None,
    attention: str | None = None,
    general: str | None = None,
    heads: int = 4,
    seed: int = 1,
    head: str = "mean",
    over: str | None = None,
    encoding: str = "none",
    steps: bool = False,
    recipe: bool = False,
    check: bool = False,
    digits: int = 2,
) -> Table:
    """Show why each target of a sentence gets its vector: score, scaled, weight, contribution.

    head: "mean" over all heads, "each" of them, or the number of one, from 1. over: another
    sentence to look at. Or: steps, every matrix; recipe, each target as a sum of its context, with
    so many digits. check: recompute the output from the rows, and fail if they don't add up.
    """
    chosen = choose_attention(representations_of(model), attention, general, heads, seed)
    parsed = parse(model, sentence, word)
    other = parse(model, over) if over is not None else None
    number = chosen.layer.heads
    if head not in ("mean", "each"):
        pick_head(head, number)
    notes = tell_skipped([parsed] if other is None else [parsed, other])
    if steps:
        made = make_steps(chosen, parsed, over=other, encoding=encoding)
        return Table(STEPS, tidy(made), notes)
    kept: list[Explained] = []

    def explained() -> Iterable[Explained]:
        return kept or explain_targets(chosen, parsed, over=other, encoding=encoding)

    if recipe:
        return Table(
            RECIPE,
            lambda: ((item.target, _recipe(item, head, digits)) for item in explained()),
            notes,
        )
    if check:
        kept = list(explained())
        check_rows(list(explain_rows(kept, "each")), kept)
        targets = "" if len(kept) == 1 else f" of all {len(kept)} targets"
        notes.append(f"checked: the rows{targets} add up")
    if number > 1 and head == "mean":
        told = "score, scaled and weight are their means; --head each shows all"
        notes.append(f"{number} heads: {told}")
    chart = draw_weights(chosen.name, head, number, len(parsed.occurrences))
    return Table(EXPLAIN, lambda: explain_rows(explained(), head), notes, chart=chart)


def draw_weights(name: str, head: str, heads: int, targets: int) -> Chart:
    """Draw the sentence with arcs; heads side by side, and a whole sentence, as a heat map."""
    which = f", head {head}" if head.isdigit() else f", mean of {heads} heads" if heads > 1 else ""
    title = f"{name} attention{'' if head == 'each' else which}"
    if head == "each" or targets > MOST_ARCS:
        by = ("head", ("target",)) if head == "each" else ("target", ())
        return Chart("heat", ["weight"], "token", by[:1], panel=by[1], domain=(0, 1), title=title)
    return Chart(
        "tokens",
        ["weight"],
        "position",
        ["token"],
        panel=["target"],
        start="target",
        domain=(0, 1),
        title=title,
    )


@dataclass(frozen=True)
class Explained:
    """One target, the words it looks at, and all that the layer computed for it."""

    target: str  # apple, or apple:2 for the second one
    place: int | None  # of the target among the tokens; None where they are another sentence's
    tokens: Sequence[str]
    attended: Attended  # one sentence, one word that asks

    @property
    def heads(self) -> int:
        """How many heads the layer has."""
        return self.attended.layer.heads


def explain_targets(
    attention: Attention,
    parsed: Parsed,
    *,
    over: Parsed | None = None,
    encoding: str = "none",
) -> Iterator[Explained]:
    """Run the layer for each target, one at a time: long sentences need no square matrix."""
    names = name_targets(parsed)
    for name, item in zip(names, parsed.occurrences, strict=True):
        (ids,), (place,) = collapse([item])
        x = attention.inputs[ids].astype(np.float64)
        span = slice(place, item.target.stop)
        x[place] = attention.inputs[item.own].mean(axis=0)
        x = _encode_places(x, encoding)
        tokens = [*parsed.words[:place], " ".join(parsed.words[span])]
        tokens += parsed.words[span.stop :]
        other = None
        if over is not None:
            key_ids = over.occurrences[0].ids[None]
            other = _encode_places(attention.inputs[key_ids[0]], encoding)[None], key_ids
            tokens = over.words
        queries = np.array([place], np.intp)
        attended = attend(attention.layer, x[None], ids[None], over=other, queries=queries)
        yield Explained(name, int(place) if over is None else None, tokens, attended)


def _encode_places(x: Floats, encoding: str) -> Floats:
    return x + sinusoidal(*x.shape) if encoding == "sinusoidal" else x.astype(np.float64)


def explain_rows(explained: Iterable[Explained], head: str = "mean") -> Iterator[tuple[Cell, ...]]:
    """Yield score, scaled, weight and contribution, one row a token."""
    return (row for item in explained for row in _rows(item, head))


def _rows(item: Explained, head: str) -> Iterator[tuple[Cell, ...]]:
    trace = item.attended.trace()
    parts, own = shares(item.attended)
    scores, scaled, weights = (
        m[0, :, 0].astype(np.float64) for m in (trace.scores, trace.scaled, item.attended.weights)
    )  # (H, T) each
    if head == "mean":
        finite = np.where(np.isfinite(scaled), scaled, np.nan)
        chosen = [("mean", scores.mean(0), finite.mean(0), weights.mean(0), parts.sum(0))]
        if item.place is not None:
            chosen[0][4][item.place] += own
    else:
        numbers = range(item.heads) if head == "each" else [pick_head(head, item.heads)]
        chosen = [(str(h + 1), scores[h], scaled[h], weights[h], parts[h]) for h in numbers]
    for name, score, scale, weight, part in chosen:
        for place, token in enumerate(item.tokens):
            masked = not np.isfinite(scale[place])  # the word itself, left out of its own weights
            yield (
                item.target,
                name,
                token,
                place + 1,
                None if masked else float(score[place]),
                None if masked else float(scale[place]),
                None if masked else float(weight[place]),
                float(part[place]),
            )
    if (head == "each" or item.place is None) and own:
        yield (item.target, "own", item.target, None, None, None, None, own)


def shares(attended: Attended) -> tuple[Floats, float]:
    """Return how far each token moves the output along its own direction, (H, T), and the word.

    All of them sum to 1: Σ c·o / o·o = o·o / o·o.
    """
    output = attended.output[0, 0].astype(np.float64)
    length = float(output @ output) or 1.0
    along = attended.values[0].astype(np.float64) @ output / length  # (H, T)
    weights = attended.weights[0, :, 0].astype(np.float64)
    return weights * along, float(attended.own[0, 0].astype(np.float64) @ output) / length


def pick_head(head: str, heads: int) -> int:
    """Read the number of a head."""
    if not (head.isascii() and head.isdigit()) or not 1 <= int(head) <= heads:
        raise UsageError(f"--head {head}: this attention has heads 1 to {heads}")
    return int(head) - 1


def _recipe(item: Explained, head: str, digits: int) -> str:
    """Write a target as the notes do: bank = 0.25 money + 0.70 bank + 0.05 grows.

    Without matrices that is the whole truth; with them, the numbers are the weights.
    """
    layer = item.attended.layer
    weights = item.attended.weights[0, :, 0].astype(np.float64)  # (H, T)
    weights = weights.mean(0) if head == "mean" else weights[pick_head(head, item.heads)]
    own, share = (layer.own, layer.share) if layer.w_o is None else (0.0, 1.0)
    if not weights.any():
        own = share = 1.0
    parts = (share * weights).tolist()
    tokens = number_repeats(item.tokens)
    if item.place is not None:
        parts[item.place] += own
    elif own:  # the word itself is in none of the other sentence's places
        tokens, parts = [item.target, *tokens], [own, *parts]
    return write_recipe(item.target, tokens, parts, digits)


def check_rows(rows: Sequence[Row], explained: Sequence[Explained]) -> None:
    """Recompute each output vector from the rows of `explain(..., head="each")`.

    Scores must give the scaled scores; weights must be their softmax and sum to 1; the values they
    mix and the word's own part must sum to the output, and the contributions to 1.
    """
    place = 0
    for item in explained:
        number = item.heads * len(item.tokens)
        block, place = rows[place : place + number], place + number
        own = 0.0
        if place < len(rows) and rows[place][1] == "own":
            own, place = cast(float, rows[place][7]), place + 1
        scores, scaled, weights, parts = (
            np.array(
                [empty if row[column] is None else row[column] for row in block], np.float64
            ).reshape(item.heads, -1)
            for column, empty in ((4, 0.0), (5, -np.inf), (6, 0.0), (7, 0.0))
        )  # (H, T) each
        scale = item.attended.layer.scale
        added = item.attended.trace().added.values()
        bias = sum((part[0, :, 0] for part in added), np.zeros_like(scaled))  # (H, T)
        seen = np.isfinite(scaled)
        mixed = np.einsum("ht,htd->d", weights, item.attended.values[0]) + item.attended.own[0, 0]
        for what, found, expected in (
            ("the scaled scores with the scores", (scale * scores + bias)[seen], scaled[seen]),
            ("the weights with the softmax of the scaled scores", softmax(scaled), weights),
            ("the sum of the weights with 1", weights.sum(1), scaled.max(1) > -np.inf),
            ("the weighted sum with the output", mixed, item.attended.output[0, 0]),
            ("the sum of the contributions with 1", parts.sum() + own, 1.0),
        ):
            size = max(1.0, float(np.abs(expected).max(initial=0)))
            gap = float(np.abs(np.asarray(found, np.float64) - expected).max(initial=0)) / size
            if not gap < 1e-6:
                raise CtxembedError(
                    f"check failed for {item.target!r}: {what} differs by {gap:.3g}"
                )
