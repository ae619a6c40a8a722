"""Train one space for two corpora, so that their words can be compared without an alignment."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from ctxembed.context.sides import Sides, sides_by_files
from ctxembed.model.bundled import find_corpus
from ctxembed.model.model import Model
from ctxembed.progress import SILENT, Progress
from ctxembed.text.corpus import Corpus
from ctxembed.training.train import train_model


@contextmanager
def train_joint(
    a: str, b: str, *, save: str | Path | None = None, force: bool = False, document: str = "auto",
    encoding: str = "utf-8", errors: str = "strict", seed: int = 1, progress: Progress = SILENT,
) -> Iterator[Sides]:  # fmt: skip
    """Train a model on two texts or folders, and yield the documents of each.

    save: a new directory where the model stays; None: it is removed afterwards. General attention
    is used, so no attention is learned.
    """
    with TemporaryDirectory(ignore_cleanup_errors=True) as work:
        folder = Path(work) / "joint" if save is None else Path(save)
        a, b = find_corpus(a), find_corpus(b)
        first = len(Corpus([a], encoding=encoding, errors=errors).sources)
        corpus = Corpus([a, b], encoding=encoding, errors=errors, document=document)
        train_model(
            corpus, folder, attention=False, force=force, workers=1, seed=seed, progress=progress
        )
        yield sides_by_files(Model.open(folder), first, [Path(name).name for name in (a, b)])
