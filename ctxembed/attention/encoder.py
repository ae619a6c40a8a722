"""A Transformer encoder over static vectors (Vaswani et al. 2017), forward and backward.

Each block adds what the other words say (attention with several heads), then what the word itself
makes of it (feed-forward); layer normalisation comes before each (Xiong et al. 2020). Positions are
relative: a bias for each head and distance. The output has the size of a static vector, so the
nearest words of an output can be asked for. x: (B, T, d); D: width of the blocks; H: heads.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctxembed.attention.layer import Gradients, Layer, Parameters
from ctxembed.attention.terms import Distance
from ctxembed.stats.vectors import Floats

EPSILON = 1e-5  # of layer normalisation
HIDE = -1e9  # the score of a word that is not there
SLOPES = (0.6, 0.3, 0.15, 0.08, 0.04, 0.02, 0.0, 0.0)  # of distance, where the heads begin
MAX_LAYERS = 4
Ints = NDArray[np.integer[Any]]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Block:
    """The parameters of one block."""

    norm1: Floats  # (2, D) gain and bias of the normalisation before attention
    w_q: Floats  # (D, D) the heads side by side
    w_k: Floats  # (D, D)
    w_v: Floats  # (D, D)
    w_o: Floats  # (D, D)
    b: Floats  # (4, D) added after w_q, w_k, w_v and w_o
    position: Floats  # (H, 2R+1) bias by distance, from R words before to R words after
    norm2: Floats  # (2, D) of the normalisation before feed-forward
    w_1: Floats  # (D, F)
    b_1: Floats  # (F,)
    w_2: Floats  # (F, D)
    b_2: Floats  # (D,)

    def as_layer(self) -> Layer:
        """Return the attention of the block as a layer, for its normalised input with a 1 added.

        The 1 is what the biases multiply. The weights of a head sum to 1, so that it can bring its
        part of the last bias too: the layer's output is all that attention adds in this block.
        """
        heads, (width, _) = len(self.position), self.w_o.shape
        b_q, b_k, b_v, b_o = self.b

        def by_head(w: Floats, b: Floats) -> Floats:  # (H, D+1, D/H)
            whole = np.concatenate([w, b[None]]).astype(np.float64)
            return np.moveaxis(whole.reshape(width + 1, heads, -1), 1, 0)

        w_v = np.zeros((heads, width + 1, width // heads + 1))
        w_v[:, :, :-1] = by_head(self.w_v, b_v)
        w_v[:, -1, -1] = 1
        w_o = np.zeros((heads, width // heads + 1, width + 1))
        w_o[:, :-1, :-1] = self.w_o.reshape(heads, -1, width)
        w_o[:, -1, :-1] = b_o / heads
        return Layer(
            heads, by_head(self.w_q, b_q), by_head(self.w_k, b_k), w_v, w_o,
            scale=(width // heads) ** -0.5, terms=(Distance(self.position.astype(np.float64)),),
        )  # fmt: skip


@dataclass(frozen=True)
class Encoder:
    """The parameters of all blocks, and of what stands before and after them."""

    w_in: Floats  # (d, D)
    b_in: Floats  # (D,)
    hidden: Floats  # (D,) stands for a target that is hidden
    shown: Floats  # (D,) is added to a target that is shown
    blocks: tuple[Block, ...]
    norm: Floats  # (2, D) of the last normalisation
    w_out: Floats  # (D, d)
    b_out: Floats  # (d,)
    scale: Floats  # (1,) log of what cosines are multiplied by in the softmax over words

    @property
    def size(self) -> dict[str, int]:
        """Number and width of the blocks, and number and reach of their heads, by name."""
        position = self.blocks[0].position
        return {
            "layers": len(self.blocks), "width": len(self.b_in), "heads": len(position),
            "reach": position.shape[1] // 2,
        }  # fmt: skip

    def only(self, rows: Ints) -> "Encoder":
        """Return the encoder for a vocabulary of these rows: the same, it has nothing by word."""
        return self

    def parameters(self) -> Gradients:
        """Return all arrays by name; those of the first block begin with 1."""
        named = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "blocks"}
        for number, block in enumerate(self.blocks, 1):
            named |= {f"{number}.{f.name}": getattr(block, f.name) for f in fields(block)}
        return named

    def updated(self, parameters: Parameters) -> "Encoder":
        """Return a copy of the encoder with these parameters replaced."""
        parts: dict[str, dict[str, Any]] = {}
        for name, array in parameters.items():
            block, _, rest = name.rpartition(".")
            parts.setdefault(block, {})[rest] = array
        own = parts.pop("", {})
        blocks = (replace(b, **parts.get(str(n), {})) for n, b in enumerate(self.blocks, 1))
        return replace(self, blocks=tuple(blocks), **own)

    def flatten(self) -> Floats:
        """Return all parameters in one array, in the order of `parameter_shapes`."""
        named, (dim, _) = self.parameters(), self.w_in.shape
        return np.concatenate([named[key].ravel() for key in parameter_shapes(dim, **self.size)])


def parameter_shapes(
    dim: int, layers: int, width: int, heads: int, reach: int
) -> Mapping[str, tuple[int, ...]]:
    """Return the shape of each parameter, named as `Encoder.parameters` does."""
    outer = {
        "w_in": (dim, width), "b_in": (width,), "hidden": (width,), "shown": (width,),
        "norm": (2, width), "w_out": (width, dim), "b_out": (dim,), "scale": (1,),
    }  # fmt: skip
    square, inner = (width, width), 4 * width
    block = {
        "norm1": (2, width), "w_q": square, "w_k": square, "w_v": square, "w_o": square,
        "b": (4, width), "position": (heads, 2 * reach + 1), "norm2": (2, width),
        "w_1": (width, inner), "b_1": (inner,), "w_2": (inner, width), "b_2": (width,),
    }  # fmt: skip
    numbers = range(1, layers + 1)
    return outer | {f"{n}.{name}": shape for n in numbers for name, shape in block.items()}


def unflatten(flat: Floats, dim: int, layers: int, width: int, heads: int, reach: int) -> Encoder:
    """Return the encoder of `Encoder.flatten`; ValueError if its size is another."""
    shapes = parameter_shapes(dim, layers, width, heads, reach)
    ends = np.cumsum([prod(shape) for shape in shapes.values()])
    if flat.shape != (ends[-1],) or width % heads:
        raise ValueError("the parameters are not those of an encoder of this size")
    parts: list[dict[str, Any]] = [{} for _ in range(layers + 1)]
    for (name, shape), part in zip(shapes.items(), np.split(flat, ends[:-1]), strict=True):
        block, _, own = name.rpartition(".")
        parts[int(block or 0)][own] = part.reshape(shape)
    return Encoder(**parts[0], blocks=tuple(Block(**block) for block in parts[1:]))


def random_encoder(
    dim: int, layers: int, rng: "np.random.Generator", width: int = 128, heads: int = 8,
    reach: int = 24,
) -> Encoder:  # fmt: skip
    """Return an encoder to begin learning with; near words count more in the first heads."""

    def normal(rows: int, columns: int, size: float = 1.0) -> Floats:
        return rng.normal(0, size / np.sqrt(rows), (rows, columns)).astype(np.float32)

    def constant(value: float, *shape: int) -> Floats:
        return np.full(shape, value, np.float32)

    def norm() -> Floats:
        return np.stack([constant(1, width), constant(0, width)])

    slopes = np.resize(np.array(SLOPES, np.float32), heads)
    position = -slopes[:, None] * np.abs(np.arange(-reach, reach + 1, dtype=np.float32))
    quiet = 0.3 / np.sqrt(layers)  # what a block adds is small at first
    blocks = tuple(
        Block(
            norm(), normal(width, width), normal(width, width), normal(width, width),
            normal(width, width, quiet),
            constant(0, 4, width), position, norm(), normal(width, 4 * width, 1.4),
            constant(0, 4 * width), normal(4 * width, width, quiet), constant(0, width),
        ) for _ in range(layers)
    )  # fmt: skip
    return Encoder(
        normal(dim, width), constant(0, width), normal(1, width)[0], normal(1, width, 0.1)[0],
        blocks, norm(), normal(width, dim), constant(0, dim), constant(np.log(12), 1),
    )  # fmt: skip


@dataclass(frozen=True)
class Targets:
    """Which words of the sentences (B, T) are asked for."""

    rows: Ints  # (n,) the sentence of each target
    columns: Ints  # (n,) its position
    hidden: Bools  # (n,) whether it is hidden from the encoder

    def take(self, y: Floats) -> Floats:
        """Return (n, D) the targets of y (B, T, D)."""
        return np.asarray(y[self.rows, self.columns])

    def put(self, d_y: Floats, shape: tuple[int, ...]) -> Floats:
        """Return zeros (B, T, D) with d_y (n, D) at the targets: the gradient of `take`."""
        whole = np.zeros(shape, d_y.dtype)
        whole[self.rows, self.columns] = d_y
        return whole


@dataclass(frozen=True)
class EncoderResult:
    """The outputs of the targets; `backward` returns the gradient of every parameter."""

    output: Floats  # (n, d)
    encoder: Encoder
    x: Floats  # (B, T, d) scaled
    targets: Targets
    steps: "Sequence[BlockResult]"  # one for each block
    last: Floats  # (n, D) the output of the last block, normalised
    normal: "Normal"

    def rollout(self) -> Floats:
        """Return (n, T) how much each target saw of each word in the end; each row sums to 1.

        The product of the blocks' weights, averaged over heads. A word keeps half of itself in each
        block: the residual (Abnar and Zuidema 2020).
        """
        rows, columns = self.targets.rows, self.targets.columns
        seen = np.zeros((len(rows), 1, self.x.shape[1]))
        seen[np.arange(len(rows)), 0, columns] = 1
        for step in reversed(self.steps):
            weights = step.weights[rows].mean(axis=1, dtype=np.float64)  # (n, T, T)
            seen = (seen + seen @ weights) / 2
        return seen[:, 0]

    def backward(self, d_output: Floats) -> Gradients:
        """Return the gradient of every parameter, from the gradient of the output (n, d)."""
        e, targets = self.encoder, self.targets
        gradients = {"w_out": self.last.T @ d_output, "b_out": d_output.sum(axis=0)}
        d_y, gradients["norm"] = normalise_backward(d_output @ e.w_out.T, self.normal, e.norm)
        for number in range(len(self.steps), 0, -1):
            d_y, parts = self.steps[number - 1].backward(d_y)
            gradients |= {f"{number}.{name}": part for name, part in parts.items()}
        at = targets.take(d_y)
        gradients["hidden"] = at[targets.hidden].sum(axis=0)
        gradients["shown"] = at[~targets.hidden].sum(axis=0)
        d_y[targets.rows[targets.hidden], targets.columns[targets.hidden]] = 0
        flat = d_y.reshape(-1, d_y.shape[-1])
        gradients["w_in"] = self.x.reshape(-1, self.x.shape[-1]).T @ flat
        gradients["b_in"] = flat.sum(axis=0)
        return gradients


def encode(encoder: Encoder, x: Floats, mask: Bools, targets: Targets) -> EncoderResult:
    """Return the encoder's output for targets in sentences x (B, T, d); mask (B, T): words there.

    Static vectors have length 1; they are scaled so that each number is about 1. After the last
    attention only the targets go on: the other words are not asked for.
    """
    e = encoder
    x = x * x.dtype.type(np.sqrt(x.shape[-1]))
    y = x @ e.w_in + e.b_in  # (B, T, D)
    seen = np.where(targets.hidden[:, None], e.hidden, targets.take(y) + e.shown)
    y[targets.rows, targets.columns] = seen
    steps: list[BlockResult] = []
    for block in e.blocks:
        steps.append(run_block(block, y, mask, targets if block is e.blocks[-1] else None))
        y = steps[-1].output
    last, normal = normalise(y, e.norm)
    return EncoderResult(last @ e.w_out + e.b_out, e, x, targets, steps, last, normal)


@dataclass(frozen=True)
class BlockResult:
    """The output of a block, and every step on the way."""

    output: Floats  # (B, T, D), or (n, D) of the targets
    block: Block
    targets: Targets | None
    y: Floats  # (B, T, D) normalised input
    normal1: "Normal"
    q: Floats  # (B, H, T, D/H), and so are k and v
    k: Floats
    v: Floats
    weights: Floats  # (B, H, T, T) softmax(q·k / √(D/H) + position); each row sums to 1
    mixed: Floats  # (B, T, D) or (n, D): Σ weights · v, the heads side by side
    z: Floats  # (B, T, D) or (n, D): normalised, before feed-forward
    normal2: "Normal"
    inner: Floats  # (B, T, F) or (n, F): max(0, z W_1 + b_1)

    def backward(self, d_output: Floats) -> tuple[Floats, Gradients]:
        """Return the gradient of the block's input (B, T, D), and those of its parameters."""
        p, g = self.block, {}
        g["w_2"], g["b_2"], d_inner = _linear_backward(self.inner, p.w_2, d_output)
        d_inner *= self.inner > 0
        g["w_1"], g["b_1"], d_z = _linear_backward(self.z, p.w_1, d_inner)
        d_z, g["norm2"] = normalise_backward(d_z, self.normal2, p.norm2)
        d_middle = d_output + d_z  # the residual
        g["w_o"], b_o, d_mixed = _linear_backward(self.mixed, p.w_o, d_middle)
        if self.targets is not None:
            d_mixed = self.targets.put(d_mixed, self.y.shape)
            d_middle = self.targets.put(d_middle, self.y.shape)
        d_mixed = _split_heads(d_mixed, len(p.position))  # (B, H, T, D/H)
        d_weights = d_mixed @ self.v.swapaxes(2, 3)  # (B, H, T, T)
        d_v = self.weights.swapaxes(2, 3) @ d_mixed
        along = (d_weights * self.weights).sum(axis=3, keepdims=True)
        d_scores = self.weights * (d_weights - along)
        g["position"] = _sum_by_distance(d_scores, p.position.shape[1] // 2)
        d_scores *= d_scores.dtype.type(self.q.shape[3] ** -0.5)
        heads = [d_scores @ self.k, d_scores.swapaxes(2, 3) @ self.q, d_v]
        d_y, biases = np.zeros_like(self.y), []
        for name, matrix, part in zip(
            ("w_q", "w_k", "w_v"), (p.w_q, p.w_k, p.w_v), heads, strict=True
        ):
            g[name], bias, d_part = _linear_backward(self.y, matrix, _join_heads(part))
            biases.append(bias)
            d_y += d_part
        g["b"] = np.stack([*biases, b_o])
        d_y, g["norm1"] = normalise_backward(d_y, self.normal1, p.norm1)
        return d_middle + d_y, g


def run_block(block: Block, x: Floats, mask: Bools, targets: Targets | None = None) -> BlockResult:
    """Return x + attention, + feed-forward of that; for the targets only, if they are given."""
    heads = len(block.position)
    y, normal1 = normalise(x, block.norm1)
    b_q, b_k, b_v, b_o = block.b
    q, k, v = (
        _split_heads(y @ w + b, heads)
        for w, b in ((block.w_q, b_q), (block.w_k, b_k), (block.w_v, b_v))
    )
    scores = q @ k.swapaxes(2, 3)  # (B, H, T, T)
    scores *= scores.dtype.type(q.shape[3] ** -0.5)
    scores += block.position[:, distances(x.shape[1], block.position.shape[1] // 2)]
    scores[~np.broadcast_to(mask[:, None, None], scores.shape)] = HIDE
    weights = np.exp(scores - scores.max(axis=3, keepdims=True))
    weights /= weights.sum(axis=3, keepdims=True)
    mixed = _join_heads(weights @ v)
    if targets is not None:
        x, mixed = targets.take(x), targets.take(mixed)
    middle = x + mixed @ block.w_o + b_o
    z, normal2 = normalise(middle, block.norm2)
    inner = np.maximum(z @ block.w_1 + block.b_1, 0)
    output = middle + inner @ block.w_2 + block.b_2
    return BlockResult(
        output, block, targets, y, normal1, q, k, v, weights, mixed, z, normal2, inner
    )


Normal = tuple[Floats, Floats]  # x less its mean in units of its deviation, and 1 / deviation


def normalise(x: Floats, norm: Floats) -> tuple[Floats, Normal]:
    """Return layer normalisation over the last axis: gain · (x - mean) / deviation + bias."""
    centred = x - x.mean(axis=-1, keepdims=True)
    inverse = 1 / np.sqrt(np.square(centred).mean(axis=-1, keepdims=True) + x.dtype.type(EPSILON))
    centred *= inverse
    return norm[0] * centred + norm[1], (centred, inverse)


def normalise_backward(d_y: Floats, normal: Normal, norm: Floats) -> tuple[Floats, Floats]:
    """Return the gradients of x and of gain and bias (2, D)."""
    centred, inverse = normal
    axes = tuple(range(d_y.ndim - 1))
    d_norm = np.stack([(d_y * centred).sum(axis=axes), d_y.sum(axis=axes)])
    d = d_y * norm[0]
    d = d - d.mean(axis=-1, keepdims=True) - centred * (d * centred).mean(axis=-1, keepdims=True)
    return d * inverse, d_norm


def distances(size: int, reach: int) -> Ints:
    """Return (T, T) the column of the position bias for word i looking at word j.

    >>> distances(3, 1).tolist()
    [[1, 2, 2], [0, 1, 2], [0, 0, 1]]
    """
    places = np.arange(size)
    return np.asarray(np.clip(places - places[:, None], -reach, reach) + reach)


def _sum_by_distance(d_scores: Floats, reach: int) -> Floats:
    """Return (H, 2R+1), the gradient of the position bias."""
    size = d_scores.shape[2]
    total = d_scores.sum(axis=0)  # (H, T, T)
    columns = distances(size, reach).ravel()
    rows = [np.bincount(columns, head.ravel(), 2 * reach + 1) for head in total]
    return np.array(rows, d_scores.dtype)


def _linear_backward(x: Floats, w: Floats, d_y: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the gradients of w, of the bias and of x, for y = x w + bias."""
    flat = d_y.reshape(-1, d_y.shape[-1])
    return x.reshape(-1, x.shape[-1]).T @ flat, flat.sum(axis=0), d_y @ w.T


def _split_heads(y: Floats, heads: int) -> Floats:
    """Return (B, H, T, D/H) of (B, T, D)."""
    return np.swapaxes(y.reshape(*y.shape[:2], heads, -1), 1, 2)


def _join_heads(y: Floats) -> Floats:
    """Return (B, T, D) of (B, H, T, D/H)."""
    return np.swapaxes(y, 1, 2).reshape(y.shape[0], y.shape[2], -1)
