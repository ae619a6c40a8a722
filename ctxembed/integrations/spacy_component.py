"""The spaCy component `ctxembed`: contextual vectors and senses of the tokens of a Doc.

nlp.add_pipe("ctxembed", config={"model": "everyday"})
token._.ctx_vector   # (d,) numbers, or None where the word is unknown
token._.sense        # the name of its saved sense, or words that mark it; None without one
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc, Span, Token

from ctxembed.context.representations import Representations
from ctxembed.context.sentences import Target, choose_representation
from ctxembed.explanation.substitutes import assign_sense
from ctxembed.model.bundled import open_model
from ctxembed.queries.contextualize import contextual_vectors

BATCH_SIZE = 64  # documents whose sentences are run together


class ContextComponent:
    """A component of a pipeline that sets `token._.ctx_vector` and `token._.sense`."""

    def __init__(self, model: str | None = None, attention: str | None = None) -> None:
        self.model = open_model(model)
        self.representations = Representations.of(self.model)
        self.representation = choose_representation(self.representations, attention, None)
        for name in ("ctx_vector", "sense"):
            if not Token.has_extension(name):
                Token.set_extension(name, default=None)

    def __call__(self, doc: Doc) -> Doc:
        """Return the document with its tokens described."""
        self._describe([doc])
        return doc

    def pipe(self, stream: Iterable[Doc], batch_size: int = BATCH_SIZE) -> Iterator[Doc]:
        """Yield documents with their tokens described, several at a time."""
        stream = iter(stream)
        while docs := list(islice(stream, batch_size)):
            self._describe(docs)
            yield from docs

    def _describe(self, docs: Iterable[Doc]) -> None:
        """Set the vectors and senses of the words of documents, sentence by sentence."""
        spans = [span for doc in docs for span in _sentences(doc)]
        words = self.model.vocabulary.tokenizer
        texts = [span.text.replace("[", " ").replace("]", " ") for span in spans]
        places = [[(start, end) for _, start, end in words.tokens(text)] for text in texts]
        for targets, vectors in contextual_vectors(
            self.model, self.representation, texts, every_word=True
        ):
            for target, vector in zip(targets, vectors, strict=True):
                span = spans[target.sentence - 1]
                start, end = places[target.sentence - 1][target.item.position - 1]
                sense = self._name_sense(target)
                for token in _covered(span, start, end):
                    token._.ctx_vector = vector.copy()
                    token._.sense = sense

    def _name_sense(self, target: Target) -> str | None:
        """Return the name of a word's saved sense in its sentence, or the first markers of it."""
        assigned = assign_sense(self.representations, target.item)
        if assigned is None:
            return None
        return assigned.saved.describe(assigned.label)


def _sentences(doc: Doc) -> list[Span]:
    """Return the sentences of a document, or all of it where no component has split it."""
    return list(doc.sents) if doc.has_annotation("SENT_START") else [doc[:]]


def _covered(span: Span, start: int, end: int) -> Iterator[Token]:
    """Yield the tokens between two characters of a sentence: do and n't of don't."""
    for token in span:
        first = token.idx - span.start_char
        if first < end and start < first + len(token) and not (token.is_punct or token.is_space):
            yield token


@Language.factory("ctxembed", default_config={"model": None, "attention": None})
def create_component(
    nlp: Any, name: str, model: str | None, attention: str | None
) -> ContextComponent:
    """Return the component for `nlp.add_pipe("ctxembed")`."""
    return ContextComponent(model, attention)
