"""Sentences as a question gets them: their targets, and the attention that is asked for."""

from collections.abc import Iterable, Sequence

from ctxembed.ask.illustrate import given_attention
from ctxembed.context.representations import (
    Attention,
    Occurrence,
    Parsed,
    Representation,
    Representations,
    parse,
)
from ctxembed.errors import UsageError
from ctxembed.store.model import Model
from ctxembed.text.function_words import is_content


def read_sentences(
    representations: Representations, sentences: str | Sequence[str], word: str | None
) -> list[Parsed]:
    """Read sentences; where no target is marked or named, each content word is one."""
    parsed = []
    for text in [sentences] if isinstance(sentences, str) else sentences:
        read = parse(representations.model, text, word)
        parsed.append(
            read if word is not None or "[" in text else content_only(representations, read)
        )
    return parsed


def content_only(representations: Representations, parsed: Parsed) -> Parsed:
    """Keep the targets that are content words; all of them where none is."""

    def content(item: Occurrence, counted: bool) -> bool:
        row = item.ids[item.target.start]
        frequency = float(representations.frequency[row]) if counted else 0.0
        return len(item.target) > 1 or is_content(parsed.words[item.target.start], frequency)

    for counted in (True, False):  # in a small corpus every word is frequent
        kept = [item for item in parsed.occurrences if content(item, counted)]
        if kept:
            return Parsed(parsed.words, kept, parsed.unknown)
    return parsed


def tell_skipped(sentences: Iterable[Parsed]) -> list[str]:
    """Name the context words that are unknown, each once."""
    unknown = list(dict.fromkeys(word for parsed in sentences for word in parsed.unknown))
    return [f"skipped, not in the vocabulary: {', '.join(unknown)}"] if unknown else []


def general_kind(model: Model, general: str | None) -> str:
    """Choose which attention without parameters: the textbook's for vectors given by hand."""
    return general or ("textbook" if model.by_hand else "cosine")


def name_attention(
    representations: Representations, attention: str | None, general: str | None
) -> str:
    """Choose which attention, where one may be named and a general one asked for."""
    if general and attention not in (None, "general"):
        raise UsageError("--general goes with --attention general")
    return attention or (
        "general" if general or representations.model.by_hand else representations.default()
    )


def choose_attention(
    representations: Representations,
    attention: str | None,
    general: str | None,
    heads: int,
    seed: int,
) -> Attention:
    """Return the attention asked for: the one given by hand, a name, or the model's own."""
    model = representations.model
    if model.by_hand and not (attention or general):
        given = given_attention(model)
        if given is not None:
            return given
    name = name_attention(representations, attention, general)
    chosen = representations.get(name, general_kind(model, general), heads, seed)
    if not isinstance(chosen, Attention):
        raise UsageError(f"--attention {name}: not an attention")
    return chosen


def open_encoders(encoders: Sequence[Representation | str], model: Model) -> list[Representation]:
    """Open transformers by their places, to read what a model knows of a sentence."""
    if not encoders:
        return []
    from ctxembed.context.encoder import Encoder

    return [Encoder.open(e, model.vocab) if isinstance(e, str) else e for e in encoders]
