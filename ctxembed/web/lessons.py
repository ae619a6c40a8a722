"""The chapters of the course for the page, and the answers that a report needs to show them."""

from collections.abc import Iterator
from dataclasses import asdict
from functools import cache
from typing import Any

from ctxembed.lesson.chapter import Chapter, load_chapters
from ctxembed.model.bundled import BUNDLED, bundled_model
from ctxembed.model.model import Model
from ctxembed.queries.unfold import sum_contributions
from ctxembed.web.description import attention_names, describe_model
from ctxembed.web.questions import Json, Models, answer, shorten_vectors
from ctxembed.web.words import WIDTHS, read_words

METHODS = ("one-hot", "bow", "tfidf")
COUNTED = ("ladder", "counts", *METHODS)  # panels of sentences as counts


def describe_chapters() -> list[Json]:
    """Return what the page shows of each chapter, and the state of the page that belongs to it."""
    return [
        {
            "number": chapter.number, "title": chapter.title, "short": chapter.short,
            "text": chapter.text, "page": asdict(chapter.page),
            "steps": [{"line": step.line, "look": step.look} for step in chapter.steps],
            "task": {"line": chapter.task.line, "look": chapter.task.look},
        }
        for chapter in load_chapters()
    ]  # fmt: skip


def chapter_models() -> dict[str, Json]:
    """Return the bundled models, by name, with the attentions that the page can choose."""
    models = ((name, Models(Model.open(bundled_model(name)))) for name in BUNDLED)
    return {
        name: {"attentions": attention_names(opened), "model": describe_model(opened)}
        for name, opened in models
    }


@cache
def chapter_answers() -> list[Json]:
    """Return the answers that the page asks for when a chapter sets it."""
    models = Models(Model.open(bundled_model(BUNDLED[0])))
    answers: dict[str, Json] = {}
    for chapter in load_chapters():
        for question, values in _questions(models, chapter):
            given = {key: value for key, value in values.items() if value or type(value) is int}
            key = repr((question, sorted(given.items())))
            if key not in answers:
                result = shorten_vectors(answer(models, question, given), question)
                answers[key] = {"question": question, "parameters": given, **result}
    return list(answers.values())


def _questions(models: Models, chapter: Chapter) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the questions of the page in the state of a chapter, with their parameters."""
    page = chapter.page
    if page.weights:
        yield "weights", {"weights": page.weights}
        yield from _layouts_by_hand(models, page.weights)
        return
    if page.open in COUNTED:
        for method in METHODS:
            yield "counts", {"sentences": [*page.sentences], "method": method}
        return
    name = None if page.vectors else page.model or BUNDLED[0]
    shared = {"vectors": page.vectors, "model": name}
    model = models.get(page.vectors, name)
    attention = None
    if not page.vectors:
        known = chapter_models()[str(name)]["attentions"]
        attention = page.attention if page.attention in known else known[0]
    general = page.general if page.vectors or attention == "general" else None
    encoding = page.encoding if page.encoding != "none" else None
    layer = {**shared, "attention": attention, "general": general}
    if page.over:
        yield "words", {**shared, "sentence": page.over}
    marked, together = [], []
    for number, sentence in enumerate(page.sentences):
        yield "words", {**shared, "sentence": sentence}
        rows: list[dict[str, Any]] = read_words(model, sentence).records()
        i = _target(rows)
        marked.append(rows[i]["marked"])
        together.append(rows[i]["together"])
        for width in WIDTHS:
            yield "layout", {**shared, "sentence": sentence, "target": i, "width": width,
                             "over": page.over}  # fmt: skip
        seen = {**layer, "sentence": marked[-1], "over": page.over, "encoding": encoding}
        yield "explain", seen
        if number == 0:
            for head in _heads(model, seen, page.head):
                yield "unfold", {**seen, "head": head}
            word = rows[i]["word"]
            if page.open == "recurrent":
                yield "states", {**shared, "sentence": marked[0]}
    if page.over or not page.sentences:
        return
    axes = {name: words.split(",") for name, words in page.axes}
    if not page.vectors and not axes:
        yield "axes", {**shared, "word": word}
        suggested = answer(models, "axes", {"word": word, "model": name})["rows"]
        axes = {row[0]: row[1] for row in suggested}
    yield "compare", {**shared, "sentences": marked, "axes": axes, "general": general}
    yield "similarity", {**shared, "words": together, "attention": attention}
    if not page.vectors:
        yield "ablate", {**layer, "sentences": marked[:1], "axes": axes}


def _target(rows: list[dict[str, Any]]) -> int:
    """Return the index of the word that the page takes as the target."""
    for wanted in ("target", "content", "known"):
        for i, row in enumerate(rows):
            if row[wanted] and row["known"]:
                return i
    return 0


def _heads(model: Model, seen: dict[str, Any], head: str) -> list[str]:
    """Return the head that is shown step by step: the chosen one, or the strongest."""
    if head != "mean":
        return [head]
    options = {key: seen[key] for key in ("attention", "general", "over") if seen[key]}
    options |= {"encoding": seen["encoding"] or "none"}
    sums = sum_contributions(model, seen["sentence"], **options)
    return [max(sums, key=lambda each: sums[each])]


def _layouts_by_hand(models: Models, weights: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the questions for the words of weights given by hand."""
    table = answer(models, "weights", {"weights": weights})
    names = [column["name"] for column in table["columns"]]
    target, token = names.index("target"), names.index("token")
    for name in dict.fromkeys(row[target] for row in table["rows"]):
        tokens = [row[token] for row in table["rows"] if row[target] == name]
        at = {"target": tokens.index(name)} if name in tokens else {}
        for width in WIDTHS:
            yield "layout", {"sentence": " ".join(tokens), "width": width, **at}
