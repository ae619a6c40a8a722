"""Name words that explain what a target means in its sentence."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ctxembed.context.representation import ModelRepresentation
from ctxembed.explanation.substitutes import Rows, SubstituteRanker
from ctxembed.model.model import Model
from ctxembed.static.space import Space
from ctxembed.stats.vectors import Floats, unit
from ctxembed.word_senses.related import RELATED

# Of words that explain the meaning; chosen on the part `choose` of bench/everyday.tsv.
NAMED_NEAR = 150  # candidates near the target: the first ones are mostly of its frequent sense
CONTEXT, PROBABLE = 4.0, 4.0  # weights beside the cosine with the target, which has 1
MIN_COSINE = 0.1  # a lower one counts as this
MIN_NEAR = 0.05  # cosine with the target of a word that no dictionary relates to it
MIN_RELATED = 0.1  # probability of the senses of a related word
SURE_RELATED = 0.36  # the same, of a word that is named in any context
MIN_CONTEXT = 0.3  # cosine with the contextual vector
# Of words that explain a definition: weights of a logistic regression on 3,900 words for 285
# sentences of bench/homonyms.tsv, each of which a reader called good or not.
SENSE_NEAR, SENSE_TEXT, SENSE_CONSTANT = 0.8, 6.6, -3.6
SENSE_KINDS = (2.8, 1.8, 1.5)  # a synonym; of a related synset; of the same kind
FAMILIAR, RARE, COMMON = 1.4e-6, 0.48, -0.18  # a frequency; slopes of its log below and above
NAMED, FIRST_TWO = 0.0, -1.1  # least scores: as likely good as not; good in one of four


@dataclass(frozen=True)
class Candidates:
    """Words that may explain a target, and what does not depend on a representation."""

    model: Model
    target: Sequence[int]  # rows of the target itself
    rows: Rows  # (n,)
    near: Floats  # (n,) cosines with the target
    related: Floats  # (n,) probability of the dictionary's senses of a word

    @classmethod
    def of(cls, ranker: SubstituteRanker, number: int) -> "Candidates":
        """Return the candidates of a target, by its number."""
        rows, model = ranker.pools[number], ranker.model
        probable = ranker.related[number] if ranker.related else {}
        related = np.array([probable.get(row, 0.0) for row in rows.tolist()])
        near = model.centred_space[rows] @ ranker.own[number]
        target = ranker.items[number].own.tolist() if ranker.items else ()
        return cls(model, target, rows, near, related)

    def name(
        self, representations: Sequence[ModelRepresentation | None], vectors: Floats
    ) -> list[list[int]]:
        """Return the rows of words that explain the target, by each of its vectors (R, d).

            log cos(word, target) + 4 log cos(word, context) + 4 related

        A sum of logarithms, so that a word has to be near to both. The best come first.
        representations: None to leave context out.
        """
        related, cosines = self.related, self._cosines(representations, vectors)
        if self.model.is_worked_example:
            return [
                self._name_moved(None if one is None else row)
                for one, row in zip(representations, cosines, strict=True)
            ]
        sure, likely = related >= SURE_RELATED, related >= MIN_RELATED
        kept = sure | (likely | (self.near >= MIN_NEAR)) & (cosines >= MIN_CONTEXT)
        # The words of a sense that is sure need not fit the context: it has decided already.
        cosines = np.where(sure, np.maximum(cosines, MIN_CONTEXT), cosines)
        near = np.where(likely, np.maximum(self.near, MIN_CONTEXT), self.near)
        scores = CONTEXT * np.log(np.maximum(cosines, MIN_COSINE))  # (R, n)
        scores += np.log(np.maximum(near, MIN_COSINE)) + PROBABLE * related
        for row, representation in enumerate(representations):
            if representation is None:
                scores[row], kept[row] = self.near, True
        best = np.argsort(np.where(kept, -scores, np.inf), axis=1, kind="stable")
        ends = np.count_nonzero(kept, axis=1).tolist()
        return [self.rows[own[:end]].tolist() for own, end in zip(best, ends, strict=True)]

    def name_sense(self, text: Floats, sure: float) -> Iterator[int]:
        """Yield the rows of words that explain a definition, the best first; none if none fits.

        text: (d,) of the definition; sure: its probability. Words that a reader accepts more often
        than not; if there is one or none, the first two that come near to it.
        """
        scores = self.score_sense(text, sure)
        order = np.argsort(-scores, kind="stable")
        good = order[scores[order] > NAMED]
        two = order[scores[order] > FIRST_TWO][:2]
        yield from self.rows[good if len(good) > 1 else two].tolist()

    def score_sense(self, text: Floats, sure: float) -> Floats:
        """Return (n,) the score of each candidate as a word that explains a definition.

            .8 cos(word, target) + 6.6 cos(word, text) + kind of relation + frequency - 3.6

        The logarithm of the odds that a reader accepts the word. Context has no part in it: it has
        decided the definition.
        """
        model, related = self.model, self.related / sure
        kinds = np.select([related >= 1, related >= RELATED, related > 0], SENSE_KINDS)
        familiar = np.log(np.maximum(model.seen[self.rows], 1) / model.seen_tokens / FAMILIAR)
        scores: Floats = SENSE_CONSTANT + SENSE_NEAR * self.near + kinds
        scores += SENSE_TEXT * (unit(model.space[self.rows]) @ text)
        scores += np.where(familiar < 0, RARE, COMMON) * familiar
        return scores

    def _cosines(
        self, representations: Sequence[ModelRepresentation | None], vectors: Floats
    ) -> Floats:
        """Return (R, n) the cosines of vectors (R, d) with the words without a sentence."""
        cosines, known = np.zeros((len(vectors), len(self.rows))), dict[int, Floats]()
        units = unit(vectors)
        for row, one in enumerate(representations):
            if one is not None:
                if id(one.inputs) not in known:
                    words = one.alone(self.rows)
                    # those of a Space have length 1
                    known[id(one.inputs)] = words if isinstance(one.inputs, Space) else unit(words)
                cosines[row] = known[id(one.inputs)] @ units[row]
        return cosines

    def _name_moved(self, cosines: Floats | None) -> list[int]:
        """Return the words of a worked example that context moved a target towards, nearest first.

        cosines: with the contextual vector; None for the words near to the static vector. An
        example has a few words: the most similar ones may be words that the target moved away from.
        """
        vectors = self.model.vectors
        near = unit(vectors[self.rows]) @ unit(vectors[list(self.target)].mean(axis=0))
        order = np.argsort(-(near if cosines is None else cosines), kind="stable")
        return [int(self.rows[i]) for i in order if cosines is None or cosines[i] > near[i]]
