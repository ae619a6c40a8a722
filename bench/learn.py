"""Learning speed: our forward and backward pass against torch autograd, interleaved in one run.

    OMP_NUM_THREADS=1 python bench/learn.py

The same layer, parameters and batches for all. torch (fused) uses the same short cut as ours: only
the query is projected, the mixed vectors once. torch (plain) projects every key and value.
"""

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from ctxembed.attention.trained import Words, forward, start
from ctxembed.attention.walls import between, neighbourhood

DIM, HEADS, REACH, BATCH, VOCABULARY, ROUNDS = 100, 4, 24, 512, 20_000, 40
Inputs = tuple[Words, Any, Any, Any, Any]


def ours(parameters: dict[str, Any]) -> Callable[[Inputs], None]:
    """One step as `ctxembed learn` takes it."""

    def step(inputs: Inputs) -> None:
        words, own, target, known, pull = inputs
        _, backward = forward(parameters, words, own, target, known)
        backward(pull)

    return step


def torch_step(parameters: dict[str, Any], fused: bool) -> Callable[[Inputs], None]:
    """The same step by autograd."""
    p = {name: torch.tensor(array, requires_grad=True) for name, array in parameters.items()}

    def step(inputs: Inputs) -> None:
        words, own, target, known, pull = inputs
        walls = between(words.heights, target)
        around = neighbourhood(words.x, words.salience, walls, target, known)[:, 0]
        asked = torch.from_numpy(np.concatenate([own, around], axis=1))
        x, features = torch.from_numpy(words.x), torch.from_numpy(words.features)
        at = torch.from_numpy(target)[:, None]
        places = torch.arange(x.shape[1])
        q = torch.einsum("bd,hdk->bhk", asked, p["w_q"]) + p["b_q"]
        if fused:
            scores = torch.einsum("bhk,hdk->bhd", q, p["w_k"]) @ x.transpose(1, 2) / DIM**0.5
        else:
            k, v = x[:, None] @ p["w_k"], x[:, None] @ p["w_v"]
            scores = (k @ q[..., None])[..., 0] / DIM**0.5
        row = (places - at).clamp(-REACH, REACH) + REACH
        scores = scores + (features @ p["b_f"].T).transpose(1, 2)
        scores = scores + p["position"].T[row].transpose(1, 2)
        scores = scores - p["wall"][:, None] * torch.from_numpy(walls)
        weights = torch.softmax(scores.masked_fill((places == at)[:, None], -torch.inf), -1)
        if fused:
            mixed = torch.einsum("bhd,hdk->bhk", weights @ x, p["w_v"])
        else:
            mixed = (weights[:, :, None] @ v)[:, :, 0]
        output: Any = p["own"] * torch.from_numpy(own)
        output = output + torch.einsum("bhk,hkd->bd", mixed, p["w_o"])
        for tensor in p.values():
            tensor.grad = None
        output.backward(torch.from_numpy(pull))

    return step


def main() -> None:
    """Print tokens per second and the ratios."""
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    parameters = start(DIM, rng, heads=HEADS, reach=REACH)
    x = rng.standard_normal((VOCABULARY, DIM)).astype(np.float32)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    rest = rng.standard_normal((VOCABULARY, 6)).astype(np.float32)
    table = Words(x, rest[:, :4], rest[:, 4], np.abs(rest[:, 5]) / 10)
    contestants = {
        "ctxembed": ours(parameters),
        "torch (fused)": torch_step(parameters, True),
        "torch (plain)": torch_step(parameters, False),
    }
    rates: dict[str, list[float]] = {name: [] for name in contestants}
    for number in range(ROUNDS + 3):
        length = int(rng.integers(8, 48))
        ids = rng.integers(0, VOCABULARY, (BATCH, length))
        target = rng.integers(0, length, BATCH).astype(np.intp)
        own, pull = (rng.standard_normal((BATCH, DIM)).astype(np.float32) for _ in range(2))
        for name, step in contestants.items():
            begin = time.perf_counter()
            step((table.take(ids), own, target, np.ones(ids.shape, bool), pull))
            if number > 2:  # the first rounds warm up
                rates[name].append(ids.size / (time.perf_counter() - begin))
    for name, found in rates.items():
        ratio = statistics.median(a / b for a, b in zip(rates["ctxembed"], found, strict=True))
        print(f"{name:14} {statistics.median(found):12,.0f} tokens/s   ctxembed x {ratio:.2f}")


if __name__ == "__main__":
    main()
