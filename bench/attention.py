"""Attention of many sentences: ctxembed against torch, interleaved in one run, on the same batches.

    python bench/attention.py [--threads 1] [--sentences 10000] [--dim 100] [--rounds 9]

Prints the median seconds of each and their ratio, for every word of every sentence and for one
target a sentence. Needs torch.
"""

import argparse
import os
import time
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

parser = argparse.ArgumentParser()
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--sentences", type=int, default=10_000)
parser.add_argument("--dim", type=int, default=100)
parser.add_argument("--rounds", type=int, default=9)
ARGS = parser.parse_args()
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"  # ctxembed runs batches in threads; BLAS has one in each

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import embedding, linear, scaled_dot_product_attention

from ctxembed.attention.attend import attend
from ctxembed.attention.layer import Layer
from ctxembed.attention.presets import random_layer
from ctxembed.context.parse import BATCH

Ids = NDArray[np.int64]
Floats = NDArray[np.float32]
WORDS = 20_000


def make_batches(rng: np.random.Generator) -> list[Ids]:
    """Draw sentences of about 20 words with Zipf's frequencies, sorted by length into batches."""
    share = 1 / np.arange(1, WORDS + 1)
    share /= share.sum()
    by_length: defaultdict[int, list[Ids]] = defaultdict(list)
    for length in np.clip(rng.poisson(20, ARGS.sentences), 2, 60).tolist():
        by_length[length].append(rng.choice(WORDS, length, p=share))
    batches = []
    for length, sentences in sorted(by_length.items()):
        step = max(1, BATCH // length)
        batches += [np.array(sentences[i : i + step]) for i in range(0, len(sentences), step)]
    return batches


def run_numpy(
    vectors: NDArray[np.float32], layer: Layer, ids: Ids, one: bool
) -> NDArray[np.float32]:
    """Return the contextual vectors of a batch: gather, project, attend, project."""
    queries = np.full(len(ids), ids.shape[1] // 2) if one else None
    return attend(layer, vectors.take(ids, axis=0), queries=queries).output


def run_with_torch(
    vectors: torch.Tensor, matrices: list[torch.Tensor], heads: int, ids: Ids, one: bool
) -> torch.Tensor:
    """Return the same by torch."""
    x = embedding(torch.from_numpy(ids), vectors)
    targets = x[:, [ids.shape[1] // 2]] if one else x

    def split(y: torch.Tensor, matrix: torch.Tensor) -> torch.Tensor:
        return linear(y, matrix).view(len(ids), y.shape[1], heads, -1).transpose(1, 2)

    w_q, w_k, w_v, w_o = matrices
    mixed = scaled_dot_product_attention(split(targets, w_q), split(x, w_k), split(x, w_v))
    return linear(mixed.transpose(1, 2).flatten(2), w_o)


def seconds(work: Callable[[], object]) -> tuple[float, float]:
    """Time one call: by the clock, and in processor time, which a busy machine changes less."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu


def measure(batches: list[Ids], heads: int, one: bool, pool: ThreadPoolExecutor) -> None:
    """Run both in turns and print a line."""
    rng = np.random.default_rng(heads)
    vectors = rng.normal(size=(WORDS, ARGS.dim)).astype(np.float32)
    layer = random_layer(ARGS.dim, heads, rng)
    matrices = [
        torch.from_numpy(np.concatenate(list(w), axis=axis).T.copy())
        for w, axis in ((layer.w_q, 1), (layer.w_k, 1), (layer.w_v, 1), (layer.w_o, 0))
        if w is not None
    ]
    table = torch.from_numpy(vectors)
    map_batches = pool.map if ARGS.threads > 1 else map

    def run_ctxembed() -> list[Floats]:
        return list(map_batches(lambda ids: run_numpy(vectors, layer, ids, one), batches))

    def run_torch() -> list[torch.Tensor]:
        return [run_with_torch(table, matrices, heads, ids, one) for ids in batches]

    gap = max(
        float(np.abs(a - b.numpy()).max()) for a, b in zip(run_ctxembed(), run_torch(), strict=True)
    )
    times = np.array([[seconds(run_ctxembed), seconds(run_torch)] for _ in range(ARGS.rounds)])
    (ctxembed_s, _), (torch_s, _) = np.median(times, axis=0)
    ratio, cpu = np.median(times[:, 1] / times[:, 0], axis=0)
    name = "one" if one else "all"
    print(f"{name}\t{heads}\t{ctxembed_s:.3f}\t{torch_s:.3f}\t{ratio:.2f}\t{cpu:.2f}\t{gap:.1e}")


def main() -> None:
    torch.set_num_threads(ARGS.threads)
    batches = make_batches(np.random.default_rng(1))
    words = sum(batch.size for batch in batches)
    print(f"# {ARGS.sentences} sentences, {words} words, {ARGS.dim} dimensions,", end=" ")
    print(f"{len(batches)} batches, threads: {ARGS.threads}, torch {torch.__version__}")
    print("targets\theads\tctxembed_s\ttorch_s\ttorch/ctxembed\tcpu_torch/ctxembed\tdifference")
    with ThreadPoolExecutor(ARGS.threads) as pool, torch.inference_mode():
        for one in (False, True):
            for heads in (1, 4):
                measure(batches, heads, one, pool)


if __name__ == "__main__":
    main()
