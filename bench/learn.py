"""Learning speed: the forward and backward pass against torch autograd, interleaved in one run.

    OMP_NUM_THREADS=1 python bench/learn.py

The same layer, parameters and batches for all. torch (fused) uses the same short cut: only
the query is projected, the mixed vectors once. torch (plain) projects every key and value.
"""

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from ctxembed.attention.attend import attend
from ctxembed.attention.layer import Layer
from ctxembed.attention.presets import starting_layer
from ctxembed.attention.terms import sum_between

DIM, HEADS, REACH, BATCH, VOCABULARY, ROUNDS = 100, 4, 24, 512, 20_000, 40
Inputs = tuple[Any, Any, Any, Any]  # x, ids, target, pull


def ctxembed_step(layer: Layer) -> Callable[[Inputs], None]:
    """Return one step as `ctxembed learn` takes it."""

    def step(inputs: Inputs) -> None:
        x, ids, target, pull = inputs
        attend(layer, x, ids, queries=target, mask=np.ones(ids.shape, bool)).backward(pull)

    return step


def torch_step(layer: Layer, fused: bool) -> Callable[[Inputs], None]:
    """Return the same step by autograd."""
    p = {
        name: torch.tensor(array, requires_grad=True) for name, array in layer.parameters().items()
    }
    _, word, wall = layer.terms
    assert word.words is not None and wall.words is not None
    known, heights = word.words, wall.words

    def step(inputs: Inputs) -> None:
        read, ids, target, pull = inputs
        walls = torch.from_numpy(sum_between(heights[ids], target))  # (B, 1, T)
        x, features = torch.from_numpy(read), torch.from_numpy(known[ids])
        own = torch.from_numpy(read[np.arange(len(ids)), target])
        at = torch.from_numpy(target)[:, None]
        positions = torch.arange(x.shape[1])
        row = (positions - at).clamp(-REACH, REACH) + REACH
        bias = (features @ p["word"].T).transpose(1, 2) + p["distance"].T[row].transpose(1, 2)
        bias = bias - p["wall"][:, None] * walls
        bias = bias.masked_fill((positions == at)[:, None], -torch.inf)
        k, v = (None, None) if fused else (x[:, None] @ p["w_k"], x[:, None] @ p["w_v"])

        def weigh(query_input: Any, first: int, last: int) -> Any:
            w_q = p["w_q"][first:last, : query_input.shape[1]]
            q = torch.einsum("bd,hdk->bhk", query_input, w_q) + p["b_q"][first:last]
            if k is None:
                sought = torch.einsum("bhk,hdk->bhd", q, p["w_k"][first:last])
                scores = sought @ x.transpose(1, 2) / DIM**0.5
            else:
                scores = (k[:, first:last] @ q[..., None])[..., 0] / DIM**0.5
            return torch.softmax(scores + bias[:, first:last], -1)

        near = weigh(own, 0, 1)
        n = torch.nn.functional.normalize((near @ x)[:, 0], dim=-1)
        weights = torch.cat([near, weigh(torch.cat([own, n], dim=1), 1, HEADS)], dim=1)
        if v is None:
            mixed = torch.einsum("bhd,hdk->bhk", weights @ x, p["w_v"])
        else:
            mixed = (weights[:, :, None] @ v)[:, :, 0]
        output: Any = p["own"] * own + torch.einsum("bhk,hkd->bd", mixed, p["w_o"])
        for tensor in p.values():
            tensor.grad = None
        output.backward(torch.from_numpy(pull[:, 0]))

    return step


def main() -> None:
    """Print tokens per second and the ratios."""
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    x = rng.standard_normal((VOCABULARY, DIM)).astype(np.float32)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    rest = rng.standard_normal((VOCABULARY, 5)).astype(np.float32)
    layer = starting_layer(DIM, rng, rest[:, :4], np.abs(rest[:, 4]), heads=HEADS, reach=REACH)
    contestants = {
        "ctxembed": ctxembed_step(layer),
        "torch (fused)": torch_step(layer, True),
        "torch (plain)": torch_step(layer, False),
    }
    rates: dict[str, list[float]] = {name: [] for name in contestants}
    for number in range(ROUNDS + 3):
        length = int(rng.integers(8, 48))
        ids = rng.integers(0, VOCABULARY, (BATCH, length))
        target = rng.integers(0, length, BATCH).astype(np.intp)
        pull = rng.standard_normal((BATCH, 1, DIM)).astype(np.float32)
        for name, step in contestants.items():
            begin = time.perf_counter()
            step((x[ids], ids, target, pull))
            if number > 2:  # the first rounds warm up
                rates[name].append(ids.size / (time.perf_counter() - begin))
    for name, rate in rates.items():
        ratio = statistics.median(a / b for a, b in zip(rates["ctxembed"], rate, strict=True))
        print(f"{name:14} {statistics.median(rate):12,.0f} tokens/s   ctxembed x {ratio:.2f}")


if __name__ == "__main__":
    main()
