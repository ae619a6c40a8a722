"""Build a report: a page with all the answers that it may need."""

from collections.abc import Iterator, Sequence
from typing import Any

from ctxembed.context.nearest import Axes
from ctxembed.errors import CtxembedError, ModelError, UnknownWordError, UsageError
from ctxembed.progress import Progress
from ctxembed.queries.axes import suggest_axes
from ctxembed.queries.unfold import sum_contributions
from ctxembed.web.description import attention_names, describe_model, map_kind
from ctxembed.web.document import document, pack
from ctxembed.web.lessons import chapter_answers, chapter_models, describe_chapters
from ctxembed.web.questions import Json, Models, answer, answer_map, check, shorten_vectors
from ctxembed.web.words import WIDTHS, read_words
from ctxembed.word_senses.sense_map import MAX_POINTS, WordMap, word_map

MAX_PAGE_BYTES = 1_000_000
MANY_WORDS = 30  # in longer sentences, only one head is shown step by step
MAX_ANSWER_BYTES = 450_000  # compressed, of answers to other words, so that they can be clicked too


def make_report(
    models: Models, sentences: Sequence[str], *, words: Sequence[str], axes: Axes,
    attention: str | None, command: str, seed: int, progress: Progress,
) -> str:  # fmt: skip
    """Return the HTML page for some sentences; maps are thinned until the page is small enough."""
    models.model.dequantize()
    gathered = _Answers(models, axes, attention_names(models, attention))
    shown = []
    with progress.stage("sentences", len(sentences), "") as stage:
        for text in sentences:
            shown.append(gathered.sentence(text, words))
            stage.advance()
    left_out = gathered.others()
    maps = list(_maps(gathered, seed, progress))
    named = [[name, ", ".join(words)] for name, words in axes.items()] or None  # of the senses
    data: Json = {
        "live": False, "attentions": gathered.attentions,
        "maps": map_kind(models.model) if maps else False,
        "model": describe_model(models), "sentences": shown,
        "start": {"sentences": shown[:1], "axes": named}, "name": None,
        "lessons": describe_chapters(), "models": chapter_models(),
        "foot": [*filter(None, (command, describe_model(models), f"seed {seed}", left_out))],
    }  # fmt: skip
    points_per_map = MAX_POINTS // max(1, len(maps))
    while True:  # with fewer points until the page fits
        answers = [*gathered.answers, *chapter_answers()]
        for sense_map in maps:
            answers += _map_answers(gathered, sense_map, points_per_map)
        page = document({**data, "answers": answers}, f"ctxembed: {' / '.join(sentences)[:80]}")
        if len(page.encode()) < MAX_PAGE_BYTES or points_per_map < 50:
            return page
        points_per_map = points_per_map * 3 // 4


class _Answers:
    """The collected answers, each with its question and parameters."""

    def __init__(self, models: Models, axes: Axes, attentions: list[str]) -> None:
        self.models, self.axes, self.attentions = models, dict(axes), attentions
        self.answers: list[Json] = []
        self.size = 0  # bytes of the answers, compressed
        self.targets: dict[str, list[str]] = {}  # word -> sentences in which it is the target
        self.waiting: list[tuple[str, list[dict[str, Any]], int]] = []  # sentence, words, index

    def add(self, question: str, **values: Any) -> None:
        """Add the answer to a question, unless it is there already."""
        parameters = {name: value for name, value in values.items() if value or type(value) is int}
        known = ((item["question"], item["parameters"]) for item in self.answers)
        if (question, parameters) not in known:
            result = shorten_vectors(answer(self.models, question, parameters), question)
            self.answers.append({"question": question, "parameters": parameters, **result})
            self.size += len(pack(result))

    def sentence(self, text: str, words: Sequence[str]) -> Json:
        """Add the answers for a sentence; return its initial state on the page."""
        if not text.strip():
            raise UsageError("A sentence is empty. Type at least one word.")
        check({"sentence": text})  # the page's own limits apply here too
        self.add("words", sentence=text)
        rows: list[dict[str, Any]] = read_words(self.models.model, text).records()
        chosen = [i for i, row in enumerate(rows) if row["target"]]
        chosen += [i for i, row in enumerate(rows) if row["word"] in words and i not in chosen]
        content = [i for i, row in enumerate(rows) if row["content"]]
        known = [i for i, row in enumerate(rows) if row["known"]]
        if lost := [row["word"] for row in rows if row["target"] and not row["known"]]:
            raise UnknownWordError(self.models.model.vocabulary.unknown(lost[0]))
        if not known:
            raise UsageError(f"{text!r}: no word is in the vocabulary")
        targets = [i for i in chosen if i in known] or content or known[:1]
        first = targets if chosen else targets[:1]
        for i in first:
            self.word(text, rows, i, every=True)
        self.waiting += [(text, rows, i) for i in known if i not in first]
        for i in targets:
            self.targets.setdefault(rows[i]["word"], []).append(rows[i]["marked"])
        return {"text": text, "target": targets[0], "gone": []}

    def word(self, text: str, rows: list[dict[str, Any]], i: int, *, every: bool = False) -> None:
        """Add the answers that the page shows when a word is clicked; every: head, step by step."""
        marked, together = rows[i]["marked"], rows[i]["together"]
        for width in WIDTHS:
            self.add("layout", sentence=text, target=i, width=width)
        axes = self.axes or self._suggest(rows[i]["word"])
        for name in self.attentions:
            self.add("explain", sentence=marked, attention=name)
            for head in self._heads(marked, name, all_heads=every and len(rows) <= MANY_WORDS):
                self.add("unfold", sentence=marked, attention=name, head=head)
            self.add("similarity", words=[together], attention=name)
            if sum(row["known"] for row in rows) > 1:
                self.add("ablate", sentences=[marked], axes=axes, attention=name)
        self.add("compare", sentences=[marked], axes=axes)

    def _heads(self, sentence: str, attention: str, *, all_heads: bool) -> list[str]:
        """Return the heads whose steps are shown: all, or the one that contributes most."""
        heads = sum_contributions(self.models.model, sentence, attention=attention)
        return [*heads] if all_heads else [max(heads, key=lambda head: heads[head])]

    def _suggest(self, word: str) -> dict[str, list[str]]:
        """Add the axes of a word's own senses; return them."""
        self.add("axes", word=word)
        rows: list[dict[str, Any]] = suggest_axes(self.models.model, word).records()
        return {row["axis"]: row["words"] for row in rows}

    def others(self) -> str:
        """Add answers for other words up to MAX_ANSWER_BYTES; return a note on the rest."""
        self.waiting.sort(key=lambda one: -one[1][one[2]]["content"])
        for number, (text, rows, i) in enumerate(self.waiting):
            if self.size > MAX_ANSWER_BYTES:
                rest = len(self.waiting) - number
                return f"{rest} words cannot be clicked: the page is full. Add one with --word W"
            self.word(text, rows, i)
        return ""


def _maps(gathered: _Answers, seed: int, progress: Progress) -> Iterator[WordMap]:
    """Yield the map of each word that occurs often enough, by the first attention."""
    model, name = gathered.models.model, gathered.attentions[0]
    for word in gathered.targets:
        if " " not in word:
            try:
                yield word_map(model, word, attention=name, seed=seed, progress=progress)
            except ModelError:
                raise
            except CtxembedError as error:
                progress.note(str(error))


def _map_answers(gathered: _Answers, sense_map: WordMap, max_points: int) -> Iterator[Json]:
    """Yield the answers for one map of at most `max_points` points."""
    word, small = sense_map.senses.word, sense_map.thinned(max_points)
    keys: list[tuple[str, dict[str, str]]] = [("map", {}), ("legend", {})]
    keys += [("place", {"sentence": sentence}) for sentence in gathered.targets[word]]
    for question, key in keys:
        parameters = {"word": word, "attention": gathered.attentions[0], **key}
        result = answer_map(gathered.models, small, question, **key)
        yield {"question": question, "parameters": parameters, **result}
