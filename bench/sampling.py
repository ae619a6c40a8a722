"""Does drawing sentences by hashing favour any word? A simulated corpus of Zipf's law.

    python bench/sampling.py [--words 1000000000] [--per-word 20] [--least 180]

Draws sentences of 20 words whose frequencies follow Zipf's law with 1,000,000 types, keeps and
lists them as `ctxembed train --on spark` does (words of fewer than --least occurrences have no
vector), and prints by frequency: how many occurrences are listed against what is expected, and how
often the next word is one of the rarer half of the vocabulary: in the corpus, where the word is
listed, and in all kept sentences.
"""

import argparse
import time

import numpy as np

from ctxembed.text.sampling import hash_numbers

TYPES, LENGTH, BATCH_SIZE = 1_000_000, 20, 1 << 20
BANDS = (10**2, 10**3, 10**4, 10**5, 10**6, 10**7, 10**9)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--words", type=int, default=1_000_000_000)
    parser.add_argument("--per-word", type=int, default=20)
    parser.add_argument("--min-count", "--least", type=int, default=180)
    args = parser.parse_args()
    share = 1 / np.arange(1, TYPES + 1)
    share /= share.sum()
    counts = np.maximum(1, share * args.words)  # as expected; a pass that counts would say it
    chance = np.cumsum(share)
    limits = np.where(counts < args.min_count, 0, np.minimum(1, args.per_word / counts))
    known = counts >= args.min_count
    rare = known & (counts < np.median(counts[known]))
    rng = np.random.default_rng(1)
    listed, beside, kept_beside, kept_of, seen_beside, seen = (np.zeros(TYPES) for _ in range(6))
    sentences = kept_sentences = 0
    begun = time.process_time()
    while sentences * LENGTH < args.words:
        number = min(BATCH_SIZE // LENGTH, args.words // LENGTH - sentences)
        if number <= 0:
            break
        words = np.searchsorted(chance, rng.random((number, LENGTH)).astype(np.float64))
        words = np.minimum(words, TYPES - 1)
        hashed = hash_numbers("corpus", np.arange(sentences, sentences + number), 1)
        kept = hashed < limits[words].max(axis=1)
        next_rare = rare[np.roll(words, -1, axis=1)]
        is_listed = hashed[:, None] < limits[words]
        for total, mask in (
            (listed, is_listed),
            (beside, is_listed & next_rare),
            (kept_of, np.broadcast_to(kept[:, None], words.shape)),
            (kept_beside, kept[:, None] & next_rare),
            (seen, np.ones_like(is_listed)),
            (seen_beside, next_rare),
        ):
            total += np.bincount(words[mask], minlength=TYPES)
        sentences += number
        kept_sentences += int(kept.sum())
    seconds = time.process_time() - begun
    print(f"# {sentences * LENGTH:,} words, {sentences:,} sentences, {seconds:.0f} s")
    print(f"# {known.sum():,} words with a vector; {known.sum() * args.per_word:,} to be listed")
    print(f"# kept sentences {kept_sentences:,} ({kept_sentences / sentences:.3f})")
    print("count_from\ttypes\tlisted\texpected\trare_beside\tlisted_rare_beside\tkept_rare_beside")
    for low, high in zip((args.min_count, *BANDS), BANDS, strict=False):
        band = known & (counts >= low) & (counts < high)
        if not band.any():
            continue
        expected = np.minimum(counts, args.per_word)[band].sum()
        parts = [listed[band].sum(), expected]
        parts += [a[band].sum() / max(1, b[band].sum()) for a, b in (
            (seen_beside, seen), (beside, listed), (kept_beside, kept_of))]  # fmt: skip
        print(low, int(band.sum()), *(f"{part:.4g}" for part in parts), sep="\t")


if __name__ == "__main__":
    main()
