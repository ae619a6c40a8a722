"""Explain why a target gets its vector: every number of one attention."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from math import prod
from operator import itemgetter
from typing import cast

import numpy as np

from ctxembed.attention.layer import MATRICES, Layer
from ctxembed.attention.terms import TERMS
from ctxembed.context.columns import APART, DRAWN, POSITION, SHADED, TOKEN, WEIGHT
from ctxembed.context.networks import READ, EncoderRepresentation, RecurrentRepresentation
from ctxembed.context.parse import Parsed, check_work, parse
from ctxembed.context.representations import Representations
from ctxembed.context.sentences import (
    Sentences,
    choose_attention,
    choose_representation,
    describe_skipped,
    read_sentences,
)
from ctxembed.errors import UsageError
from ctxembed.explanation.blocks import trace_block
from ctxembed.explanation.explanation import Explanation, check_rows, pick_head, trace_targets
from ctxembed.explanation.matrices import STEPS, StepTable, list_parameters, make_steps
from ctxembed.explanation.recipe import RECIPE, SENTENCE, TARGET, write_recipe
from ctxembed.explanation.states import STATES
from ctxembed.model.attentions import TOGETHER, layer_kind
from ctxembed.model.bundled import find_example, on_model
from ctxembed.model.model import Model
from ctxembed.queries.explain_networks import HIDDEN, MAX_READ, explain_rollout, explain_states
from ctxembed.static.worked_example import read_weights
from ctxembed.table import Chart, Column, Row, Table
from ctxembed.text.tokenizer import number_repeats

MAX_ROWS = 200_000  # for one sentence
MAX_ARCS = 6  # targets that are drawn with arcs; more are drawn as a heat map
MAX_SIDE, MAX_SQUARES = 100, 20_000  # of a matrix, and of all matrices, in a picture
MATRIX_CHART = Chart("heat", ["value"], "column_name", ["dimension"], panel=["step", "head"])
HEAD = STEPS[1]
STEP = (
    Column("score", "of one head: q·k, or the cosine of the two"),
    Column("scale", "of one head: what score is multiplied by, 1/√d or a temperature"),
)
TERM = Column("TERM...", f"of one head: what each score term adds ({', '.join(TERMS)})")
SUM = Column("sum", "of one head: score times scale, and all that is added")
EXPONENTIAL = Column(
    "exponential", "of one head: e^sum; its share of all is the weight (e^(sum - largest) above 20)"
)
ROLES = (
    Column("q", "with W_Q, W_K and W_V of at most 4 numbers: the query of each word", "vector"),
    Column("k", "the same: the key of each word, which q of the target is compared with", "vector"),
    Column("v", "the same: the value of each word, which its weight multiplies", "vector"),
)
MAX_ROLES = 4  # numbers of q, k and v that are printed
PART = "share of the output along its own direction; all of them sum to 1"
CONTRIBUTION = Column("contribution", PART, "share", ("sentence", "target"))
CROSS = (
    "cross-attention: each word that the decoder writes, here of the sentence, attends to all words"
    " that the encoder has read, those of --over"
)
CAUSAL = "causal, as in a decoder: a word attends to itself and to the words before it"
CAUSAL_FIRST = (  # an attention that leaves the word out of its own weights
    "; this attention adds the word itself apart, so that the first word has no weights and keeps"
    " its static vector"
)
OWN_PART = (
    "the word itself has no weight: {:.2g} of its own vector is added apart, and its contribution"
    " is the share of this part in the output"
)
BIASES = "the last row of W_Q, W_K and W_V, and of W_O in part, holds the biases"
PART_SHOWN = (
    "learned attention is one part of the answer of compare; --attention encoder is the other"
)


@on_model(
    SENTENCE, TARGET, HEAD, TOKEN, POSITION, *ROLES, *STEP, TERM, SUM,
    EXPONENTIAL, WEIGHT, CONTRIBUTION, RECIPE,
    STEPS[0], *STEPS[2:], *STATES,
)  # fmt: skip
def explain(
    model: Model, sentences: str | Sequence[str], *, word: str | None = None,
    attention: str | None = None, general: str | None = None, heads: int = 4, seed: int = 1,
    head: str = "mean", over: str | None = None, encoding: str = "none", sort: str = "position",
    top: int | None = None, steps: bool = False, recipe: bool = False, check: bool = False,
    digits: int = 2, causal: bool = False, matrices: bool = False, layer: int | None = None,
    draw: str = DRAWN[0],
) -> Table:  # fmt: skip
    """Show why each target of sentences gets its vector: score, sum, weight, contribution.

    head: "mean" over all heads, "each" of them, or the number of one, from 1. over: another
    sentence to attend to. sort: by "position" or "weight"; top: only so many words, the heaviest.
    steps: every matrix instead. recipe: each target as a sum of itself and its context instead,
    with so many digits. check: recompute the output from the rows, and fail if it differs.
    causal: a word attends to no later word. matrices: those of the attention instead, without
    sentences; with steps, besides. layer: of an encoder, the number of one block; without it, what
    the target saw in the end. draw: contribution or weight, in a picture.
    """
    representations = Representations.of(model)
    kind = "attention" if attention is None else layer_kind(model, attention)
    if kind == "encoder":
        if over or encoding != "none" or steps or causal:
            refused = "--over, --encoding, --steps and --causal are of attention; leave them out"
            raise UsageError(f"--attention {attention}: {refused}")
        encoder = choose_representation(representations, attention, general)
        assert isinstance(encoder, EncoderRepresentation)
        if layer is None:
            if head != "mean" or check or matrices:
                message = f"choose one of {len(encoder.encoder.blocks)} layers with --layer N"
                raise UsageError(f"--attention {attention}: {message}")
            read = read_sentences(representations, sentences, word)
            return explain_rollout(encoder, read, sort, top, digits if recipe else None)
        return _explain_block(
            encoder, layer, representations, sentences, word, head, sort, top,
            digits if recipe else None, check=check, matrices=matrices, draw=draw,
        )  # fmt: skip
    if layer is not None:
        raise UsageError("--layer is of an encoder; leave it out, or give --attention encoder")
    if kind == "recurrent":
        network = choose_representation(representations, attention, general)
        assert isinstance(network, RecurrentRepresentation)
        if (
            head != "mean"
            or over
            or encoding != "none"
            or steps
            or recipe
            or check
            or causal
            or matrices
        ):
            message = "a recurrent network has no heads, weights or positions"
            raise UsageError(f"--attention {attention}: {message}; only --sort and --top apply")
        return explain_states(network, read_sentences(representations, sentences, word), sort, top)
    chosen = choose_attention(representations, attention, general, heads, seed)
    number = chosen.layer.heads
    if head not in ("mean", "each"):
        pick_head(head, number)
    if causal and over is not None:
        raise UsageError("a decoder attends to every word of --over; leave out --causal")
    if matrices and all(getattr(chosen.layer, name) is None for name in MATRICES):
        raise UsageError(f"{chosen.name} attention has no matrices. Try --attention random.")
    if matrices and not steps:
        if any(sentences) or word is not None or over is not None or causal:
            raise UsageError("--matrices needs no sentence; with --steps it shows both")
        return _list_matrices(chosen.name, chosen.layer, head, _describe_matrices(chosen.layer))
    read = read_sentences(representations, sentences, word)
    for parsed in read.parsed:
        check_work(len(parsed.occurrences), len(parsed.words), MAX_ROWS)
    other = parse(model, over) if over is not None else None
    notes = [*read.notes, *describe_skipped([other] if other else [])]
    if attention is None and chosen.name != representations.answer() == TOGETHER:
        notes.append(PART_SHOWN)
    if other is not None:
        notes.append(CROSS)
    if causal:
        notes.append(CAUSAL + (CAUSAL_FIRST if chosen.layer.skip_self else ""))
    if steps:
        if read.several:
            raise UsageError("--steps shows one sentence at a time")
        table = make_steps(
            chosen, read.parsed[0], other, encoding, head, causal=causal, parameters=matrices
        )
        return StepTable(table, notes)

    def trace(parsed: Parsed) -> Iterator[Explanation]:
        return trace_targets(chosen, parsed, over=other, encoding=encoding, causal=causal)

    return _tabulate(
        chosen.name, chosen.layer if other is None else None, number, read, trace, notes, head,
        sort, top, digits if recipe else None, check=check, draw=draw,
    )  # fmt: skip


def _tabulate(
    name: str, layer: Layer | None, number: int, read: Sentences,
    trace: Callable[[Parsed], Iterator[Explanation]], notes: list[str], head: str, sort: str,
    top: int | None, digits: int | None, *, check: bool, draw: str,
) -> Table:  # fmt: skip
    """Return a row for each word of each explanation, or each target as a sum with these digits.

    layer: the one whose q, k and v are shown, if they are few. number: of heads.
    """
    kept: list[Explanation] = []

    def explanations() -> Iterable[Explanation]:
        return kept or (item for parsed in read.parsed for item in trace(parsed))

    labels = (SENTENCE, TARGET) if read.several else (TARGET,)

    def tabulate(columns: Sequence[Column], rows: Callable[[Explanation], Iterable[Row]]) -> Table:
        def labelled() -> Iterator[Row]:
            for item in explanations():
                about = (item.sentence, item.target) if read.several else (item.target,)
                yield from ((*about, *row) for row in rows(item))

        return Table((*labels, *columns), labelled, notes, read.unknown)

    if digits is not None:
        return tabulate([RECIPE], lambda item: [(_recipe(item, head, digits),)])
    if check:
        kept = list(explanations())
        for item in kept:
            check_rows(item.rows("each"), item)
        which = "" if len(kept) == 1 else f" of all {len(kept)} targets"
        notes.append(f"checked: the rows{which} add up")
    whole = head != "mean" or number == 1
    if layer is not None and layer.skip_self and layer.own:
        notes.append(OWN_PART.format(layer.own))
    if not whole:
        notes.append(f"{number} heads: weight is the mean of theirs; --head each shows each step")
    if top is not None:
        notes.append(f"only the {top} heaviest words: their weights need not sum to 1")
    terms = next(iter(explanations())).terms if whole else []
    steps_shown = (*STEP, *TERM.each(terms), SUM, EXPONENTIAL) if whole else ()
    roles = _role_columns(layer) if whole and layer is not None else []

    def rows_of(item: Explanation) -> Iterator[Row]:
        sorted_rows = _sort(item.rows(head), sort, top)
        return _add_roles(item, sorted_rows) if roles else sorted_rows

    columns = (HEAD, TOKEN, POSITION, *roles, *steps_shown, WEIGHT, CONTRIBUTION)
    result = tabulate(columns, rows_of)
    targets = sum(len(parsed.occurrences) for parsed in read.parsed)
    chart = _draw(name, head, number, targets, [c.name for c in labels], draw)
    if head == "each":  # without the word's own part, which no head adds
        at = result.names.index("head")
        seen = Table(result.columns, lambda: (row for row in result.rows if row[at] != "own"))
        chart = replace(chart, of=lambda: seen)
    result.charts = (chart,)
    return result


def _explain_block(
    encoder: EncoderRepresentation, number: int, representations: Representations,
    sentences: str | Sequence[str], word: str | None, head: str, sort: str, top: int | None,
    digits: int | None, *, check: bool, matrices: bool, draw: str,
) -> Table:  # fmt: skip
    """Return the attention of one block of an encoder, as that of any other attention."""
    blocks = encoder.encoder.blocks
    if not 1 <= number <= len(blocks):
        raise UsageError(f"--layer {number}: this encoder has layers 1 to {len(blocks)}")
    layer, name = blocks[number - 1].as_layer(), f"{encoder.name}, layer {number}:"
    if head not in ("mean", "each"):
        pick_head(head, layer.heads)
    if matrices:
        if any(sentences) or word is not None:
            raise UsageError("--matrices needs no sentence")
        return _list_matrices(name, layer, head, [BIASES])
    read = read_sentences(representations, sentences, word)
    for parsed in read.parsed:
        check_work(len(parsed.occurrences), min(len(parsed.words), 2 * READ + 1), MAX_READ, 2)
    notes = [*read.notes, HIDDEN, f"what attention adds in layer {number}; x is what came before"]
    return _tabulate(
        name, None, layer.heads, read, lambda parsed: trace_block(encoder, parsed, number), notes,
        head, sort, top, digits, check=check, draw=draw,
    )  # fmt: skip


def _list_matrices(name: str, layer: Layer, head: str, notes: list[str]) -> StepTable:
    """Return the matrices of a layer, with a picture if they are small."""
    shown = StepTable(list_parameters(layer, head), notes)
    sizes = [step.values.shape for step in shown.steps]
    if max(map(max, sizes)) <= MAX_SIDE and sum(map(prod, sizes)) <= MAX_SQUARES:
        names = ["dimension" if c.name == "row_token" else c for c in shown.columns]
        title = f"{name} attention"
        drawn = replace(MATRIX_CHART, title=title, of=lambda: Table(names, shown.rows))
        shown.charts = (drawn,)
    return shown


def _describe_matrices(layer: Layer) -> list[str]:
    """Return a note on the matrices that a layer does without."""
    missing = [name for name in ("W_Q", "W_K", "W_V") if getattr(layer, name.lower()) is None]
    return [f"no {', '.join(missing)}: the vectors are used as they are"] if missing else []


def _draw(name: str, head: str, heads: int, targets: int, panel: Sequence[str], draw: str) -> Chart:
    """Return a chart of the sentence with arcs; a heat map for each head, or for many targets."""
    which = f", head {head}" if head.isdigit() else f", mean of {heads} heads" if heads > 1 else ""
    title = f"{name} attention{'' if head == 'each' else which}"
    if head != "each" and targets <= MAX_ARCS:
        return replace(SHADED, y=[draw], panel=panel, title=title)
    by, panel = (["head"], panel) if head == "each" else (["target"], panel[:-1])
    return Chart("heat", [draw], "token", by, panel=panel, domain=(0, 1), title=title, note=APART)


def _sort(rows: list[Row], sort: str, top: int | None) -> Iterator[Row]:
    """Yield the rows of each head, sorted by weight if wanted, only the heaviest if wanted."""
    for _, group in groupby(rows, key=itemgetter(0)):
        block = list(group)
        heaviest = sorted(block, key=lambda row: -1 if row[-2] is None else cast(float, row[-2]))
        heaviest.reverse()
        kept = {id(row) for row in heaviest[:top] if row[-2] is not None or top is None}
        yield from (row for row in (heaviest if sort == "weight" else block) if id(row) in kept)


def _role_columns(layer: Layer) -> list[Column]:
    """Return the columns q, k and v of a layer with one head of a few numbers; else none."""
    if layer.w_q is None or layer.w_k is None or layer.w_v is None or layer.heads > 1:
        return []
    sizes = [matrix.shape[2] for matrix in (layer.w_q, layer.w_k, layer.w_v)]
    if max(*sizes, layer.w_q.shape[1]) > MAX_ROLES:
        return []
    parts = [[f"{c.name}{i + 1}" for i in range(n)] for c, n in zip(ROLES, sizes, strict=True)]
    return [replace(c, parts=names) for c, names in zip(ROLES, parts, strict=True)]


def _add_roles(item: Explanation, rows: Iterable[Row]) -> Iterator[Row]:
    """Yield the rows with q, k and v of each word after its position; NaN for an unknown word."""
    layer, keys = item.attended.layer, item.attended.keys[0]
    matrices = [m[0] for m in (layer.w_q, layer.w_k, layer.w_v) if m is not None]
    empty = [np.full(matrix.shape[1], np.nan) for matrix in matrices]
    for row in rows:
        known = row[2] in item.positions
        x = keys[item.positions.index(cast(int, row[2]))] if known else None
        roles = empty if x is None else [x @ matrix for matrix in matrices]
        yield *row[:3], *roles, *row[3:]


def _recipe(item: Explanation, head: str, digits: int) -> str:
    """Return a target as a sum; with matrices, its own part is its contribution to the output."""
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
    if item.target_index is not None:
        parts[item.target_index] += own
    elif own:  # the word itself is not in the other sentence
        tokens, parts = [item.target, *tokens], [own, *parts]
    return write_recipe(item.target, tokens, parts, digits)


def explain_weights(
    name: str, word: str | None = None, *, recipe: bool = False, digits: int = 2
) -> Table:
    """Return a table of the weights in a file, like explain's of computed ones."""
    tokens, targets, weights = read_weights(find_example(name))
    if word is not None and word not in targets:
        raise UsageError(f"--word {word}: not in {name}, which has {', '.join(targets)}")
    chosen = [row for row, target in enumerate(targets) if word in (None, target)]
    note = "an illustration: these weights are given, not computed"
    if recipe:
        rows = [(targets[r], write_recipe(targets[r], tokens, weights[r], digits)) for r in chosen]
        return Table((TARGET, RECIPE), rows, [note])
    lines = [
        (targets[row], token, i + 1, float(weights[row, i]))
        for row in chosen
        for i, token in enumerate(tokens)
    ]
    chart = replace(
        SHADED, y=["weight"], panel=["target"], title=f"{name}: weights by hand", note=""
    )
    return Table((TARGET, TOKEN, POSITION, WEIGHT), lines, [note], chart=chart)
