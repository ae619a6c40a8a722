"""Count vectors: one-hot, bag of words, TF-IDF."""

from collections.abc import Iterable, Sequence
from typing import Any

from ctxembed.errors import UsageError
from ctxembed.text.tokenizer import Tokenizer

METHODS = ("one-hot", "bow", "tfidf")


def count_matrix(
    method: str, sentences: Iterable[str], tokenizer: Tokenizer, columns: Sequence[str] = ()
) -> tuple[list[str], list[str], Any]:
    """Return names of rows and columns, and the sparse matrix: one-hot, bow or tfidf.

    Bag of words and TF-IDF have a row a sentence, named by its number, and their columns in
    alphabetical order; one-hot has a row a word, in order of appearance. `columns` are the words
    to count instead, in this order.
    """
    wanted = [tokenizer.normalise(word) for word in columns]
    for word in wanted:
        if wanted.count(word) > 1:
            raise UsageError(f"--columns: {word!r} is there twice")
    empty = UsageError("nothing to do: there are no words in it")
    if method == "one-hot":
        from scipy.sparse import identity

        words = dict.fromkeys(word for text in sentences for word in tokenizer.words(text))
        if not words:
            raise empty
        for word in wanted:
            if word not in words:
                raise UsageError(f"--columns: {word!r} is not in the text")
        names = wanted or list(words)
        return names, names, identity(len(names), dtype=int, format="csr")
    from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

    kind = CountVectorizer if method == "bow" else TfidfVectorizer
    counter = kind(analyzer=tokenizer.words, vocabulary=wanted or None)
    try:
        matrix = counter.fit_transform(sentences)
    except ValueError as error:
        raise (empty if "empty vocabulary" in str(error) else error) from None
    names = [str(name) for name in counter.get_feature_names_out()]
    return [str(row) for row in range(1, matrix.shape[0] + 1)], names, matrix.tocsr()
