"""What the page says of a model: its name, its attentions, the kind of its maps."""

from ctxembed.context.representations import Representations
from ctxembed.errors import UsageError
from ctxembed.model.attentions import layer_kind
from ctxembed.model.model import Model
from ctxembed.web.questions import Models


def describe_model(models: Models) -> str:
    """Return the model's name and the size of its corpus and vocabulary."""
    model = models.model
    return f"{model.path.name}: {model.tokens:,} words read, {len(model.vocabulary):,} known"


def map_kind(model: Model) -> str:
    """Return what the points of a map are: occurrences, or senses of a model without a corpus."""
    return "senses" if model.index is None else "occurrences"


def attention_names(models: Models, first: str | None = None) -> list[str]:
    """Return the attention names that a page can choose, the default first."""
    representations = Representations.of(models.model)
    learned = models.model.attentions()  # weights are shown
    known = ["general", *(n for n in learned if layer_kind(models.model, n) == "attention")]
    names = list(dict.fromkeys([first or representations.default(), *known]))
    if names[0] not in known:
        raise UsageError(f"--attention {first}: unknown. Choose one of {', '.join(known)}.")
    return names
