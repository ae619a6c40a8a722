"""How far two labellings of the same items agree."""

import numpy as np
from numpy.typing import NDArray

Labels = NDArray[np.signedinteger]


def precision_recall(
    gold: Labels, answers: Labels, number: int
) -> list[tuple[float, float, float]]:
    """Return precision, recall and F1 of each label, from 0 to number - 1; 0 where undefined.

    >>> precision_recall(np.array([0, 0, 1]), np.array([0, 1, 1]), 2)[0]
    (1.0, 0.5, 0.6666666666666666)
    """
    figures = []
    for label in range(number):
        both = int(((gold == label) & (answers == label)).sum())
        assigned, wanted = int((answers == label).sum()), int((gold == label).sum())
        precision, recall = both / max(1, assigned), both / max(1, wanted)
        figures.append((precision, recall, 2 * both / max(1, assigned + wanted)))
    return figures


def cohen_kappa(one: Labels, other: Labels) -> float:
    """Return Cohen's κ: agreement beyond chance; 1 if both have one label only, the same.

    >>> cohen_kappa(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]))
    0.5
    """
    labels = np.unique(np.concatenate([one, other]))
    agree = float((one == other).mean())
    chance = float(sum((one == label).mean() * (other == label).mean() for label in labels))
    return 1.0 if chance == 1 else (agree - chance) / (1 - chance)
