"""Define a word in its sentence: rank its senses in a dictionary."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ctxembed.context.columns import POSITION, SENTENCE, TARGET
from ctxembed.context.parse import Occurrence, Parsed, Written
from ctxembed.context.representations import Representations
from ctxembed.context.sentences import Target, list_targets, read_sentences
from ctxembed.errors import UnknownWordError
from ctxembed.model.bundled import on_model
from ctxembed.model.model import Model
from ctxembed.stats.vectors import Floats
from ctxembed.table import Cell, Column, Table
from ctxembed.word_senses.definitions import (
    Choice,
    Decision,
    Definitions,
    describe_choice,
    is_proper,
    written_target,
)
from ctxembed.word_senses.related import related_words
from ctxembed.word_senses.sense_file import open_sources

MAX_PHRASE = 4  # words of an entry that is looked for in a sentence
MAX_ENTRY = 9  # words of the longest entry
MIN_PART = 0.2  # share of the occurrences of a similar word that have the part of speech decided
COLUMNS = (
    SENTENCE,
    TARGET,
    replace(POSITION, role="aside"),
    Column("sure", "probability of the sense here; without a sentence, by its frequency"),
    Column("text", "part of the score: likeness to the definition and its examples"),
    Column("examples", "part of the score: likeness to labelled occurrences of the sense"),
    Column("prior", "part of the score: how often the sense occurs"),
    Column("part", "part of speech: n, v, a (adjective) or r (adverb)", "aside"),
    Column("sense_key", "the sense in WordNet, or WORD%LABEL in another dictionary", "aside"),
    Column("definition", "what the dictionary says of the sense", "long"),
    Column("synonyms", "other words with this sense", "aside", between=", "),
)
EMPTY = Occurrence(np.array([], np.int32), range(0))  # a word without a sentence
ROUGH = "sure was fitted to the model english; with this model it is a rough guide"
MIN_WORDS = 5000  # a smaller vocabulary does not have the words of most definitions
MOST_FREQUENT = 50  # among them are THE, OF and AND in English
ENGLISH = {"the", "of", "and"}
NO_ENTRY = "no entry for {}; --dictionary FILE adds your own"


@on_model(*COLUMNS)
def define(
    model: Model, sentences: str | Sequence[str], *, word: str | None = None,
    part: str | None = None, number: int | None = None, dictionaries: Sequence[str] = (),
) -> Table:  # fmt: skip
    """Rank the senses of each target in its sentence; a word alone is looked up.

    Without a target, each content word and phrase is one, with its best sense. part: n, v, a or r.
    number: of senses, by default all of a marked target.
    """
    definitions = open_definitions(model, dictionaries)
    texts = [sentences] if isinstance(sentences, str) else list(sentences)
    marked = [word is not None or "[" in text for text in texts]
    alone = [
        not own and len(text.split()) <= MAX_ENTRY and bool(definitions.senses(text, part))
        for own, text in zip(marked, texts, strict=True)
    ]
    limits = [None if own or entry else 1 for own, entry in zip(marked, alone, strict=True)]
    answers = [
        (Target(row, text.strip().lower(), EMPTY), definitions.entry(text, part))
        for row, text in enumerate(texts, 1)
        if alone[row - 1]
    ]
    notes: list[str] = []
    unknown: list[str] = []
    rest = ["" if entry else text for text, entry in zip(texts, alone, strict=True)]
    if not answers or any(map(str.strip, rest)):
        targets = []
        try:
            read = read_sentences(definitions.representations, rest, word)
        except UnknownWordError as error:
            if not answers:
                raise
            unknown = [str(error)]
        else:
            notes, unknown = read.notes, read.unknown
            if definitions.labelled is None:
                notes.append(ROUGH)
            for parsed in read.parsed:
                targets += list_written(parsed, None if marked[parsed.number - 1] else definitions)
        ranked = definitions.rank([target.item for target in targets], part)
        for target, choices in zip(targets, ranked, strict=True):
            if choices:
                answers.append((target, choices))
            elif marked[target.sentence - 1]:
                written = target.item.written
                name = written_target(written) if written else target.name
                line = f"line {target.sentence}: " if len(texts) > 1 else ""
                unknown.append(line + NO_ENTRY.format(repr(name)))
    if not answers:
        raise UnknownWordError("\n".join(unknown) or NO_ENTRY.format("any of these words"))
    answers.sort(key=lambda answer: answer[0].sentence)

    def describe_lines() -> Iterator[str]:
        for target, choices in answers:
            if not len(target.item.ids):  # an entry
                continue
            label = f"{target.sentence}. {target.name}" if len(texts) > 1 else target.name
            first, *others = describe_choice(choices)
            yield from (f"{label}: {first}", *others)

    rows = [
        (*_place(target), *_cells(choice))
        for target, choices in answers
        for choice in choices[: number or limits[target.sentence - 1]]
    ]
    if any(len(target.item.ids) for target, _ in answers):
        return Table(COLUMNS, rows, notes, unknown, lead=describe_lines)
    shown = [replace(c, role="label") if c.name == "part" else c for c in COLUMNS]
    return Table(shown, rows, notes, unknown)  # entries only


def define_targets(
    model: Model, parsed: Sequence[Parsed], vectors: Mapping[str, Floats], main: str
) -> list[Decision]:
    """Return the sense of each target by each representation; none if the model is not English.

    vectors: (n, d) by name of representation, the bag among them. The part of speech is what the
    representation `main` decides.
    """
    items = [target.item for one in parsed for target in list_written(one)]
    if not is_english(model):
        return [Decision()] * len(items)
    definitions = open_definitions(model)
    if main == definitions.attention.name:
        decided = definitions.rank(items, None, (vectors[main], vectors["bag"]))
    else:
        own = definitions.rank_by(items, vectors[main][:, None], [None] * len(items))
        decided = [by_main for (by_main,) in own]
    parts = [choices[0].sense.part if choices else None for choices in decided]
    others = [name for name in vectors if name != main]
    ranked = definitions.rank_by(items, np.stack([vectors[name] for name in others], 1), parts)
    return [
        Decision(
            {main: choices, **dict(zip(others, ranked[row], strict=True))},
            definitions.text(choices[0].sense),
            related_words(definitions, choices[:1]),  # words of other senses would contradict it
        )
        if choices
        else Decision()
        for row, choices in enumerate(decided)
    ]


def shares_part(model: Model, word: str, choices: Sequence[Choice]) -> bool:
    """Return whether a word is often enough of the part of speech that these senses have.

    So is a word without an entry, and any word where there are no senses. A word that is only a
    proper noun belongs to no other sense.
    """
    definitions = open_definitions(model)
    if not choices or not (shares := definitions.part_shares(word)):
        return True
    if not is_proper(choices[0].sense) and all(map(is_proper, definitions.senses(word))):
        return False
    sure: dict[str, float] = {}
    for choice in choices:
        sure[choice.sense.part] = sure.get(choice.sense.part, 0.0) + choice.sure
    return sum(share * sure.get(part, 0.0) for part, share in shares.items()) >= MIN_PART


def find_related(model: Model, items: Sequence[Occurrence]) -> list[dict[int, float]]:
    """Return the related words of each target, as related_words; none if it is not English."""
    if not is_english(model):
        return [{} for _ in items]
    definitions = open_definitions(model)
    return [related_words(definitions, choices) for choices in definitions.rank(items)]


def is_english(model: Model) -> bool:
    """Return whether the words of a model are English, and enough to read definitions with."""
    words, language = model.vocabulary.words, model.vocabulary.tokenizer.language
    if model.is_worked_example or language not in ("", "en") or len(words) < MIN_WORDS:
        return False
    return {word.lower() for word in words[:MOST_FREQUENT]} >= ENGLISH


def open_definitions(model: Model, dictionaries: Sequence[str] = ()) -> Definitions:
    """Return the definitions of a model by dictionaries; they are kept by the model."""
    kept = Representations.of(model).definitions
    key = tuple(dictionaries)
    if key not in kept:
        kept[key] = Definitions(Representations.of(model), open_sources(dictionaries))
    definitions: Definitions = kept[key]
    return definitions


def list_written(parsed: Parsed, phrases: Definitions | None = None) -> list[Target]:
    """Return the targets of a sentence with its words as written.

    phrases: join words that have an entry together (piece of cake), where no target is marked.
    """
    spelled = {model: written for written, model in parsed.forms.items()}
    positions = [position - 1 for position in parsed.positions]
    words = dict(parsed.unknown)
    words |= {p: spelled.get(w, w) for p, w in zip(positions, parsed.words, strict=True)}
    written = [words[position] for position in sorted(words)]
    spans = [item.target for item in parsed.occurrences]
    if phrases:
        spans = _join_phrases(spans, written, positions, phrases)
    items = []
    for span in spans:
        first, last = positions[span.start], positions[span.stop - 1]
        capital = parsed.capitals[first] if len(parsed.capitals) == len(written) else None
        own = Written(written, range(first, last + 1), capital)
        items.append(Occurrence(parsed.occurrences[0].ids, span, own, first))
    return list_targets([replace(parsed, occurrences=items)])


def _join_phrases(
    spans: Sequence[range], words: Sequence[str], positions: Sequence[int], phrases: Definitions
) -> list[range]:
    """Return the spans, those within an entry of several words joined to it."""
    joined: dict[int, range] = {}
    end = 0
    for start in range(len(positions)):
        for size in range(min(MAX_PHRASE, len(positions) - start), 1, -1):
            first, last = positions[start], positions[start + size - 1]
            content = any(start <= span.start < start + size for span in spans)
            if start < end or not content or last - first != size - 1:
                continue
            senses = phrases.senses(" ".join(words[first : last + 1]))
            # A rare verb with a preposition is mostly none: he lives on credit.
            if any(sense.part != "v" or sense.count > 0 for sense in senses):
                joined[start], end = range(start, start + size), start + size
                break
    covered = {i for span in joined.values() for i in span}
    alone = [span for span in spans if span.start not in covered]
    return sorted([*joined.values(), *alone], key=lambda span: span.start)


def _place(target: Target) -> tuple[Cell, ...]:
    return target.sentence, target.name, target.item.position if len(target.item.ids) else None


def _cells(choice: Choice) -> tuple[Cell, ...]:
    sense, *scores = choice
    return *scores, sense.part, sense.key, sense.definition, sense.synonyms
