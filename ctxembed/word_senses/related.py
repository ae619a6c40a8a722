"""Words that a dictionary relates to a target: those of the senses that are probable here."""

from collections.abc import Sequence

from ctxembed.word_senses.definitions import Choice, Definitions
from ctxembed.word_senses.dictionary import Sense

MIN_SURE = 0.05  # probability of a sense whose words are proposed
RELATED = 0.5  # weight of a word of a hypernym, hyponym or similar synset; a synonym has 1
SISTER = 0.25  # weight of a word of another hyponym of the hypernym: a word of the same kind
MAX_SISTERS = 40  # synsets; the hyponyms of a more general hypernym are hardly alike


def related_words(definitions: Definitions, choices: Sequence[Choice]) -> dict[int, float]:
    """Return the rows of synonyms and related words of senses, with the probability of the senses.

    choices: the senses of a target, the most probable first.
    """
    related: dict[int, float] = {}
    for choice in choices:
        sense, sure = choice.sense, choice.sure
        if sure < MIN_SURE:
            break
        if (weights := definitions.related.get(sense.key)) is None:
            weights = definitions.related[sense.key] = _weigh_related(definitions, sense)
        for row, weight in weights:
            related[row] = related.get(row, 0.0) + weight * sure
    return related


def _weigh_related(definitions: Definitions, sense: Sense) -> list[tuple[int, float]]:
    """Return the row of each known word that is related to a sense, and its weight."""
    find, dictionary = definitions.representations.model.vocabulary.find, definitions.bundled
    weights = dict.fromkeys(sense.words, 1.0)
    if dictionary is not None and sense.synset >= 0:
        neighbors = dictionary.neighbors(sense.synset)
        sisters: list[int] = []
        for number in neighbors:
            synset = dictionary.synset(number)
            for word, *_ in synset.words:
                weights.setdefault(word, RELATED)
            if number < sense.synset and sense.part == synset.part == "n":  # its hypernym, mostly
                below = [other for other in dictionary.neighbors(number) if other > number]
                sisters += below if len(below) <= MAX_SISTERS else []
        for number in sisters:
            for word, *_ in dictionary.synset(number).words:
                weights.setdefault(word, SISTER)
    rows = ((find(word), weight) for word, weight in weights.items())
    return [(row, weight) for row, weight in rows if row is not None]
