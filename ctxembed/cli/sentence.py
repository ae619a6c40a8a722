"""What the commands about sentences have in common: where vectors and attention come from."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from ctxembed.cli.command import F, _stack, model_option, note, open_model, seed_option

if TYPE_CHECKING:
    from ctxembed.context.representations import Attention, Context, Parsed
    from ctxembed.store.model import Model


def attention_options(function: F) -> F:
    """Add the options that choose one attention."""
    return _stack(
        function,
        click.option(
            "--attention",
            metavar="NAME",
            help="learned, general, random or a name; learned where the model has it.",
        ),
        general_option,
        click.option(
            "--heads",
            type=click.IntRange(1, 64),
            default=4,
            show_default=True,
            metavar="N",
            help="Heads of a general (cosine) or random attention.",
        ),
        seed_option,
    )


def general_option(function: F) -> F:
    """Add --general."""
    return click.option(
        "--general",
        type=click.Choice(["textbook", "scaled", "cosine"]),
        help="Which attention without parameters; cosine, or textbook with --vectors.",
    )(function)


def source_options(function: F) -> F:
    """Add -m and --vectors."""
    return _stack(
        function,
        click.option(
            "--vectors",
            metavar="FILE",
            help="Vectors from a small TSV or JSON file instead of a model.",
        ),
        model_option,
    )


@dataclass(frozen=True)
class Source:
    """A model, or vectors given by hand, and the attention asked for."""

    model: "Model"
    context: "Context"
    attention: "Attention"


def open_context(
    model_dir: str | None, vectors: str | None, general: str | None, quiet: bool
) -> tuple["Context", str]:
    """Open a model or a file of vectors; return it with the kind of general attention to use."""
    from ctxembed.context.representations import Context

    if vectors is None:
        return Context(open_model(model_dir, quiet)), general or "cosine"
    if model_dir is not None:
        from ctxembed.errors import UsageError

        raise UsageError("give --vectors or --model, not both")
    from ctxembed.ask.illustrate import given_model

    return Context(given_model(vectors)), general or "textbook"


def open_source(
    model_dir: str | None,
    vectors: str | None,
    attention: str | None,
    general: str | None,
    heads: int,
    seed: int,
    quiet: bool,
) -> Source:
    """Open what the options name."""
    from ctxembed.context.representations import Attention
    from ctxembed.errors import UsageError

    context, kind = open_context(model_dir, vectors, general, quiet)
    if vectors is not None and not (attention or general):
        from ctxembed.ask.illustrate import given_attention

        given = given_attention(vectors, context.model)
        if given is not None:
            return Source(context.model, context, given)
    name = attention or ("general" if general or vectors else context.default())
    if general and name != "general":
        raise UsageError("--general goes with --attention general")
    chosen = context.get(name, kind, heads, seed)
    if not isinstance(chosen, Attention):
        raise UsageError(f"--attention {name}: not an attention")
    return Source(context.model, context, chosen)


def parse_all(
    context: "Context", texts: Iterable[str], word: str | None, quiet: bool
) -> list["Parsed"]:
    """Read sentences; where no target is marked or named, each content word is one."""
    from ctxembed.ask.compare import content_only
    from ctxembed.context.representations import parse

    parsed = []
    for text in texts:
        read = parse(context.model, text, word)
        parsed.append(read if word is not None or "[" in text else content_only(context, read))
    tell_unknown(parsed, quiet)
    return parsed


def tell_unknown(sentences: Iterable["Parsed"], quiet: bool) -> None:
    """Name the words that were skipped, each once."""
    unknown = list(dict.fromkeys(word for parsed in sentences for word in parsed.unknown))
    if unknown:
        note(f"skipped, not in the vocabulary: {', '.join(unknown)}", quiet)
