"""Lexical substitution: which words did people put in a word's place?

SemEval-2007 task 10 (McCarthy and Navigli) and CoInCo (Kremer et al. 2014), in the format of
Melamud et al. 2015. People gave lemmas, so the target's lemma is asked about, in its sentence; of
their substitutes those of several words take no part.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ctxembed.context.parse import Occurrence
from ctxembed.context.representations import Ours, Representation, Static, representations_of
from ctxembed.errors import CorpusError
from ctxembed.evaluation import metrics
from ctxembed.evaluation.figures import Scores
from ctxembed.evaluation.items import MOST, Reader
from ctxembed.model.model import Model
from ctxembed.model.saved_senses import saved_senses
from ctxembed.progress import Progress
from ctxembed.queries.neighbors import nearest_rows
from ctxembed.queries.substitutes import FORMS, Judge, same_stem
from ctxembed.static.quantized import Small
from ctxembed.stats.vectors import Floats, unit
from ctxembed.text.lines import numbered_lines

AT_ONCE = 64  # items
GUESSES = 10  # words proposed for an item
WINDOW = 5  # words to either side that balAdd looks at
SHIPPED = "substitutes"


@dataclass(frozen=True)
class Item:
    """A target in its sentence, what people wrote in its place, and what may be ranked."""

    lemma: str
    form: str
    occurrence: Occurrence
    gold: dict[str, float]
    candidates: list[str]


@dataclass(frozen=True)
class BalAdd(Static):
    """Melamud et al. 2015: cosine with the target + mean cosine with the contexts' output vectors.

    Both are products with one vector, the sum of the two sides, all words of length 1.
    """

    output: Floats | Small  # (V, d)

    def vectors_of_known(self, occurrences: Sequence[Occurrence]) -> Floats:
        """Return (n, d) the sum of target and context; other words are compared by cosine."""
        made = unit(super().vectors_of_known(occurrences))
        for row, item in enumerate(occurrences):
            start, stop = item.target.start, item.target.stop
            around = [*item.ids[max(0, start - WINDOW) : start], *item.ids[stop : stop + WINDOW]]
            if around:
                made[row] += unit(np.asarray(self.output[around])).mean(axis=0)
        return made


def substitution(
    model: Model,
    files: tuple[str, str],
    candidates: str | None,
    ways: Sequence[Representation],
    seed: int,
    progress: Progress,
) -> tuple[list[Scores], list[str]]:
    """Score candidates by GAP, and the words that each representation proposes by itself."""
    items = list(_read(model, *files, candidates))
    if not items:
        raise CorpusError(f"{files[0]}: no item of it has a substitute of one word in {files[1]}")
    rng = np.random.default_rng(seed)
    scored = list(ways)
    if model.output is not None:
        scored.append(BalAdd("balAdd", model.space, model.output))
    values: dict[str, dict[str, Floats]] = {}  # way -> metric -> (n,)
    with progress.stage("substitution", len(scored) + 1, "representation") as stage:
        for way in scored:
            values[way.name] = _score(model, items, way, rng)
            stage.advance()
        values[SHIPPED] = _score_shipped(model, items, rng)
        stage.advance()
    missing = sum(not len(item.occurrence.target) for item in items)
    name = Path(files[0]).name.split(".")[0]
    ambiguous = np.array([_has_senses(model, item.lemma) for item in items])
    parts = [(name, np.ones(len(items), np.bool_)), (f"{name}, saved senses", ambiguous)]
    sets, notes = [], list[str]()
    for label, some in parts:
        if not some.any():
            continue
        scores, weights = Scores(label, int(some.sum())), metrics.draw(int(some.sum()), rng)
        for way_name, by_metric in values.items():
            figures = {m: metrics.proportion(v[some], weights) for m, v in by_metric.items()}
            scores.add(way_name, figures, missing if some.all() else 0)
        sets.append(scores)
        notes += _differences(scores)
    return sets, notes


def _differences(scores: Scores) -> Iterator[str]:
    """Tell how far what substitutes answers with is ahead of the static vector, in pairs."""
    for metric, by_way in scores.figures.items():
        if "static" in by_way and metric in ("gap", "p_at_1", "r_at_10"):
            ours, static = by_way[SHIPPED], by_way["static"]
            low, high = np.quantile(ours.centred() - static.centred(), [0.025, 0.975])
            gap = ours.value - static.value
            paired = f"paired {low:+.4f} to {high:+.4f}"
            yield f"{scores.name}: {metric} of {SHIPPED} {gap:+.4f} over static, {paired}"


def _score(
    model: Model, items: Sequence[Item], way: Representation, rng: np.random.Generator
) -> dict[str, Floats]:
    """Rank by the cosine with the contextual vector, candidates and all words."""
    vectors = unit(way.vectors([item.occurrence for item in items]))
    made: dict[str, Floats] = {}
    rows = [[model.vocabulary.find(word) for word in item.candidates] for item in items]
    distinct = sorted({row for some in rows for row in some if row is not None})
    if distinct:
        alone = dict(zip(distinct, unit(way.alone(distinct)), strict=True))
        ratings = [
            np.array([np.nan if r is None else alone[r] @ vector for r in some])
            for some, vector in zip(rows, vectors, strict=True)
        ]
        made["gap"] = _gaps(items, ratings, rng)
    if isinstance(way, Ours):
        made |= _free(items, list(_nearest(model, items, way, vectors)))
    elif way.name == "random":
        draws = [rng.integers(len(model.vocabulary), size=GUESSES) for _ in items]
        made |= _free(items, [[model.vocabulary.words[row] for row in some] for some in draws])
    return made


def _nearest(
    model: Model, items: Sequence[Item], way: Ours, vectors: Floats
) -> Iterator[list[str]]:
    """Yield the words nearest to each vector; a form of the target itself is no answer."""
    for first in range(0, len(items), AT_ONCE):
        block = items[first : first + AT_ONCE]
        known = np.nan_to_num(vectors[first : first + AT_ONCE])
        near = nearest_rows(model, known, GUESSES + FORMS, space=way.inputs)
        for item, best in zip(block, near, strict=True):
            words = [model.vocabulary.words[row] for row, _ in best]
            yield [] if not len(item.occurrence.target) else _no_form(words, item)


def _score_shipped(
    model: Model, items: Sequence[Item], rng: np.random.Generator
) -> dict[str, Floats]:
    """Rank as the command does."""
    representations = representations_of(model)
    way = representations.get(representations.default())
    ratings: list[Floats] = [np.full(len(item.candidates), np.nan) for item in items]
    guesses: list[list[str]] = [[] for _ in items]
    known = [place for place, item in enumerate(items) if len(item.occurrence.target)]
    for first in range(0, len(known), AT_ONCE):
        block = known[first : first + AT_ONCE]
        asked = [items[place].occurrence for place in block]
        vectors = way.vectors(asked)
        judge = Judge.of(representations, asked, vectors)
        for row, place in enumerate(block):
            best = judge.rate(row, way, vectors[row]).best(GUESSES + FORMS)
            guesses[place] = _no_form(
                [model.vocabulary.words[found] for found, _ in best], items[place]
            )
            rows = [model.vocabulary.find(word) for word in items[place].candidates]
            given = np.array([r for r in rows if r is not None], np.intp)
            if len(given):
                rated = judge.rate(row, way, vectors[row], given).fits.sum(axis=1)
                ratings[place][[r is not None for r in rows]] = rated
    made = {"gap": _gaps(items, ratings, rng)} if any(i.candidates for i in items) else {}
    return made | _free(items, guesses)


def _no_form(words: Sequence[str], item: Item) -> list[str]:
    own = (item.lemma, item.form)
    return [w for w in words if w not in own and not any(same_stem(w, o) for o in own)][:GUESSES]


def _gaps(items: Sequence[Item], ratings: Sequence[Floats], rng: np.random.Generator) -> Floats:
    """Return (n,) each item's GAP; words without a vector come last, in any order."""
    values = []
    for item, rated in zip(items, ratings, strict=True):
        any_order = rng.permutation(len(rated))
        order = any_order[np.argsort(-np.nan_to_num(rated[any_order], nan=-np.inf), kind="stable")]
        values.append(
            average_precision(
                [item.gold.get(item.candidates[i], 0.0) for i in order], list(item.gold.values())
            )
        )
    return np.array(values)


def average_precision(ranked: Sequence[float], gold: Sequence[float]) -> float:
    """Return the generalised average precision (Kishida 2005) of the weights in ranked order.

    >>> round(average_precision([0, 3, 1], [3, 1]), 4)  # (3/2 + 4/3) / (3/1 + 4/2)
    0.5667
    """

    def total(weights: Sequence[float]) -> float:
        means = np.cumsum(weights) / np.arange(1, len(weights) + 1)
        return float(means[np.asarray(weights) > 0].sum())

    return total(ranked) / total(sorted(gold, reverse=True)) if ranked else 0.0


def _free(items: Sequence[Item], guesses: Sequence[Sequence[str]]) -> dict[str, Floats]:
    """Score proposed words: precision and recall of the first ones, and the task's best and oot."""
    rows = []
    for item, words in zip(items, guesses, strict=True):
        hits = [item.gold.get(word, 0.0) for word in words[:GUESSES]] + [0.0] * GUESSES
        total = sum(item.gold.values())
        found = [hit > 0 for hit in hits]
        rows.append(
            (
                float(found[0]),
                sum(found[:3]) / 3,
                sum(found[:GUESSES]) / len(item.gold),
                hits[0] / total,
                sum(hits[:GUESSES]) / total,
            )
        )
    names = ("p_at_1", "p_at_3", "r_at_10", "best", "oot")
    return dict(zip(names, np.array(rows).T, strict=True))


def _has_senses(model: Model, lemma: str) -> bool:
    saved = saved_senses(model, lemma)
    return saved is not None and saved.number > 1


def _read(model: Model, data: str, gold: str, candidates: str | None) -> Iterator[Item]:
    """Yield the items that have gold; what has several words is left out of gold and ranking."""
    reader = Reader(model)

    def single(word: str, lemma: str) -> bool:
        return len(model.vocabulary.tokenizer.words(word)) == 1 and word.lower() != lemma

    people = dict(_read_gold(gold))
    ranked = dict(_read_candidates(candidates)) if candidates else {}
    for number, line in numbered_lines(data, MOST):
        try:
            target, key, place, text = line.split("\t")
            words, lemma = text.split(), target.rsplit(".", 1)[0].lower()
            form = words[int(place)]
        except (ValueError, IndexError):
            raise CorpusError(
                f"{data}: line {number}: expected target.pos, id, place of the target and the"
                " sentence, between tabs"
            ) from None
        written = people.get((target, key), {})
        kept = {word: weight for word, weight in written.items() if single(word, lemma)}
        if kept:
            asked = [*words[: int(place)], lemma, *words[int(place) + 1 :]]
            known = reader.item([lemma], range(1)).target
            item = reader.item(asked if len(known) else words, range(int(place), int(place) + 1))
            among = [w for w in dict.fromkeys(ranked.get(target, [])) if single(w, lemma)]
            yield Item(lemma, form.lower(), item, kept, among)


def _read_gold(path: str) -> Iterator[tuple[tuple[str, str], dict[str, float]]]:
    for number, line in numbered_lines(path, MOST):
        try:
            head, _, rest = line.partition("::")
            target, key = head.split()
            pairs = (part.rsplit(" ", 1) for part in rest.strip().split(";") if part.strip())
            yield (target, key), {word.strip(): float(count) for word, count in pairs}
        except ValueError:
            raise CorpusError(
                f"{path}: line {number}: expected 'target.pos id :: substitute count;...'"
            ) from None


def _read_candidates(path: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the candidates of each target; a byte that is no UTF-8 spoils its word only."""
    for number, line in numbered_lines(path, MOST, errors="replace"):
        target, found, rest = line.partition("::")
        if not found:
            raise CorpusError(f"{path}: line {number}: expected 'target.pos::a;b;c'")
        yield target, [word.strip() for word in rest.split(";") if word.strip()]
