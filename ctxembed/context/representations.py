"""The representations of a model by name: static, bag, attentions and networks."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from ctxembed.attention.layer import Layer
from ctxembed.attention.presets import general, random_layer, read_temperature
from ctxembed.attention.recurrent import Recurrent
from ctxembed.context import networks
from ctxembed.context.representation import Attention, Bag, ModelRepresentation, Static
from ctxembed.errors import ModelError
from ctxembed.model.attentions import TOGETHER, load_attention, written_at
from ctxembed.model.model import Model
from ctxembed.static.space import Space, Vectors
from ctxembed.stats.vectors import Floats


@dataclass(frozen=True)
class Representations:
    """The representations of a model by name; each is created once."""

    model: Model
    known: dict[tuple[int, str, str, int, int], ModelRepresentation] = field(default_factory=dict)
    sense_spaces: dict[tuple[str, int], Any] = field(default_factory=dict)  # of word_senses
    sense_tests: dict[tuple[str, int], Any] = field(default_factory=dict)
    calibrations: dict[tuple[str, int], Any] = field(default_factory=dict)  # of sense_tests
    definitions: dict[tuple[str, ...], Any] = field(default_factory=dict)  # by dictionaries
    near: dict[tuple[int, ...], list[int]] = field(default_factory=dict)  # of explanation

    @classmethod
    def of(cls, model: Model) -> "Representations":
        """Return the representations of an opened model: one object, kept by the model."""
        model.representations = model.representations or cls(model)
        kept: Representations = model.representations
        return kept

    @cached_property
    def frequency(self) -> Floats:
        """(V,) the relative frequency of each word in the corpus."""
        return (self.model.seen / max(1, self.model.seen_tokens)).astype(np.float32)

    def inputs(self, kind: str) -> Vectors | Space:
        """Return (V, d) static vectors: raw, unit (of length 1), or centred (and of length 1)."""
        if kind == "raw":
            return self.model.vectors
        return self.model.space if kind == "unit" else self.model.centred_space

    def names(self) -> list[str]:
        """Return the names of all representations: baselines first, then learned layers."""
        names = ["static", "bag", "general", *self.model.attentions()]
        return names if self.answer() in names else [*names, self.answer()]

    def default(self) -> str:
        """Return the name of the attention that is used if none is named."""
        return "learned" if "learned" in self.model.attentions() else "general"

    def answer(self) -> str:
        """Return the name of the representation that answers if none is named."""
        both = {"learned", "encoder"} <= {*self.model.attentions()}
        return TOGETHER if both else self.default()

    def get(
        self, name: str, kind: str = "cosine", heads: int = 4, seed: int = 1
    ) -> ModelRepresentation:
        """Return a representation: static, bag, general, random, or a learned attention's name.

        kind: of general attention: textbook, scaled or cosine; cosine:3 has a temperature of 3.
        """
        kind, _, temperature = (kind if name == "general" else "").partition(":")
        # The time of writing: an attention may be learned again meanwhile.
        key = (written_at(self.model, name), name, kind, heads, seed)
        if (chosen := self.known.get(key)) is None:
            if name in ("static", "bag"):
                chosen = (Static if name == "static" else Bag)(name, self.model.vectors)
            elif name == "general":
                layer = general(kind, self.model.dim, heads, self.frequency)
                chosen = Attention(name, self.inputs("unit" if layer.unit else "raw"), layer)
            elif name == "random":
                layer = random_layer(self.model.dim, heads, np.random.default_rng(seed))
                chosen = Attention(name, self.inputs("raw"), layer)
            elif name == TOGETHER and self.answer() == name:
                attention, encoder = self.get("learned"), self.get("encoder")
                assert isinstance(attention, Attention)
                assert isinstance(encoder, networks.EncoderRepresentation)
                return networks.Together(name, attention.inputs, attention, encoder)
            elif name in self.model.attentions():
                saved = load_attention(self.model, name)
                inputs = self.inputs(saved.inputs)
                if isinstance(saved.layer, Layer):
                    chosen = Attention(name, inputs, saved.layer)
                elif isinstance(saved.layer, Recurrent):
                    chosen = networks.RecurrentRepresentation(name, inputs, saved.layer)
                else:
                    chosen = networks.EncoderRepresentation(name, inputs, saved.layer)
            else:
                known = ", ".join(["general", *self.model.attentions()])
                raise ModelError(f"{self.model.path}: no attention {name!r}; it has {known}")
            self.known[key] = chosen
        if temperature and isinstance(chosen, Attention):
            return replace(chosen, layer=replace(chosen.layer, scale=read_temperature(temperature)))
        return chosen
