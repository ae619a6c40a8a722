"""Google's analogies: a is to b as c is to what?"""

import numpy as np

from ctxembed.errors import CorpusError
from ctxembed.evaluation import metrics
from ctxembed.evaluation.figures import Scores
from ctxembed.evaluation.items import Reader
from ctxembed.model.model import Model
from ctxembed.progress import Progress

BATCH_SIZE = 256  # questions
Rows = tuple[int, ...]  # of the four words of a question, -1 for an unknown one
MAX_LINES = 100_000  # of a file; BATS has 98,000 questions


def analogies(reader: Reader, path: str, seed: int, progress: Progress) -> list[Scores]:
    """Return the accuracy of b - a + c in each section; unknown words make an answer wrong."""
    sections: dict[str, list[Rows]] = {}
    model, section = reader.model, "all questions"
    for number, line in reader.lines(path, MAX_LINES):
        if line.startswith(":"):
            section = line[1:].strip()
            continue
        words = line.split()
        if len(words) != 4:
            raise CorpusError(f"{path}: line {number}: four words are expected, not {line[:40]!r}")
        rows = tuple(row[0] if len(row := reader.rows(word)) == 1 else -1 for word in words)
        sections.setdefault(section, []).append(rows)
    if not sections:
        raise CorpusError(f"{path}: no questions in it")
    if len(sections) > 1:
        sections["all questions"] = [row for rows in sections.values() for row in rows]
    rng, sets = np.random.default_rng(seed), []
    right = _right_answers(model, {rows for some in sections.values() for rows in some}, progress)
    for name, questions in sections.items():
        array, weights = np.array(questions), metrics.resample(len(questions), rng)
        missing = (array < 0).any(axis=1)
        guesses = rng.integers(len(model.vocabulary), size=len(array)) == array[:, 3]
        is_right = np.array([question in right for question in questions])
        sets.append(Scores(name, len(array)))
        for representation, answers in (("random", guesses), ("static", is_right)):
            figures = {"accuracy": metrics.proportion(answers & ~missing, weights)}
            if missing.any() and not missing.all():
                known = answers[~missing]
                known_weights = metrics.resample(len(known), rng)
                figures["accuracy_known"] = metrics.proportion(known, known_weights)
            sets[-1].add(representation, figures, int(missing.sum()))
    return sets


def _right_answers(model: Model, questions: set[Rows], progress: Progress) -> set[Rows]:
    """Return the questions for which the answer is the expected word."""
    known = np.array([rows for rows in questions if min(rows) >= 0], np.intp).reshape(-1, 4)
    right: set[Rows] = set()
    with progress.stage("analogies", len(known), "question") as stage:
        for first in range(0, len(known), BATCH_SIZE):
            batch = known[first : first + BATCH_SIZE]
            a, b, c = (model.units[batch[:, column]] for column in range(3))
            similarity = (b - a + c) @ model.units.T  # (n, V)
            np.put_along_axis(similarity, batch[:, :3], -np.inf, axis=1)
            is_right = similarity.argmax(axis=1) == batch[:, 3]
            right.update(map(tuple, batch[is_right].tolist()))
            stage.advance(len(batch))
    return right
