"""Lexical substitution: which words did people write instead of a word?

SemEval-2007 task 10 (McCarthy and Navigli) and CoInCo (Kremer et al. 2014), in the format of
Melamud et al. 2015. People wrote lemmas, so the target's lemma is put into its sentence.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ctxembed.context.nearest import nearest_rows
from ctxembed.context.parse import Occurrence
from ctxembed.context.representation import ModelRepresentation, Representation, Static
from ctxembed.context.representations import Representations
from ctxembed.errors import CorpusError
from ctxembed.evaluation import metrics
from ctxembed.evaluation.figures import Scores
from ctxembed.evaluation.items import MAX_LINES, Reader, expect
from ctxembed.evaluation.senses import words_around
from ctxembed.explanation.substitutes import FORMS, SubstituteRanker, same_stem
from ctxembed.model.model import Model
from ctxembed.model.saved_senses import saved_senses
from ctxembed.progress import Progress
from ctxembed.queries.define import find_related
from ctxembed.static.space import Quantized
from ctxembed.stats.vectors import Floats, unit
from ctxembed.text.lines import numbered_lines

BATCH_SIZE = 64  # items
GUESSES = 10  # words proposed for an item
WINDOW = 5  # words to either side that balAdd looks at
COMMAND = "substitutes"  # the ranking of the command of this name


@dataclass(frozen=True)
class Item:
    """A target in its sentence, what people wrote instead, and the candidates to rank."""

    lemma: str
    form: str
    occurrence: Occurrence
    gold: dict[str, float]
    candidates: list[str]


@dataclass(frozen=True)
class BalAdd(Static):
    """Melamud et al. 2015: the target's vector plus the mean of its contexts' output vectors."""

    output: Floats | Quantized  # (V, d)

    def vectors(self, occurrences: Sequence[Occurrence]) -> Floats:
        """Return (n, d) the sum of each target's vector and the mean of its context's."""
        vectors = unit(super().vectors(occurrences))
        for row, item in enumerate(occurrences):
            context = np.concatenate(words_around(item, WINDOW))
            if len(context):
                vectors[row] += unit(np.asarray(self.output[context])).mean(axis=0)
        return vectors


def substitution(
    reader: Reader, files: Sequence[str], candidates: str | None,
    representations: Sequence[Representation], seed: int, progress: Progress,
) -> tuple[list[Scores], list[str]]:  # fmt: skip
    """Return the scores of ranked candidates (GAP) and of words proposed freely; and notes."""
    data, gold = files
    model, items = reader.model, list(_read(reader, data, gold, candidates))
    if not items:
        raise CorpusError(f"{data}: no item of it has a substitute of one word in {gold}")
    rng = np.random.default_rng(seed)
    scored = list(representations)
    if model.output is not None:
        scored.append(BalAdd("balAdd", model.space, model.output))
    values: dict[str, dict[str, Floats]] = {}  # representation -> metric -> (n,)
    with progress.stage("substitution", len(scored) + 1, "representation") as stage:
        for representation in scored:
            values[representation.name] = _score(model, items, representation, rng)
            stage.advance()
        values[COMMAND] = _score_command(model, items, rng)
        stage.advance()
    missing = sum(not len(item.occurrence.target) for item in items)
    saved = [saved_senses(model, item.lemma) for item in items]
    ambiguous = np.array([senses is not None and senses.number > 1 for senses in saved])
    name = Path(data).name.split(".")[0]
    parts = [(name, np.ones(len(items), np.bool_)), (f"{name}, saved senses", ambiguous)]
    sets, notes = [], list[str]()
    for label, some in parts:
        if not some.any():
            continue
        number = int(some.sum())
        scores, weights = Scores(label, number), metrics.resample(number, rng)
        for key, by_metric in values.items():
            figures = {m: metrics.proportion(v[some], weights) for m, v in by_metric.items()}
            scores.add(key, figures, missing if some.all() else 0)
        sets.append(scores)
        notes += _differences(scores)
    return sets, notes


def _differences(scores: Scores) -> Iterator[str]:
    """Yield notes: how far the command `substitutes` is better than static vectors, in pairs."""
    for metric, figures in scores.figures.items():
        if "static" in figures and metric in ("gap", "p_at_1", "r_at_10"):
            command, static = figures[COMMAND], figures["static"]
            low, high = np.quantile(command.centred() - static.centred(), [0.025, 0.975])
            gap, paired = command.value - static.value, f"paired {low:+.4f} to {high:+.4f}"
            yield f"{scores.name}: {metric} of {COMMAND} {gap:+.4f} over static, {paired}"


def _score(
    model: Model, items: Sequence[Item], representation: Representation, rng: np.random.Generator
) -> dict[str, Floats]:
    """Return the metrics (n,) of ranking by cosine with the contextual vector."""
    vectors = unit(representation.vectors([item.occurrence for item in items]))
    values: dict[str, Floats] = {}
    rows = [[model.vocabulary.find(word) for word in item.candidates] for item in items]
    distinct = sorted({row for some in rows for row in some if row is not None})
    if distinct:
        alone = dict(zip(distinct, unit(representation.alone(distinct)), strict=True))
        ratings = [
            np.array([np.nan if r is None else alone[r] @ vector for r in some])
            for some, vector in zip(rows, vectors, strict=True)
        ]
        values["gap"] = _gaps(items, ratings, rng)
    words = model.vocabulary.words
    if isinstance(representation, ModelRepresentation):
        guesses: list[list[str]] = []
        for first in range(0, len(items), BATCH_SIZE):
            known = np.nan_to_num(vectors[first : first + BATCH_SIZE])
            near = nearest_rows(model, known, GUESSES + FORMS, space=representation.inputs)
            for item, best in zip(items[first : first + BATCH_SIZE], near, strict=True):
                proposed = [words[row] for row, _ in best] if len(item.occurrence.target) else []
                guesses.append(_without_forms(proposed, item))
        values |= _score_guesses(items, guesses)
    elif representation.name == "random":
        draws = [rng.integers(len(model.vocabulary), size=GUESSES) for _ in items]
        values |= _score_guesses(items, [[words[row] for row in some] for some in draws])
    return values


def _score_command(model: Model, items: list[Item], rng: np.random.Generator) -> dict[str, Floats]:
    """Return the metrics (n,) of ranking as the command `substitutes` does."""
    representations = Representations.of(model)
    representation = representations.get(representations.answer())
    ratings: list[Floats] = [np.full(len(item.candidates), np.nan) for item in items]
    guesses: list[list[str]] = [[] for _ in items]
    known = [number for number, item in enumerate(items) if len(item.occurrence.target)]
    for first in range(0, len(known), BATCH_SIZE):
        batch = known[first : first + BATCH_SIZE]
        occurrences = [items[number].occurrence for number in batch]
        vectors = representation.vectors(occurrences)
        related = find_related(model, occurrences)
        ranker = SubstituteRanker.of(representations, occurrences, vectors, related=related)
        for row, number in enumerate(batch):
            item, vector = items[number], vectors[row]
            best = ranker.rank(row, representation, vector).best(GUESSES + FORMS)
            guesses[number] = _without_forms([model.vocabulary.words[r] for r, _ in best], item)
            rows = [model.vocabulary.find(word) for word in item.candidates]
            known_rows = np.array([r for r in rows if r is not None], np.intp)
            if len(known_rows):
                fits = ranker.rank(row, representation, vector, known_rows).fits.sum(axis=1)
                ratings[number][[r is not None for r in rows]] = fits
    values = {"gap": _gaps(items, ratings, rng)} if any(i.candidates for i in items) else {}
    return values | _score_guesses(items, guesses)


def _without_forms(words: Sequence[str], item: Item) -> list[str]:
    """Return the first words that are no form of the target itself."""
    own = (item.lemma, item.form)
    return [w for w in words if w not in own and not any(same_stem(w, o) for o in own)][:GUESSES]


def _gaps(items: Sequence[Item], ratings: Sequence[Floats], rng: np.random.Generator) -> Floats:
    """Return (n,) the GAP of each item; words without a vector come last, in random order."""
    values = []
    for item, rated in zip(items, ratings, strict=True):
        shuffled = rng.permutation(len(rated))
        order = shuffled[np.argsort(-np.nan_to_num(rated[shuffled], nan=-np.inf), kind="stable")]
        ranked = [item.gold.get(item.candidates[i], 0.0) for i in order]
        values.append(average_precision(ranked, list(item.gold.values())))
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


def _score_guesses(items: Sequence[Item], guesses: Sequence[Sequence[str]]) -> dict[str, Floats]:
    """Return the metrics (n,) of proposed words: precision and recall, and the task's best, oot."""
    rows = []
    for item, words in zip(items, guesses, strict=True):
        hits = [item.gold.get(word, 0.0) for word in words[:GUESSES]] + [0.0] * GUESSES
        total, right = sum(item.gold.values()), [hit > 0 for hit in hits]
        recall, oot = sum(right[:GUESSES]) / len(item.gold), sum(hits[:GUESSES]) / total
        rows.append((float(right[0]), sum(right[:3]) / 3, recall, hits[0] / total, oot))
    names = ("p_at_1", "p_at_3", "r_at_10", "best", "oot")
    return dict(zip(names, np.array(rows).T, strict=True))


def _read(reader: Reader, data: str, gold: str, candidates: str | None) -> Iterator[Item]:
    """Yield the items that have gold; what has several words is left out of gold and ranking."""

    def single(word: str, lemma: str) -> bool:
        return len(reader.model.vocabulary.tokenizer.words(word)) == 1 and word.lower() != lemma

    answers = dict(_read_gold(reader, gold))
    ranked = dict(_read_candidates(reader, candidates)) if candidates else {}
    for number, line in reader.lines(data):
        columns = "target.pos, id, place of the target and the sentence"
        with expect(f"{columns}, between tabs", data, number):
            target, key, position, text = line.split("\t")
            words, lemma, at = text.split(), target.rsplit(".", 1)[0].lower(), int(position)
            form = words[at]
        written = answers.get((target, key), {})
        kept = {word: weight for word, weight in written.items() if single(word, lemma)}
        if kept:
            if len(reader.item([lemma], range(1)).target):
                words = [*words[:at], lemma, *words[at + 1 :]]
            item = reader.item(words, range(at, at + 1))
            among = [w for w in dict.fromkeys(ranked.get(target, [])) if single(w, lemma)]
            yield Item(lemma, form.lower(), item, kept, among)


def _read_gold(reader: Reader, path: str) -> Iterator[tuple[tuple[str, str], dict[str, float]]]:
    """Yield target and id of each item, with the count of each substitute."""
    for number, line in reader.lines(path):
        with expect("'target.pos id :: substitute count;...'", path, number):
            head, _, rest = line.partition("::")
            target, key = head.split()
            pairs = (part.rsplit(" ", 1) for part in rest.strip().split(";") if part.strip())
            yield (target, key), {word.strip(): float(count) for word, count in pairs}


def _read_candidates(reader: Reader, path: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the candidates of each target; a byte that is not UTF-8 damages its word only."""
    decoding = replace(reader.decoding, errors="replace")
    for number, line in numbered_lines(path, MAX_LINES, decoding):
        with expect("'target.pos::a;b;c'", path, number):
            target, rest = line.split("::", 1)
        yield target, [word.strip() for word in rest.split(";") if word.strip()]
