"""Answer `association`: which of two groups of words is nearer to which of two axes (WEAT)."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ctxembed.context.parse import parse
from ctxembed.context.representation import ModelRepresentation
from ctxembed.context.representations import Representations
from ctxembed.errors import UnknownWordError, UsageError
from ctxembed.model.bundled import corpora_directory, on_model
from ctxembed.model.model import Model
from ctxembed.stats.vectors import Floats, unit
from ctxembed.stats.weat import association as associate
from ctxembed.stats.weat import weat
from ctxembed.table import Chart, Column, Row, Table

Groups = Mapping[str, Sequence[str]]
REPRESENTATION = Column("representation", "what gives the targets their vectors", "label")
TESTS = (
    REPRESENTATION,
    Column("x", "name of the first group of targets", "label"),
    Column("y", "name of the second", "label"),
    Column("a", "name of the first axis", "label"),
    Column("b", "name of the second", "label"),
    Column("words_x", "targets of the first group that the model knows", "aside"),
    Column("words_y", "and of the second", "aside"),
    Column("effect", "how much nearer x is to a, and y to b: difference of the mean associations,"
           " in standard deviations of all targets, from -2 to 2"),
    Column("p_value", "share of the ways to divide the targets into two groups with as large a"
           " difference"),
    Column("published", "effect in Caliskan et al. (2017), with GloVe of 840 billion words"),
)  # fmt: skip
WORDS = (
    REPRESENTATION,
    Column("group", "with --words: the group of the target", "label"),
    Column("word", "with --words: the target", "label"),
    Column("cos_a", "with --words: mean cosine with the words of the first axis"),
    Column("cos_b", "with --words: and with those of the second"),
    Column("association", "with --words: cos_a - cos_b"),
)
MIN_WORDS = 2  # of each group


@dataclass(frozen=True)
class WordLists:
    """Two groups of targets and two axes; `effect` is the published one, if there is one."""

    targets: Groups
    axes: Groups
    effect: float | None = None


@on_model(*TESTS, *WORDS[1:])
def association(
    model: Model, test: str | None = None, *, targets: Groups | None = None,
    axes: Groups | None = None, templates: Sequence[str] = (), words: bool = False,
    permutations: int = 10_000, seed: int = 1,
) -> Table:  # fmt: skip
    """Return how much nearer one group of targets is to an axis than another group (WEAT).

    test: the name of a published test, weat1 to weat10, instead of targets and axes.
    templates: sentences with [word] for the target: its vector is the mean over them.
    """
    lists = published_lists(test) if test else WordLists(targets or {}, axes or {})
    if len(lists.targets) != 2 or len(lists.axes) != 2:
        raise UsageError(
            "give two groups by --targets and two axes by --axis, or the name of a test"
        )
    for template in templates:
        if template.count("[word]") != 1:
            raise UsageError(f"--template {template!r}: write [word] once, where the target stands")
    known: dict[str, list[str]] = {}
    notes: list[str] = []
    for name, group in (*lists.targets.items(), *lists.axes.items()):
        known[name], unknown = model.vocabulary.sort_known(group)
        if unknown:
            notes.append(f"{name}: not in the vocabulary: {', '.join(unknown)}")
        if len(known[name]) < MIN_WORDS:
            known_words = "1 word is" if len(known[name]) == 1 else f"{len(known[name])} words are"
            kind = UnknownWordError if unknown else UsageError
            raise kind(f"{name}: {known_words} known; give {MIN_WORDS} or more")
    x_name, y_name = lists.targets
    rows: list[Row] = []
    tests: list[Row] = []
    every = Representations.of(model)
    for each in every.names() if templates else ["static"]:
        representation = every.get(each)
        a, b = (_vectors(model, representation, known[name]) for name in lists.axes)
        scores = {}
        for group in lists.targets:
            vectors = _vectors(model, representation, known[group], templates)
            scores[group] = associate(vectors, a, b)
            cosines = [(vectors @ side.T).mean(axis=1).tolist() for side in (a, b)]
            cells = zip(known[group], *cosines, scores[group].tolist(), strict=True)
            rows += [(representation.name, group, *cell) for cell in cells]
        result = weat(scores[x_name], scores[y_name], permutations, np.random.default_rng(seed))
        sizes = (len(known[group]) for group in lists.targets)
        tested = (*sizes, result.effect, result.p_value, lists.effect)
        tests.append((representation.name, *lists.targets, *lists.axes, *tested))
    a_name, b_name = lists.axes
    if words:
        title = f"nearer to {a_name} (right) or to {b_name} (left)"
        chart = Chart("bars", ["association"], label=["group", "word"], panel=["representation"],
                      title=title)  # fmt: skip
        return Table(WORDS, rows, notes, chart=chart)
    notes.append(f"effect above 0: {x_name} is nearer to {a_name}, {y_name} to {b_name}")
    title = f"{x_name} with {a_name}, {y_name} with {b_name}: effect"
    chart = Chart("bars", ["effect"], label=["representation"], domain=(-2, 2), title=title)
    return Table(TESTS, tests, notes, chart=chart)


def _vectors(
    model: Model, representation: ModelRepresentation, words: Sequence[str],
    templates: Sequence[str] = (),
) -> Floats:  # fmt: skip
    """Return unit vectors (n, d) of words: alone, or the mean of those in the templates."""
    if not templates or representation.name == "static":
        return unit(np.array([model.vector(word, representation.inputs) for word in words]))
    total = np.zeros((len(words), representation.dim))
    for template in templates:
        sentences = [template.replace("[word]", f"[{word}]") for word in words]
        occurrences = [parse(model, sentence).occurrences[0] for sentence in sentences]
        total += unit(representation.vectors(occurrences))
    return unit(total)


def published_lists(test: str) -> WordLists:
    """Return the word lists of a test by Caliskan, Bryson and Narayanan (2017)."""
    with (corpora_directory() / "weat.tsv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file, delimiter="\t") if row["test"] == test]
    if not rows:
        raise UsageError(f"no test {test!r}; the published ones are weat1 to weat10")
    groups = [(row["name"], row["words"].split(",")) for row in rows]
    return WordLists(dict(groups[:2]), dict(groups[2:]), float(rows[0]["published"]))
