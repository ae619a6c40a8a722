"""Answer `decide`: for which words one vector is enough, and where context pays what it costs."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

import numpy as np

from ctxembed.context.occurrences import no_corpus
from ctxembed.context.parse import Occurrence
from ctxembed.context.representation import Representation
from ctxembed.context.representations import Representations
from ctxembed.context.sentences import open_encoders
from ctxembed.errors import CorpusError, ModelError, UsageError
from ctxembed.evaluation.cost import measure_milliseconds, megabytes
from ctxembed.evaluation.items import Reader
from ctxembed.evaluation.metrics import (
    Figure,
    mean_figure,
    nearest_centroid,
    paired_p,
    proportion,
    resample,
)
from ctxembed.evaluation.pseudowords import pair_with_words
from ctxembed.evaluation.senses import Labelled, predict_folds, read_labelled
from ctxembed.evaluation.tfidf import TfIdf
from ctxembed.model.bundled import on_model
from ctxembed.model.model import Model
from ctxembed.progress import SILENT, Progress
from ctxembed.queries.ambiguity import ambiguity
from ctxembed.stats.k_means import Labels
from ctxembed.stats.vectors import unit
from ctxembed.table import Cell, Chart, Column, Table
from ctxembed.text.lines import Decoding

ALL = "all words"
# From cheap to dear; attentions of tasks come before the encoder, transformers last.
CHEAP, DEAR = ("bag", "tfidf", "general", "recurrent", "learned"), ("encoder", "together")
PARTNERS = 24  # words that a word is merged with, without labels
MAX_P, MIN_GAIN = 0.05, 0.02  # a dearer representation pays from this p and gain in accuracy on
MIN_ITEMS = 10  # labelled sentences of a word
FOLDS = 5
DECIDE = (
    Column("word", "the word; `all words` is the mean", "label"),
    Column("items", "sentences asked about"),
    Column("representation", "static, bag, tfidf, general, learned or a name, cheapest first",
           "label"),
    Column("accuracy", "which sense is it, or which of two merged words? By the nearest centroid"),
    Column("low", "lower end of its 95 % bootstrap interval"), Column("high", "upper end"),
    Column("p", "two-sided p of a paired bootstrap test against the chosen one; of the chosen,"
           " against the best of the cheaper ones", "chance"),
    Column("milliseconds", "for a target, on this machine, many at a time"),
    Column("megabytes", "of the files that it needs"),
    Column("several", "probability that the word has two senses or more, as `ambiguity` has it",
           "aside"),
    Column("verdict", "enough: the cheapest that no more expensive one beats; worse, or lower but"
           " not significantly; no better: as good or higher, but by too little", "label"),
)  # fmt: skip
DOTS = Chart(
    "dots", ["accuracy"], label=["representation"], panel=["word"], low="low", high="high",
    title="accuracy with its 95 % interval",
)  # fmt: skip
CONDITION = re.compile(r"\s*([\w.+-]+)\s*(<=?)\s*([\w.+-]+)\s*")


@dataclass(frozen=True)
class Choice:
    """The figures of each representation for one word, cheapest first, and the chosen one."""

    word: str
    items: int
    figures: dict[str, Figure]  # by representation
    chosen: str
    p: dict[str, float]  # against the chosen one
    several: float = np.nan  # probability of two senses or more

    def verdict(self, name: str) -> str:
        """Return what is to be said of a representation for this word."""
        if name == self.chosen:
            return "enough"
        lower = self.figures[name].value < self.figures[self.chosen].value
        if not lower:
            return "no better"
        return "worse" if self.p[name] <= MAX_P else "lower, not significantly"


@on_model(*DECIDE)
def decide(
    model: Model, words: str | Sequence[str] = (), *,
    labelled: str | Path | Sequence[str | Path] = (), encoders: Sequence[Representation | str] = (),
    by_word: bool = False, fail_if: str | Sequence[str] = (), encoding: str = "utf-8",
    errors: str = "strict", seed: int = 1, progress: Progress = SILENT,
) -> Table:  # fmt: skip
    """Return for which words static is enough, the bag is, or attention or an encoder pays.

    Of several words there is a row for each, of what is enough, and all rows of their mean.

    words: those that matter; with labelled sentences, all that these have by default.
    labelled: files of label and sentence with [target], or folders as of CoarseWSD-20. Without
    them, each word is merged with other words of the corpus, and the question is which it was.
    by_word: return all rows of each word.
    fail_if: conditions on the mean of all words: "learned<bag" if significantly worse,
    "learned<=bag" if not significantly better, "learned<0.8" for a figure. Those that hold are in
    the table's `failed`.
    """
    words = [words] if isinstance(words, str) else list(words)
    files = [labelled] if isinstance(labelled, str | Path) else list(labelled)
    if not words and not files:
        raise UsageError("give the words that matter, or labelled sentences with --labelled FILE")
    conditions = [
        _read_condition(text) for text in ([fail_if] if isinstance(fail_if, str) else fail_if)
    ]
    known = Representations.of(model)
    own: list[Representation] = [known.get(name) for name in known.names() if name != "static"]
    own = [*sorted([TfIdf(), *own], key=_cost), *open_encoders(encoders, model)]
    scored = list({item.name: item for item in own}.values())
    names = ["static", *(item.name for item in scored)]
    for text, one, _, other in conditions:
        if missing := [
            name for name in (one, other) if isinstance(name, str) and name not in names
        ]:
            raise UsageError(f"--fail-if {text}: no {missing[0]!r}; there are {', '.join(names)}")
    unknown: list[str] = []
    if files:
        reader = Reader(model, Decoding(encoding, errors))
        sets = _read_sets(reader, [Path(file) for file in files], words, unknown)
        several, unsure = dict[str, float](), list[str]()
    else:
        if model.index is None:
            raise ModelError(f"{no_corpus(model)}; or give sentences with --labelled FILE")
        kept, _, unknown = model.vocabulary.keep_known(words)
        judged = ambiguity(model, kept, progress=progress).records()
        several = {row["word"]: row["probability"] for row in judged if row["senses"]}
        unsure = [row["word"] for row in judged if row["verdict"] == "unsure"]
        rare = [row["word"] for row in judged if not row["senses"]]
        unknown = [*unknown, *(f"{word!r} occurs too rarely to decide about" for word in rare)]
        order = [word for word in dict.fromkeys(kept) if word in several]
        sets = [(word, pair_with_words(model, word, PARTNERS, seed)) for word in order]
    choices = []
    with progress.stage("deciding", len(sets), "words") as stage:
        for word, parts in sets:
            choices.append(_choose(word, parts, scored, several.get(word, np.nan), seed))
            stage.advance()
    if not choices:
        raise CorpusError("no word is left to decide about")
    if len(choices) > 1:
        choices.append(_mean(choices))
    some = [item for _, parts in sets for part in parts for item in part.items]
    costs = {
        "static": (measure_milliseconds(known.get("static"), some), megabytes(model, "static"))
    }
    costs |= {
        item.name: (measure_milliseconds(item, some), megabytes(model, item)) for item in scored
    }
    rows = [
        row
        for choice in choices
        for row in _rows(choice, costs)
        if by_word or choice is choices[-1] or row[-1] == "enough"
    ]
    table = Table(DECIDE, rows, _evidence(choices, costs, unsure), unknown, DOTS)
    table.lead = lambda: [_sentence(choices), ""]
    table.failed = [
        f"--fail-if {text}: {_explain(choices[-1], one, sign, other)}"
        for text, one, sign, other in conditions
        if _holds(choices[-1], one, sign, other)
    ]
    return table


def _cost(item: Representation) -> tuple[int, int]:
    """Return the sort key from cheap to dear; measured times would differ from run to run."""
    if item.name in CHEAP:
        return 0, CHEAP.index(item.name)
    return (2, DEAR.index(item.name)) if item.name in DEAR else (1, 0)


def _read_condition(text: str) -> tuple[str, str, str, str | float]:
    """Return a condition such as learned<bag: its text, a name, < or <=, a name or a number."""
    if not (match := CONDITION.fullmatch(text)):
        raise UsageError(f"--fail-if {text!r}: write learned<bag, learned<=bag or learned<0.8")
    one, sign, other = match.groups()
    try:
        number = float(other)
    except ValueError:
        return text, one, sign, other
    if not 0 <= number <= 1:
        raise UsageError(f"--fail-if {text!r}: an accuracy is a number from 0 to 1")
    return text, one, sign, number


def _holds(choice: Choice, one: str, sign: str, other: str | float) -> bool:
    """Return whether a representation is below another one, or below a number."""
    figure = choice.figures[one]
    if isinstance(other, float):
        return figure.value < other or (sign == "<=" and figure.value == other)
    reference = choice.figures[other]
    sure = paired_p(figure, reference) <= MAX_P
    below = figure.value < reference.value
    return sure and below if sign == "<" else below or not sure


def _explain(choice: Choice, one: str, sign: str, other: str | float) -> str:
    """Return what is so where a condition holds, with its figures."""
    where = "on the mean of all words" if choice.word == ALL else f"for {choice.word}"
    value = choice.figures[one].value
    if isinstance(other, float):
        return f"{one} has {value:.3f} {where}"
    said = "significantly worse" if sign == "<" else "not significantly better"
    p = paired_p(choice.figures[one], choice.figures[other])
    against = f"{value:.3f} against {choice.figures[other].value:.3f}, p {p:.3f}"
    return f"{one} is {said} than {other} {where} ({against})"


def _read_sets(
    reader: Reader, files: Sequence[Path], words: Sequence[str], left_out: list[str]
) -> list[tuple[str, list[Labelled]]]:
    """Return the labelled sentences of each word; a file may have several words."""
    wanted = {" ".join(reader.model.vocabulary.tokenizer.words(word)) for word in words}
    sets: list[tuple[str, list[Labelled]]] = []
    for data in (data for file in files for data in read_labelled(reader, file)):
        targets = [_target(item) for item in data.items]
        usual = Counter(targets)
        forms = [word for word, number in usual.items() if number >= MIN_ITEMS]
        if (data.folds < 0).any() or len(forms) < 2:  # one word, in its forms
            if not wanted or wanted & {data.name, *usual}:
                sets.append((data.name, [data]))
            continue
        for word in sorted(forms):
            if wanted and word not in wanted:
                continue
            rows = [row for row, target in enumerate(targets) if target == word]
            sets.append((word, [_part(data, word, rows)]))
        if few := len(usual) - len(forms):
            left_out_words = f"{few} words have fewer than {MIN_ITEMS} labelled sentences"
            left_out += [] if wanted else [f"{data.name}: {left_out_words}"]
    missing = wanted - {word for word, _ in sets} if words else set()
    left_out += [f"{word!r}: no labelled sentences of it" for word in sorted(missing)]
    return sets


def _target(item: Occurrence) -> str:
    """Return the target of an occurrence as it was written, in small letters."""
    assert item.written is not None
    return " ".join(item.written.words[at] for at in item.written.target).lower()


def _part(data: Labelled, word: str, rows: Sequence[int]) -> Labelled:
    """Return some labelled occurrences, with folds and labels of their own."""
    _, labels = np.unique(data.labels[list(rows)], return_inverse=True)
    folds = np.zeros(len(rows), np.intp)
    for label in np.unique(labels):
        mine = np.flatnonzero(labels == label)
        folds[mine] = np.arange(len(mine)) % FOLDS
    return Labelled(word, [data.items[row] for row in rows], labels, folds)


def _choose(
    word: str, parts: Sequence[Labelled], scored: Sequence[Representation], several: float,
    seed: int,
) -> Choice:  # fmt: skip
    """Return the figures of each representation for a word, and the cheapest that is enough."""
    right: dict[str, list[Labels]] = {"static": [], **{item.name: [] for item in scored}}
    for data in parts:
        gold, frequent = data.labels[data.folds >= 0], _most_frequent(data)
        right["static"].append(frequent == gold)  # one vector: one answer
        for item in scored:
            vectors = unit(item.vectors(data.items))
            test = vectors[data.folds >= 0]
            answers = predict_folds(nearest_centroid, data, vectors, test, frequent)
            right[item.name].append(answers == gold)
    joined = {name: np.concatenate(some) for name, some in right.items()}
    number = len(joined["static"])
    weights = resample(number, np.random.default_rng([seed, crc32(word.encode())]))
    figures = {name: proportion(some, weights) for name, some in joined.items()}
    return _decide(word, number, figures, several)


def _most_frequent(data: Labelled) -> Labels:
    """Return for each test item the most frequent label of those it may be trained on."""
    folds = data.folds[data.folds >= 0]
    best = {fold: np.bincount(data.labels[data.folds != fold]).argmax() for fold in set(folds)}
    return np.array([best[fold] for fold in folds], np.intp)


def _decide(word: str, items: int, figures: dict[str, Figure], several: float) -> Choice:
    """Return the choice: the cheapest representation that no dearer one surely beats.

    A word of one sense needs no context, whatever the merged words of a pseudoword need.
    """
    names = list(figures)
    chosen = "static" if several < 0.5 else next(
        name
        for at, name in enumerate(names)
        if not any(_beats(figures[dearer], figures[name]) for dearer in names[at + 1 :])
    )  # fmt: skip
    p = {name: paired_p(figure, figures[chosen]) for name, figure in figures.items()}
    cheaper = names[: names.index(chosen)]
    p[chosen] = p[max(cheaper, key=lambda name: figures[name].value)] if cheaper else np.nan
    return Choice(word, items, figures, chosen, p, several)


def _beats(one: Figure, other: Figure) -> bool:
    """Return whether a representation gains enough over another one, and surely."""
    return one.value - other.value >= MIN_GAIN and paired_p(one, other) <= MAX_P


def _mean(choices: Sequence[Choice]) -> Choice:
    """Return the choice for the mean of all words."""
    names = choices[0].figures
    figures = {name: mean_figure([item.figures[name] for item in choices]) for name in names}
    chances = [item.several for item in choices]
    several = float(np.mean(chances)) if all(chance < 0.5 for chance in chances) else np.nan
    return _decide(ALL, sum(item.items for item in choices), figures, several)


def _rows(
    choice: Choice, costs: dict[str, tuple[float, float | None]]
) -> Iterator[tuple[Cell, ...]]:
    """Yield a row for each representation."""
    several = None if np.isnan(choice.several) else choice.several
    for name, figure in choice.figures.items():
        p = None if np.isnan(choice.p[name]) else choice.p[name]
        yield (
            choice.word, choice.items, name, figure.value, *figure.interval(), p, *costs[name],
            several, choice.verdict(name),
        )  # fmt: skip


def _sentence(choices: Sequence[Choice]) -> str:
    """Return the verdict in one sentence."""
    words = [item for item in choices if item.word != ALL]
    chosen: dict[str, list[str]] = {}
    for item in words:
        chosen.setdefault(item.chosen, []).append(item.word)
    if len(words) == 1:
        return f"For {words[0].word}, {words[0].chosen} {_verb(words[0].chosen)}."
    parts = [
        f"{name} {_verb(name)} for {len(chosen[name])} ({_list(chosen[name])})"
        for name in choices[0].figures
        if name in chosen
    ]
    mean = choices[-1].chosen
    return f"Of {len(words)} words, {'; '.join(parts)}. On their mean, {mean} {_verb(mean)}."


def _verb(name: str) -> str:
    """Return what is said of a representation that was chosen: what costs little, or more."""
    return "is enough" if name in ("static", "bag", "tfidf") else "pays"


def _list(words: Sequence[str], most: int = 12) -> str:
    return ", ".join(words[:most]) + (", ..." if len(words) > most else "")


def _evidence(
    choices: Sequence[Choice], costs: dict[str, tuple[float, float | None]], unsure: Sequence[str]
) -> list[str]:
    """Return notes under the table: the mean accuracies with their intervals, and the costs."""
    last = choices[-1]
    shown = []
    for name, figure in last.figures.items():
        low, high = figure.interval()
        shown.append(f"{name} {figure.value:.3f} ({low:.3f} to {high:.3f})")
    notes = [f"accuracy, {last.word}: {', '.join(shown)}"]
    chosen, one = last.chosen, costs[last.chosen]
    size = "" if one[1] is None else f" and {one[1]:.1f} MB"
    notes.append(
        f"{chosen} takes {one[0]:.3f} ms a target{size}; static {costs['static'][0]:.3f} ms"
    )
    gain = f"one that costs more must gain {MIN_GAIN:.0%} with p up to {MAX_P:g} (paired bootstrap)"
    notes.append(gain)
    if any(not np.isnan(item.several) for item in choices):
        words = "no labels: words with one sense (ambiguity) need one vector; for the others, the"
        notes.append(f"{words} figures tell each from {PARTNERS} words of the corpus as frequent")
        notes.append("static is 0.5 without labels: chance by design, one answer for two words")
        if unsure:
            notes.append(f"unsure (ambiguity): may have one sense only: {_list(unsure)}")
    return notes
