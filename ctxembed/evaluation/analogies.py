"""Google's analogies: a is to b as c is to what?"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ctxembed.errors import CorpusError
from ctxembed.evaluation import metrics
from ctxembed.evaluation.figures import Scores
from ctxembed.evaluation.items import Reader
from ctxembed.model.model import Model
from ctxembed.progress import Progress
from ctxembed.text.lines import numbered_lines

AT_ONCE = 256  # questions
LINES = 100_000  # of a file; BATS has 98,000 questions


def analogies(model: Model, path: str, seed: int, progress: Progress) -> list[Scores]:
    """Answer with the word nearest to b - a + c; a question with an unknown word is wrong."""
    sections: dict[str, list[Sequence[int]]] = {}
    reader = Reader(model)
    section = "all questions"
    for number, line in numbered_lines(path, LINES):
        if line.startswith(":"):
            section = line[1:].strip()
            continue
        words = line.split()
        if len(words) != 4:
            raise CorpusError(f"{path}: line {number}: four words are expected, not {line[:40]!r}")
        rows = [row[0] if len(row := reader.rows(word)) == 1 else -1 for word in words]
        sections.setdefault(section, []).append(rows)
    if not sections:
        raise CorpusError(f"{path}: no questions in it")
    if len(sections) > 1:
        sections["all questions"] = [row for rows in sections.values() for row in rows]
    rng = np.random.default_rng(seed)
    asked = {rows: False for questions in sections.values() for rows in map(tuple, questions)}
    _answer_all(model, asked, progress)
    return [
        _score(
            name,
            np.array(rows),
            [asked[tuple(row)] for row in rows],
            len(model.vocabulary),
            rng,
        )
        for name, rows in sections.items()
    ]


def _score(
    name: str,
    rows: NDArray[np.intp],
    right: Sequence[bool],
    vocabulary: int,
    rng: np.random.Generator,
) -> Scores:
    weights = metrics.draw(len(rows), rng)
    missing = (rows < 0).any(axis=1)
    guesses = rng.integers(vocabulary, size=len(rows)) == rows[:, 3]
    scores = Scores(name, len(rows))
    for way, answers in (("random", guesses), ("static", np.array(right))):
        figures = {"accuracy": metrics.proportion(answers & ~missing, weights)}
        if missing.any() and not missing.all():
            known = answers[~missing]
            figures["accuracy_known"] = metrics.proportion(known, metrics.draw(len(known), rng))
        scores.add(way, figures, int(missing.sum()))
    return scores


def _answer_all(model: Model, asked: dict[tuple[int, ...], bool], progress: Progress) -> None:
    """Note for each question that can be asked whether the answer is the expected word."""
    known = np.array([rows for rows in asked if min(rows) >= 0], np.intp).reshape(-1, 4)
    with progress.stage("analogies", len(known), "question") as stage:
        for first in range(0, len(known), AT_ONCE):
            block = known[first : first + AT_ONCE]
            a, b, c = (model.units[block[:, column]] for column in range(3))
            cosines = (b - a + c) @ model.units.T  # (n, V)
            np.put_along_axis(cosines, block[:, :3], -np.inf, axis=1)
            answers = cosines.argmax(axis=1)
            for rows, answer in zip(block.tolist(), answers, strict=True):
                asked[tuple(rows)] = bool(answer == rows[3])
            stage.advance(len(block))
