"""Join the vectors of a model with another corpus."""

from collections.abc import Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctxembed.errors import CorpusError
from ctxembed.model.bundled import bundled_name, on_model
from ctxembed.model.model import Model
from ctxembed.model.write import write_description
from ctxembed.progress import SILENT, Progress
from ctxembed.static.engine import cores
from ctxembed.static.space import Quantized
from ctxembed.storage.atomic import atomic_directory
from ctxembed.table import PROPERTIES, Cell, Table
from ctxembed.text.build_index import Counted, build, renumber, write_occurrences
from ctxembed.text.corpus import Corpus, as_corpus
from ctxembed.text.lines import write_lines
from ctxembed.text.phrases import FILE as PHRASES
from ctxembed.text.phrases import Phrases, join_known, write_phrases
from ctxembed.training.shrink import REWRITTEN, copy_attentions

UNKNOWN_SHOWN = 8  # unknown words listed in the note


@on_model(*PROPERTIES)
def index(
    model: Model, corpus: Corpus | str | Path | Sequence[str | Path],
    output: str | Path = "ctxembed-model", *, force: bool = False, progress: Progress = SILENT,
) -> Table:  # fmt: skip
    """Write a model with another one's vectors and attentions and this corpus; return a summary."""
    corpus, vocabulary = as_corpus(corpus), len(model.vocabulary)
    check = partial(model.check_unchanged, output)
    with atomic_directory(Path(output), replace=force, check=check) as folder:
        (folder / "index").mkdir()
        counted, unknown, counts = index_corpus(model, corpus, folder / "index", progress, True)
        if len(unknown) == len(counted.types):
            names = ", ".join(corpus.names)
            raise CorpusError(f"{names}: the model has a vector for none of its words")
        if isinstance(model.vocabulary.tokenizer, Phrases):
            write_phrases(folder / PHRASES, model.vocabulary.tokenizer)
        for name in ("vectors", "output", "frames", "seen", "mean"):
            array = getattr(model, name)
            if array is not None:
                array = array.rows if isinstance(array, Quantized) else array
                np.save(folder / f"{name}.npy", array)
        meta = {key: value for key, value in model.meta.items() if key not in REWRITTEN}
        source = bundled_name(model.path) or str(model.path)
        meta |= {"seen_tokens": model.seen_tokens, "vectors_of": source}
        meta |= {"dropped_words": len(unknown), **describe_corpus(corpus, counted)}
        write_description(folder, model.vocabulary.words, counts[:vocabulary], model.dim, meta)
        copy_attentions(model, Model.open(folder))
    unknown_counts = counts[vocabulary:].tolist()
    unknown_share = sum(unknown_counts) / counted.tokens
    summary: dict[str, Cell] = {
        "sentences": counted.sentences, "tokens": counted.tokens,
        "known_words": int(np.count_nonzero(counts[:vocabulary])), "unknown_words": len(unknown),
        "unknown_tokens": sum(unknown_counts), "unknown_share": unknown_share,
        "vectors": vocabulary, "dim": model.dim, "model": str(output),
    }  # fmt: skip
    pairs = zip(unknown[:UNKNOWN_SHOWN], unknown_counts, strict=False)
    listed = ", ".join(f"{word} {number}" for word, number in pairs)
    note = (
        f"{unknown_share:.1%} of the text, {len(unknown)} words, has no vector and is skipped:"
        f" {listed}{', ...' if len(unknown) > UNKNOWN_SHOWN else ''}"
    )
    return Table(PROPERTIES, summary.items(), [note] if unknown else [])


def describe_corpus(corpus: Corpus, counted: Counted) -> dict[str, Any]:
    """Return what model.json says about an indexed corpus."""
    names = ("sentences", "tokens", "document", "documents", "files")
    facts: dict[str, Any] = {name: getattr(counted, name) for name in names}
    if corpus.table is not None:
        facts["metadata"] = {"name": corpus.table.name, "sha256": corpus.table.sha256}
    return {**facts, "lines": corpus.lines, "encoding": corpus.encoding}


def index_corpus(
    model: Model, corpus: Corpus, folder: Path, progress: Progress, keep: bool = False
) -> tuple[Counted, list[str], NDArray[np.int64]]:
    """Write an index of a corpus; return what was counted, its unknown words, counts of all ids."""
    counted = build(corpus, model.vocabulary.tokenizer, folder, cores(), progress, keep)
    if isinstance(model.vocabulary.tokenizer, Phrases):
        counted = join_known(folder, counted, model.vocabulary.tokenizer)
    known = {word: model.vocabulary.find(word) for word in counted.types}
    unknown = [word for word, row in known.items() if row is None]
    rows = known | dict(zip(unknown, count(len(model.vocabulary)), strict=False))
    counts = renumber(folder, list(rows.values()), len(model.vocabulary) + len(unknown))
    write_occurrences(folder, counts[: len(model.vocabulary)])
    write_lines(folder / "rare.txt", unknown)
    return counted, unknown, counts
