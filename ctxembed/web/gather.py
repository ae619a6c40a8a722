"""A report: all answers that its page may ask for, gathered before it is opened."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ctxembed.context.axes import Axes
from ctxembed.context.representations import representations_of
from ctxembed.errors import CtxembedError, ModelError, UsageError
from ctxembed.progress import Progress
from ctxembed.web.document import as_script, document
from ctxembed.web.limits import check
from ctxembed.web.questions import Json, Models, answer, as_json
from ctxembed.web.words import read_words
from ctxembed.word_senses.sense_map import MOST, WordMap, word_map

LARGEST = 1_000_000  # bytes of a page
ROOM = 400_000  # bytes of it for words that nobody asked for, so that they can be clicked too


def make_report(
    models: Models,
    sentences: Sequence[str],
    *,
    words: Sequence[str],
    axes: Axes,
    attention: str | None,
    command: str,
    seed: int,
    progress: Progress,
) -> str:
    """Return the page of some sentences; maps share what room a page has, and say so."""
    models.model.widen()
    gathered = _Answers(models, axes, attention_names(models, attention))
    shown = []
    with progress.stage("sentences", len(sentences), "") as stage:
        for text in sentences:
            shown.append(gathered.sentence(text, words))
            stage.advance()
    left_out = gathered.others()
    maps = list(_maps(gathered, seed, progress))
    named = [[name, ", ".join(words)] for name, words in axes.items()]
    data: Json = {
        "live": False,
        "attentions": gathered.attentions,
        "maps": bool(maps),
        "model": told(models),
        "sentences": shown,
        "start": {"sentences": shown[:1], "axes": named},
        "foot": [line for line in (command, told(models), f"seed {seed}", left_out) if line],
    }
    each = MOST // max(1, len(maps))
    while True:  # fewer points until it fits
        drawn = (item for made in maps for item in _drawn(gathered, made, each))
        answers = [*gathered.answers, *drawn]
        page = document({**data, **_pack(answers)}, f"ctxembed: {' / '.join(sentences)[:80]}")
        if len(page.encode()) < LARGEST or each < 50:
            return page
        each = each * 3 // 4


def told(models: Models) -> str:
    """Say which model answers, and how much it has read."""
    model = models.model
    return f"{model.path.name}: {model.tokens:,} words read, {len(model.vocabulary):,} known"


def attention_names(models: Models, first: str | None = None) -> list[str]:
    """Name the attentions a page may choose, the default first."""
    representations = representations_of(models.model)
    _, _, *known = representations.names()  # static and bag are no attentions
    names = list(dict.fromkeys([first or representations.default(), *known]))
    if names[0] not in known:
        raise UsageError(f"--attention {first}: there are {', '.join(known)}")
    return names


class _Answers:
    """Answers as they are gathered, each with what was asked."""

    def __init__(self, models: Models, axes: Axes, attentions: list[str]) -> None:
        self.models, self.axes, self.attentions = models, dict(axes), attentions
        self.answers: list[Json] = []
        self.targets: dict[str, list[str]] = {}  # word -> the sentences in which it is marked
        self.waiting: list[tuple[list[dict[str, Any]], int]] = []  # sentences, and a word of each

    def add(self, question: str, **asked: Any) -> None:
        """Ask, unless it was asked before."""
        given = {name: value for name, value in asked.items() if value}
        if all((item["question"], item["asked"]) != (question, given) for item in self.answers):
            made = answer(self.models, question, given)
            self.answers.append({"question": question, "asked": given, **made})

    def sentence(self, text: str, words: Sequence[str]) -> Json:
        """Gather what can be asked about a sentence; return what the page begins with."""
        if not text.strip():
            raise UsageError("nothing to show: a sentence is empty")
        check({"sentence": text})  # what the page itself would not ask
        self.add("words", sentence=text)
        rows = read_words(self.models.model, text).records()
        chosen = [i for i, row in enumerate(rows) if row["target"]]
        chosen += [i for i, row in enumerate(rows) if row["word"] in words and i not in chosen]
        content = [i for i, row in enumerate(rows) if row["content"]]
        known = [i for i, row in enumerate(rows) if row["known"]]
        if not known:
            raise UsageError(f"{text!r}: no word of it is in the vocabulary")
        targets = [i for i in chosen if i in known] or content or known[:1]
        first = targets if chosen else targets[:1]
        for i in first:
            self.word(rows, i)
        self.waiting += [(rows, i) for i in known if i not in first]
        for i in targets:
            self.targets.setdefault(str(rows[i]["word"]), []).append(mark(rows, [i]))
        return {"text": text, "target": targets[0], "gone": []}

    def word(self, rows: list[dict[str, Any]], i: int) -> None:
        """Gather what the page shows when a word of a sentence is chosen."""
        content = [j for j, row in enumerate(rows) if row["content"]]
        marked, together = mark(rows, [i]), mark(rows, [*content, i])
        for name in self.attentions:
            self.add("explain", sentence=marked, attention=name)
            self.add("similarity", words=[together], attention=name)
            if sum(row["known"] for row in rows) > 1:
                self.add("ablate", sentences=[marked], axes=self.axes, attention=name)
        self.add("compare", sentences=[marked], axes=self.axes)

    def others(self) -> str:
        """Gather the same for other words while there is room; say how many there was none for."""
        self.waiting.sort(key=lambda one: -one[0][one[1]]["content"])
        for number, (rows, i) in enumerate(self.waiting):
            if len(as_script({"answers": self.answers})) > ROOM:
                few = len(self.waiting) - number
                return (
                    f"{few} words cannot be clicked, to keep the page small; --word W asks for one"
                )
            self.word(rows, i)
        return ""


def mark(rows: Sequence[Mapping[str, Any]], targets: Sequence[int]) -> str:
    """Write a sentence with some of its words in brackets, as the page's script does."""
    made = ""
    for i, row in enumerate(rows):
        if row["written"]:
            made += (row["before"] or " ") if made else ""
            made += f"[{row['written']}]" if i in targets else row["written"]
    return made


def _maps(gathered: _Answers, seed: int, progress: Progress) -> Iterator[WordMap]:
    """Yield the map of each word that occurs often enough, by the attention that is shown first."""
    model, name = gathered.models.model, gathered.attentions[0]
    for word in gathered.targets:
        if " " not in word:
            try:
                yield word_map(model, word, attention=name, seed=seed, progress=progress)
            except ModelError:
                raise
            except CtxembedError as error:
                progress.note(str(error))


def _drawn(gathered: _Answers, found: WordMap, most: int) -> Iterator[Json]:
    """Yield the answers of one map, of at most so many points."""
    asked = {"word": found.senses.word, "attention": gathered.attentions[0]}
    command = "ctxembed senses " + found.senses.word
    for question, table in (("map", found.thinned(most).drawn()), ("legend", found.legend())):
        yield {"question": question, "asked": asked, **as_json(table), "command": command}
    for sentence in gathered.targets[found.senses.word]:
        placed = found.place(gathered.models.model, sentence)
        yield {"question": "place", "asked": {**asked, "sentence": sentence}, **as_json(placed)}


def _pack(answers: Sequence[Json]) -> Json:
    """Keep each set of columns once."""
    columns: list[Any] = []
    packed = []
    for item in answers:
        if item["columns"] not in columns:
            columns.append(item["columns"])
        packed.append({**item, "columns": columns.index(item["columns"])})
    return {"columns": columns, "answers": packed}
