"""Describe what a target means in its sentence: its definition, similar words and reasons."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, cast

import numpy as np

from ctxembed.context.networks import Together
from ctxembed.context.parse import Occurrence, Parsed
from ctxembed.context.representation import ModelRepresentation, Run, TargetTrace
from ctxembed.context.representations import Representations
from ctxembed.context.sentences import Sentences
from ctxembed.explanation.naming import NAMED_NEAR, Candidates
from ctxembed.explanation.substitutes import AssignedSense, SubstituteRanker
from ctxembed.model.model import Model
from ctxembed.stats.vectors import unit
from ctxembed.table import Cell, Column
from ctxembed.text.tokenizer import is_content, number_repeats
from ctxembed.word_senses.definitions import Choice, Decision, describe_choice, printed_choices

MAX_REASONS = 3  # context words that are named
MIN_CONTRIBUTION = 0.05  # part of the vector below which a word is no reason
SAME_MEANING = 0.4  # cosine of the mean vectors of two lists of words that mean the same
MARKERS = 3  # words that name a sense
MEANING = (
    Column(
        "like",
        "words like it here: they explain the definition; else near to word and context",
        "text",
    ),
    Column(
        "because",
        "the context words that make most of the vector, with their shares; objects in JSON",
        "aside",
        between=", ",
    ),
    Column("sense", "the number of its sense here, where the model has saved senses", "aside"),
    Column("sense_share", "how sure: 1 is certain, 0.5 is halfway to the next sense", "aside"),
    Column("definition", "for an English model: what it means here, as define says", "aside"),
    Column("sense_key", "this sense in WordNet, or WORD%LABEL", "aside"),
    Column("sure", "probability of the definition; calibrated for learned attention", "aside"),
    Column("second", "the next probable definition", "aside"),
)
# What each representation reads, where it says something else than attention does.
READS = {
    "static": "the word alone",
    "bag": "the mean of all other words",
    "general": "each word counts by its similarity to the target",
}


class Reason(dict[str, Any]):
    """A context word and its share of the vector; an object in JSON, `word 0.43` as text."""

    def __str__(self) -> str:
        return f"{self['word']} {self['share']:.2f}"


@dataclass(frozen=True)
class Meaning:
    """What a target means in its sentence, according to one representation."""

    like: Sequence[str]
    because: "list[Reason]"
    sense: AssignedSense | None
    choices: Sequence[Choice] = ()  # its senses in the dictionary, the most probable first

    def cells(self) -> tuple[Cell, ...]:
        """Return the values of the columns MEANING."""
        sense = (None, None) if self.sense is None else (self.sense.label + 1, self.sense.share)
        cells: list[Cell] = [None] * 4
        if self.choices:
            first, *others = self.choices
            cells = [first.sense.definition, first.sense.key, first.sure]
            cells.append(others[0].sense.definition if others else None)
        return (list(self.like), cast(Any, self.because) or None, *sense, *cells)

    def __str__(self) -> str:
        parts = [f"like {', '.join(self.like)}"] if self.like else ["like no word it knows"]
        parts += [f"because {', '.join(map(str, self.because))}"] if self.because else []
        if self.sense is not None:
            label, saved, share = self.sense.label, self.sense.saved, self.sense.share
            if saved.names[label] or not self.choices:  # else the definition says more
                named = saved.describe(label, MARKERS)
                parts.append(f"sense {label + 1} of {saved.number} ({named}), {share:.2f} sure")
        return "; ".join(parts)


def find_meanings(
    representations: Representations, sentences: Sentences, chosen: Sequence[ModelRepresentation],
    runs: Mapping[str, Run], senses: Sequence[AssignedSense | None],
    decisions: Sequence[Decision], main: str, number: int, min_count: int,
    belongs: Callable[[str, Sequence[Choice]], bool],
) -> list[dict[str, Meaning]]:  # fmt: skip
    """Return the meaning of each target by name of representation, from the runs of each.

    decisions: by the dictionary. main: the representation whose vectors propose words; number: of
    similar words. belongs: whether a word can be of the part of speech that was decided.
    """
    targets = [(parsed, item) for parsed in sentences.parsed for item in parsed.occurrences]
    items = [item for _, item in targets]
    vectors = {name: run.vectors for name, run in runs.items()}
    if (shown := runs[main].shown) is not None:
        # an encoder that sees the target names words like it, one that does not what fits the place
        vectors[main] = unit(vectors[main]) + unit(shown)
    related = [decision.related for decision in decisions]
    proposing = unit(vectors[main])  # words near to the context, and to the definition
    for row, decision in enumerate(decisions):
        if decision.text is not None:
            proposing[row] += unit(decision.text)
    ranker = SubstituteRanker.of(
        representations, items, proposing, min_count, senses, related, NAMED_NEAR
    )
    words, meanings = representations.model.vocabulary.words, []
    stacked = np.stack([vectors[one.name] for one in chosen], axis=1)  # (n, R, d)
    contexts = [None if one.name == "static" else one for one in chosen]
    for row, (parsed, item) in enumerate(targets):
        by_name, named = {}, _name_tokens(representations, parsed, item)
        candidates = Candidates.of(ranker, row)
        nearest = candidates.name(contexts, stacked[row])
        for one, rows in zip(chosen, nearest, strict=True):
            run, sense, because = runs[one.name], senses[row], list[Reason]()
            choices = decisions[row].choices.get(one.name, ())
            if run.traces:
                because = _name_reasons(run.traces[row], named, item.target.start)
            main_part = one.attention.name if isinstance(one, Together) else one.name
            if sense is None or not run.traces or sense.saved.attention != main_part:
                sense = None  # senses were clustered with another attention
            like, text = [words[i] for i in rows[:number]], decisions[row].text
            if one.name == main and text is not None:
                named_rows = candidates.name_sense(text, choices[0].sure)
                fit = (words[i] for i in named_rows if belongs(words[i], choices))
                like = list(islice(fit, number))
            by_name[one.name] = Meaning(like, because, sense, choices)
        meanings.append(by_name)
    return meanings


def _name_tokens(
    representations: Representations, parsed: Parsed, item: Occurrence
) -> list[tuple[str, bool]]:
    """Return the name of each token (apple:2), and whether it is a content word."""
    tokens, _ = parsed.tokens(item)
    start, stop = item.target.start, item.target.stop
    ids = [*item.ids[: start + 1], *item.ids[stop:]]  # a span is one token
    frequency = representations.frequency[ids].tolist()
    content = map(is_content, tokens, frequency)
    return list(zip(number_repeats(tokens), content, strict=True))


def _name_reasons(
    trace: TargetTrace, named: Sequence[tuple[str, bool]], target: int
) -> "list[Reason]":
    """Return the words that contribute most to the vector: content words, if there are any."""
    parts = trace.contributions.sum(axis=0)
    kept = [i for i in np.flatnonzero(parts >= MIN_CONTRIBUTION).tolist() if i != target]
    best = [i for i in kept if named[i][1]] or kept
    best.sort(key=lambda i: -parts[i])
    return [Reason(word=named[i][0], share=float(parts[i])) for i in best[:MAX_REASONS]]


def describe_meanings(
    model: Model,
    meanings: Sequence[Mapping[str, Meaning]],
    names: Sequence[str],
    main: str,
    axes: Mapping[str, Sequence[str]],
) -> Iterator[str]:
    """Yield the meaning of each named target, and which representations see another one.

    axes: for each representation, the axis nearest to each target. Without axes, a meaning is
    another one if its definition is not among those of `main`; without a dictionary, if the similar
    words are far from those of `main`.
    """
    for row, (name, by_name) in enumerate(zip(names, meanings, strict=True)):
        own, others = by_name[main], []
        if own.choices:
            first, *rest = describe_choice(own.choices)
            yield from (f"{name}: {first}", *rest, f"  {own}")
        else:
            yield f"{name}: {own}"
        printed = {choice.sense.key for choice in printed_choices(own.choices)}
        for other, reads in READS.items():
            if other == main or other not in by_name:
                continue
            if axes:
                differs, says = axes[other][row] != axes[main][row], axes[other][row]
            elif own.choices:
                sense = by_name[other].choices[0].sense
                differs, says = sense.key not in printed, sense.definition
            else:
                like = by_name[other].like
                differs, says = _far_apart(model, like, own.like), ", ".join(like)
                says = f"like {says}"
            if differs:
                others.append(f"{other} says {says} ({reads})")
        if others:
            yield f"  but {'; '.join(others)}"


def _far_apart(model: Model, *both: Sequence[str]) -> bool:
    """Return whether the means of two lists of words have a low cosine; not if one is empty."""
    if not all(both):
        return False
    one, other = (
        unit(model.centred_space[[model.vocabulary.row(word) for word in words]].mean(axis=0))
        for words in both
    )
    return bool(one @ other < SAME_MEANING)
