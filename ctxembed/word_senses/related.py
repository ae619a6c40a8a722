"""Words that a dictionary relates to a target: those of the senses that are probable here."""

from collections.abc import Sequence

from ctxembed.word_senses.definitions import Choice, Definitions

MIN_SURE = 0.05  # probability of a sense whose words are proposed
RELATED = 0.5  # weight of a word of a hypernym, hyponym or similar synset; a synonym has 1


def related_words(definitions: Definitions, choices: Sequence[Choice]) -> dict[int, float]:
    """Return the rows of synonyms and related words of senses, with the probability of the senses.

    choices: the senses of a target, the most probable first.
    """
    find, dictionary = definitions.representations.model.vocabulary.find, definitions.bundled
    related: dict[int, float] = {}
    for choice in choices:
        sense, sure = choice.sense, choice.sure
        if sure < MIN_SURE:
            break
        weights = dict.fromkeys(sense.words, sure)
        if dictionary is not None and sense.synset >= 0:
            for number in dictionary.neighbors(sense.synset):
                for word, *_ in dictionary.synset(number).words:
                    weights.setdefault(word, RELATED * sure)
        for word, weight in weights.items():
            if (row := find(word)) is not None:
                related[row] = related.get(row, 0.0) + weight
    return related
