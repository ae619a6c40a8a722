"""Every command that is said to have a picture draws it: which kinds, in SVG and in a terminal."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import ctxembed
from ctxembed.cli.groups import COMMANDS
from ctxembed.cli.main import load_command
from ctxembed.model.bundled import bundled_model, corpora_directory
from ctxembed.output.blocks import draw_blocks
from ctxembed.output.picture import draw
from ctxembed.table import Table

EVERYDAY = bundled_model("everyday")
APPLE = "[Apple] launched a new phone while I was eating an orange"
URDU = ctxembed.open_worked_example("english-urdu-task")
AXES: dict[str, Any] = {"taste": ["fruit", "sweet"], "technology": ["phone", "company"]}
PIE = "an [apple] pie"
LABELLED = [
    f"{label}\t{text}" for label, text in (("tech", APPLE), ("food", PIE)) for _ in range(12)
]
INTERVALS = ("mix", "keywords", "shift", "ambiguity", "decide", "evaluate")
# what is asked in a folder with a model of its own, and the kinds of its pictures in their order
DRAWN: dict[str, list[tuple[Callable[[Path], Table], list[str]]]] = {
    "explain": [
        (lambda _: ctxembed.explain(EVERYDAY, APPLE), ["tokens"]),
        (lambda _: ctxembed.explain(EVERYDAY, APPLE, head="each"), ["heat"]),
        (lambda _: ctxembed.explain(EVERYDAY, APPLE, causal=True), ["tokens"]),
        (lambda _: ctxembed.explain(URDU, "", matrices=True), ["heat"]),
    ],
    "train": [
        (lambda _: ctxembed.training_pairs("an apple a day keeps the doctor away"), ["heat"]),
        (lambda _: ctxembed.training_pairs("an apple a day", update=1), ["bars"]),
    ],
    "compare": [
        (lambda _: ctxembed.compare(EVERYDAY, APPLE, axes=AXES), ["tokens", "scatter"]),
        (lambda _: ctxembed.compare(EVERYDAY, [APPLE, PIE]), ["tokens", "dots"]),
    ],
    "similarity": [(lambda _: ctxembed.similarity(EVERYDAY, ["apple", "pear", PIE]), ["heat"])],
    "senses": [(lambda _: ctxembed.senses(EVERYDAY, "bank"), ["scatter"])],
    "kwic": [(lambda _: ctxembed.kwic(EVERYDAY, "bank"), ["scatter", "heat"])],
    "mix": [(lambda _: ctxembed.mix(steps=2, seeds=2, words=9000, dim=8, epochs=1), ["lines"])],
    "keywords": [
        (lambda own: ctxembed.keywords(own / "fruit.txt", own / "phones.txt", number=3), ["dots"])
    ],
    "collocates": [
        (lambda _: ctxembed.collocates(EVERYDAY, "bank", number=3), ["bars"]),
        (lambda _: ctxembed.collocates(EVERYDAY, ["bank", "apple"], by_sense=True), ["bars"]),
    ],
    "shift": [
        (lambda own: ctxembed.shift(EVERYDAY, own / "m", ["bank", "apple"]), ["dots", "bars"])
    ],
    "association": [
        (lambda _: ctxembed.association(EVERYDAY, "weat1", templates=["a [word]"]), ["bars"]),
        (lambda _: ctxembed.association(EVERYDAY, "weat1", words=True), ["bars"]),
    ],
    "ablate": [(lambda _: ctxembed.ablate(EVERYDAY, APPLE), ["bars"])],
    "positions": [
        (lambda _: ctxembed.positions(), ["heat"]),
        (lambda _: ctxembed.positions(attention="learned", model=EVERYDAY), ["lines"]),
    ],
    "ambiguity": [(lambda _: ctxembed.ambiguity(EVERYDAY, ["bank", "apple"]), ["dots"])],
    "neighbors": [
        (lambda _: ctxembed.neighbors(EVERYDAY, "apple"), ["bars"]),
        (lambda _: ctxembed.analogy(EVERYDAY, "apple", "pear", "phone"), ["bars"]),
    ],
    "ladder": [(lambda _: ctxembed.ladder(EVERYDAY, "apple", "pear"), ["bars"])],
    "substitutes": [(lambda _: ctxembed.substitutes(EVERYDAY, APPLE), ["bars"])],
    "evaluate": [
        (lambda own: ctxembed.evaluate(EVERYDAY, "similarity", [str(own / "pairs.tsv")]), ["dots"])
    ],
    "info": [(lambda _: ctxembed.heads(EVERYDAY), ["heat"])],
    "decide": [(lambda _: ctxembed.decide(EVERYDAY, ["bank", "water"]), ["dots"])],
    "learn": [(lambda own: ctxembed.learn(own / "m", name="l", epochs=0.004, heads=1), ["lines"])],
    "fit": [(lambda own: ctxembed.fit(own / "m", str(own / "task.tsv"), name="t"), ["lines"])],
}


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model that may be written into, and what tasks read."""
    folder = tmp_path_factory.mktemp("own")
    shutil.copytree(EVERYDAY, folder / "m")
    (folder / "task.tsv").write_text("\n".join(LABELLED) + "\n")
    for name, source in (("fruit", "fruit"), ("phones", "technology")):
        lines = (corpora_directory() / f"{source}.txt").read_text().splitlines(keepends=True)
        (folder / f"{name}.txt").write_text("".join(lines[:400]))
    pairs = [("apple", "pear", 9), ("apple", "phone", 2), ("bank", "money", 8), ("dog", "cat", 7)]
    (folder / "pairs.tsv").write_text("".join(f"{a}\t{b}\t{n}\n" for a, b, n in pairs))
    return folder


def test_every_drawn_command_is_listed() -> None:
    assert {name for name in COMMANDS if load_command(name).picture} == set(DRAWN)


@pytest.mark.parametrize(
    ("name", "which"), [(name, i) for name, result in DRAWN.items() for i in range(len(result))]
)
def test_each_picture(name: str, which: int, own: Path) -> None:
    ask, kinds = DRAWN[name][which]
    table = ask(own)
    assert [chart.kind for chart in table.charts] == kinds
    assert bool(table.charts[0].low and table.charts[0].high) == (name in INTERVALS)
    root = ElementTree.fromstring(draw(table))
    shown = [e for e in root.iter() if re.match(r"[fls]\d", e.get("class", ""))]
    assert len(shown) > 1, "nothing is drawn"
    for columns in (80, 40):
        lines = "".join(draw_blocks(table, columns)).splitlines()
        assert len(lines) > 2 and max(map(len, lines)) <= columns
