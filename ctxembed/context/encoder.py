"""A pre-trained transformer as a representation: the vectors of a local model's tokens."""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from ctxembed.context.parse import Occurrence, Written
from ctxembed.errors import ModelError, UsageError
from ctxembed.stats.vectors import Floats

REACH = 100  # words kept on either side of a target: encoders can read a few hundred tokens
TOKENS_PER_BATCH = 1 << 13  # subwords


@dataclass(frozen=True)
class Encoder:
    """A Hugging Face model in a directory, never downloaded; it reads sentences as written."""

    path: Path
    name: str
    vocab: Sequence[str] = ()  # of the ctxembed model, by row

    @classmethod
    def open(cls, name: str, vocab: Sequence[str] = ()) -> "Encoder":
        """Open a model in a directory, or in an installed package, whose code is not run."""
        if find_spec("transformers") is None or find_spec("torch") is None:
            raise UsageError("--encoder needs: pip install 'ctxembed[transformers]'")
        folder, package = Path(name), name.replace("-", "_")
        if not folder.is_dir():
            spec = find_spec(package) if package.isidentifier() else None
            if spec is None or not spec.submodule_search_locations:
                raise ModelError(f"{name}: no directory and no installed package of this name")
            folder = Path(spec.submodule_search_locations[0])
        configs = sorted(folder.rglob("config.json"), key=lambda path: len(path.parts))
        if not configs:
            raise ModelError(f"{name}: no Hugging Face model in it (no config.json)")
        path = configs[0].parent
        return cls(path, path.name if path.name != "model" else path.parent.name, vocab)

    @cached_property
    def _tokenizer_and_model(self) -> tuple[Any, Any]:
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        import torch

        hub: Any = import_module("transformers")
        hub.utils.logging.set_verbosity_error()
        hub.utils.logging.disable_progress_bar()
        threads = re.match("[1-9][0-9]{0,3}", os.environ.get("OMP_NUM_THREADS", ""))  # also "4,2"
        torch.set_num_threads(int(threads[0]) if threads else 1)
        try:
            safe = {"local_files_only": True, "trust_remote_code": False}
            tokenizer = hub.AutoTokenizer.from_pretrained(self.path, add_prefix_space=True, **safe)
            model = hub.AutoModel.from_pretrained(self.path, use_safetensors=True, **safe)
        except Exception as error:  # a damaged directory raises anything
            reason = (str(error).splitlines() or [type(error).__name__])[0]
            raise ModelError(f"{self.path}: cannot be opened as an encoder: {reason}") from None
        if not tokenizer.is_fast:
            raise ModelError(f"{self.path}: has no fast tokenizer, which tells words apart")
        return tokenizer, model.eval()

    @property
    def dim(self) -> int:
        """Length of a vector."""
        return int(self._tokenizer_and_model[1].config.hidden_size)

    def vectors(self, occurrences: Sequence[Occurrence]) -> Floats:
        """Return (n, d): the mean of the last layer's vectors of each target's subwords."""
        read = [o.written or Written([self.vocab[i] for i in o.ids], o.target) for o in occurrences]
        return self.embed([item.words for item in read], [item.target for item in read])

    def alone(self, rows: Sequence[int]) -> Floats:
        """Return (n, d) vectors of words of the vocabulary, without a sentence."""
        return self.embed([[self.vocab[row]] for row in rows], [range(1)] * len(rows))

    def embed(self, sentences: Sequence[Sequence[str]], targets: Sequence[range]) -> Floats:
        """Return (n, d) vectors of targets in sentences of words."""
        import torch

        tokenizer, model = self._tokenizer_and_model
        vectors = np.full((len(sentences), self.dim), np.nan, np.float32)
        order = np.argsort([min(len(words), 2 * REACH) for words in sentences], kind="stable")
        batches: list[list[int]] = []  # of sentences of about one length
        for row in order.tolist():
            tokens = 2 * (min(len(sentences[row]), 2 * REACH) + 1)  # a word is some 1.3 subwords
            if not batches or (len(batches[-1]) + 1) * tokens > TOKENS_PER_BATCH:
                batches.append([])
            batches[-1].append(row)
        for rows in batches:
            texts, spans = [], []
            for row in rows:
                first = max(0, targets[row].start - REACH)
                texts.append(list(sentences[row][first : targets[row].stop + REACH]))
                spans.append(range(targets[row].start - first, targets[row].stop - first))
            encoded = tokenizer(
                texts, is_split_into_words=True, padding=True, truncation=True, return_tensors="pt"
            )
            with torch.inference_mode():
                hidden = model(**encoded).last_hidden_state.float().numpy()  # (B, T, d)
            for number, row in enumerate(rows):
                words = enumerate(encoded.word_ids(number))
                inside = [i for i, word in words if word is not None and word in spans[number]]
                if inside:
                    vectors[row] = hidden[number, inside].mean(axis=0)
        return vectors
