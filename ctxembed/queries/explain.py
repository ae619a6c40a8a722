"""Why does this word get this vector? Every number of one attention."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import cast

from ctxembed.attention.terms import TERMS
from ctxembed.context.columns import POSITION
from ctxembed.context.parse import check_work, parse
from ctxembed.context.representations import representations_of
from ctxembed.context.sentences import (
    choose_attention,
    number_repeats,
    read_sentences,
    tell_skipped,
)
from ctxembed.errors import UsageError
from ctxembed.explanation.explained_target import (
    HEAD,
    SENTENCE,
    STEPS,
    TARGET,
    TOKEN,
    WEIGHT,
    Explained,
    draw_tokens,
    explain_targets,
)
from ctxembed.model.bundled import example, on_model
from ctxembed.model.model import Model
from ctxembed.static.worked_example import read_weights
from ctxembed.table import Cell, Chart, Column, Row, Table, round_to_total

MOST = 200_000  # rows for one sentence
MOST_ARCS = 6  # targets that are drawn each with its own arcs
STEP = (
    Column("score", "of one head: q·k, or the cosine of the two"),
    Column("scale", "of one head: what score is multiplied by, 1/√d or a temperature"),
)
TERM = Column(
    "TERM...",
    "of one head: what each score term of the attention adds, a column under each one's name"
    f" ({', '.join(TERMS)})",
)
SUM = Column("sum", "of one head: score times scale, and all that is added")
CONTRIBUTION = Column(
    "contribution",
    "share of the output along its own direction; all of them sum to 1",
    "share",
    ("sentence", "target"),
)
RECIPE = Column("recipe", "with --recipe: the target as a sum of itself and its context", "long")


@on_model(
    SENTENCE, TARGET, HEAD, TOKEN, POSITION, *STEP, TERM, SUM, WEIGHT, CONTRIBUTION, RECIPE,
    STEPS[0], *STEPS[2:],
)  # fmt: skip
def explain(
    model: Model,
    sentences: str | Sequence[str],
    *,
    word: str | None = None,
    attention: str | None = None,
    general: str | None = None,
    heads: int = 4,
    seed: int = 1,
    head: str = "mean",
    over: str | None = None,
    encoding: str = "none",
    sort: str = "position",
    top: int | None = None,
    steps: bool = False,
    recipe: bool = False,
    check: bool = False,
    digits: int = 2,
) -> Table:
    """Show why each target of sentences gets its vector: score, sum, weight, contribution.

    head: "mean" over all heads, "each" of them, or the number of one, from 1. over: another
    sentence to look at. sort: by "position" or "weight"; top: only so many words, the heaviest.
    Or: steps, every matrix; recipe, each target as a sum of itself and its context, with so many
    digits. check: recompute the output from the rows, and fail if they don't add up.
    """
    representations = representations_of(model)
    chosen = choose_attention(representations, attention, general, heads, seed)
    number = chosen.layer.heads
    if head not in ("mean", "each"):
        pick_head(head, number)
    read = read_sentences(representations, sentences, word)
    for parsed in read.parsed:
        check_work(len(parsed.occurrences), len(parsed.words), MOST)
    other = parse(model, over) if over is not None else None
    notes = [*read.notes, *tell_skipped([other] if other else [])]
    if steps:
        if read.several:
            raise UsageError("--steps shows one sentence at a time")
        from ctxembed.explanation.matrices import StepTable, make_steps

        return StepTable(make_steps(chosen, read.parsed[0], other, encoding, head), notes)
    kept: list[Explained] = []

    def explained() -> Iterable[Explained]:
        return kept or (
            item
            for parsed in read.parsed
            for item in explain_targets(chosen, parsed, over=other, encoding=encoding)
        )

    labels = (SENTENCE, TARGET) if read.several else (TARGET,)

    def table(columns: Sequence[Column], rows_of: Callable[[Explained], Iterable[Row]]) -> Table:
        def rows() -> Iterator[Row]:
            for item in explained():
                about = (item.sentence, item.target) if read.several else (item.target,)
                yield from ((*about, *row) for row in rows_of(item))

        return Table((*labels, *columns), rows, notes, read.unknown)

    if recipe:
        return table([RECIPE], lambda item: [(_recipe(item, head, digits),)])
    if check:
        from ctxembed.explanation.verify import check_rows

        kept = list(explained())
        for item in kept:
            check_rows(explain_rows(item, "each"), item)
        told = "" if len(kept) == 1 else f" of all {len(kept)} targets"
        notes.append(f"checked: the rows{told} add up")
    whole = head != "mean" or number == 1
    if not whole:
        notes.append(f"{number} heads: weight is the mean of theirs; --head each shows each step")
    if top is not None:
        notes.append(f"only the {top} heaviest words: their weights need not sum to 1")
    terms = next(iter(explained())).terms if whole else []
    steps_shown = (*STEP, *TERM.each(terms), SUM) if whole else ()
    made = table(
        (HEAD, TOKEN, POSITION, *steps_shown, WEIGHT, CONTRIBUTION),
        lambda item: arrange(explain_rows(item, head), sort, top),
    )
    targets = sum(len(parsed.occurrences) for parsed in read.parsed)
    made.charts = (draw_weights(chosen.name, head, number, targets, [c.name for c in labels]),)
    return made


def draw_weights(name: str, head: str, heads: int, targets: int, which: Sequence[str]) -> Chart:
    """Draw the sentence with arcs; heads side by side, and a whole sentence, as a heat map."""
    told = f", head {head}" if head.isdigit() else f", mean of {heads} heads" if heads > 1 else ""
    title = f"{name} attention{'' if head == 'each' else told}"
    if head == "each" or targets > MOST_ARCS:
        by, panel = (["head"], which) if head == "each" else (["target"], which[:-1])
        return Chart("heat", ["weight"], "token", by, panel=panel, domain=(0, 1), title=title)
    return draw_tokens(title, which)


def explain_rows(item: Explained, head: str = "mean") -> list[Row]:
    """Return head, token, position, each step of one head, weight and contribution, by token.

    The mean over several heads has no steps: its weights are no softmax. A word that is unknown
    has no numbers; nor has the word itself where it is left out of its own weights.
    """
    parts, own = item.contributions
    whole = head != "mean" or item.heads == 1
    empty: list[Cell] = [None] * (3 + len(item.terms) if whole else 0)
    if not whole:
        chosen = [("mean", item.weights.mean(0), parts.sum(0), item.seen.max(axis=0))]
    else:
        one = 0 if head == "mean" else pick_head(head, item.heads) if head != "each" else None
        numbers = range(item.heads) if one is None else [one]
        chosen = [(str(h + 1), item.weights[h], parts[h].copy(), item.seen[h]) for h in numbers]
    if head == "mean" and item.place is not None:
        chosen[0][2][item.place] += own
    rows: list[Row] = []
    for name, weights, shares, seen in chosen:
        known = zip(item.positions, item.tokens, weights, shares, seen, strict=True)
        by_position = {
            position: (
                *(name, token, position),
                *(item.steps(int(name) - 1, place) if whole and there else empty),
                *(float(weight) if there else None, float(share)),
            )
            for place, (position, token, weight, share, there) in enumerate(known)
        }
        for position, token in item.unknown.items():
            by_position[position] = (name, token, position, *empty, None, None)
        rows += [by_position[position] for position in sorted(by_position)]
    if own and (head == "each" or (head == "mean" and item.place is None)):
        rows.append(("own", item.target, None, *empty, None, own))
    return rows


def arrange(rows: list[Row], sort: str, top: int | None) -> Iterable[Row]:
    """Sort the rows of each head by weight if asked to, and keep the heaviest if asked to."""
    for _, group in groupby(rows, key=itemgetter(0)):
        block = list(group)
        heaviest = sorted(block, key=lambda row: -1 if row[-2] is None else cast(float, row[-2]))
        heaviest.reverse()
        kept = {id(row) for row in heaviest[:top] if row[-2] is not None or top is None}
        yield from (row for row in (heaviest if sort == "weight" else block) if id(row) in kept)


def pick_head(head: str, heads: int) -> int:
    """Read the number of a head."""
    if not (head.isascii() and head.isdigit()) or not 1 <= int(head) <= heads:
        raise UsageError(f"--head {head}: this attention has heads 1 to {heads}")
    return int(head) - 1


def _recipe(item: Explained, head: str, digits: int) -> str:
    """Write a target as the notes do: bank = 0.25 money + 0.70 bank + 0.05 grows.

    Without matrices that is the whole truth. With them, the word itself has the share of the
    output that it brings, and the others share the rest by their weights.
    """
    layer = item.attended.layer
    weights = item.weights.mean(0) if head == "mean" else item.weights[pick_head(head, item.heads)]
    own, share = layer.own, layer.share
    if layer.w_v is not None or layer.w_o is not None:
        own = item.contributions[1]
        share = 1 - own
    if not weights.any():
        own, share = 1.0, 0.0
    parts = (share * weights).tolist()
    tokens = number_repeats(item.tokens)
    if item.place is not None:
        parts[item.place] += own
    elif own:  # the word itself is in none of the other sentence's places
        tokens, parts = [item.target, *tokens], [own, *parts]
    return write_recipe(item.target, tokens, parts, digits)


def write_recipe(
    target: str, tokens: Sequence[str], weights: Sequence[float], digits: int = 2
) -> str:
    """Write weights as a sum; the printed ones add up.

    >>> write_recipe("bank", ["money", "bank", "grows"], [0.25, 0.70, 0.05])
    'bank = 0.25 money + 0.70 bank + 0.05 grows'
    """
    terms = [
        f"{weight} {token}"
        for token, weight in zip(tokens, round_to_total(weights, digits), strict=True)
        if weight.strip("0.") or len(tokens) == 1
    ]
    return f"{target} = {' + '.join(terms)}"


def explain_weights(
    name: str, word: str | None = None, *, recipe: bool = False, digits: int = 2
) -> Table:
    """Show hand-picked weights as explain shows computed ones."""
    tokens, targets, weights = read_weights(example(name))
    if word is not None and word not in targets:
        raise UsageError(f"--word {word}: not in {name}, which has {', '.join(targets)}")
    chosen = [row for row, target in enumerate(targets) if word in (None, target)]
    note = "an illustration: these weights are given, not computed"
    if recipe:
        rows = [(targets[r], write_recipe(targets[r], tokens, weights[r], digits)) for r in chosen]
        return Table((TARGET, RECIPE), rows, [note])
    lines = [
        (targets[row], token, place + 1, float(weights[row, place]))
        for row in chosen
        for place, token in enumerate(tokens)
    ]
    chart = draw_tokens(f"{name}: weights by hand", ["target"])
    return Table((TARGET, TOKEN, POSITION, WEIGHT), lines, [note], chart=chart)
