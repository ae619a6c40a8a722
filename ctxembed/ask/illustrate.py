"""An illustration: weights written by hand, shown as computed ones are."""

from ctxembed.ask.columns import POSITION
from ctxembed.ask.explained import TARGET, TOKEN, WEIGHT
from ctxembed.ask.recipe import RECIPE, write_recipe
from ctxembed.errors import UsageError
from ctxembed.static.by_hand import read_weights
from ctxembed.store.places import example
from ctxembed.table import Chart, Table


def explain_weights(
    name: str, word: str | None = None, *, recipe: bool = False, digits: int = 2
) -> Table:
    """Show hand-picked weights as explain shows computed ones."""
    tokens, targets, weights = read_weights(example(name))
    if word is not None and word not in targets:
        raise UsageError(f"--word {word}: not in {name}, which has {', '.join(targets)}")
    chosen = [row for row, target in enumerate(targets) if word in (None, target)]
    note = "an illustration: these weights are given, not computed"
    if recipe:
        rows = [(targets[r], write_recipe(targets[r], tokens, weights[r], digits)) for r in chosen]
        return Table((TARGET, RECIPE), rows, [note])

    lines = [
        (targets[row], token, place + 1, float(weights[row, place]))
        for row in chosen
        for place, token in enumerate(tokens)
    ]
    columns = (TARGET, TOKEN, POSITION, WEIGHT)
    chart = Chart(
        "tokens",
        ["weight"],
        "position",
        ["token"],
        panel=["target"],
        start="target",
        title=f"{name}: weights by hand",
    )
    return Table(columns, lines, [note], chart=chart)
