"""The command line and the module share their names: strings in, a Table out."""

import shutil
from collections.abc import Callable
from inspect import Parameter, signature
from itertools import chain
from pathlib import Path
from xml.etree import ElementTree

import click
import pytest

import ctxembed
from ctxembed import Table
from ctxembed.cli.command import Command
from ctxembed.cli.groups import COMMANDS, GROUPS, OLD_NAMES
from ctxembed.cli.main import load_command
from ctxembed.cli.printing import Printing
from ctxembed.errors import UnknownWordError, UsageError
from ctxembed.model.bundled import bundled_model, corpora_directory
from ctxembed.output.blocks import draw_blocks
from tests.conftest import TEXT, write_tiny

APPLE = "the [apple] launched"
GROUPS_OF_WORDS = {"fruit": ["apple", "orange"], "place": ["bank", "river"]}
AXES_OF_WORDS = {"taste": ["juice", "sweet"], "thing": ["phone", "money"]}
TASK = "".join(
    f"fruit\tthe {word} [apple] {other}\nfirm\tthe [apple] launched the {third}\n"
    for word, other, third in zip(
        ("sweet", "orange", "juice", "the", "river"),
        ("juice", "sweet", "orange", "sweet", "juice"),
        ("phone", "money", "bank", "phone the", "money the"),
        strict=True,
    )
)
# Each command's function, as a person calls it; m is the path of a model, t a folder.
CALLS: dict[str, list[Callable[[str, Path], Table]]] = {
    "train": [
        lambda m, t: ctxembed.train(str(t / "c.txt"), t / "trained", epochs=1, dim=4),
        lambda m, t: ctxembed.training_pairs("an apple a day"),
        lambda m, t: ctxembed.training_pairs("an apple a day", update=1),
    ],
    "learn": [lambda m, t: ctxembed.learn(copied(t), "more", epochs=0.001, heads=1)],
    "fit": [
        lambda m, t: ctxembed.fit(m, str(t / "task.tsv"), "idioms", epochs=1),
        lambda m, t: ctxembed.fit(m, str(t / "task.tsv"), "other", epochs=1, report="epochs"),
        lambda m, t: ctxembed.fit(m, str(t / "task.tsv"), "third", epochs=1, report="confusion"),
    ],
    "predict": [lambda m, t: ctxembed.predict(m, [APPLE], attention=fitted(m, t))],
    "info": [
        lambda m, t: ctxembed.info(m),
        lambda m, t: ctxembed.heads(six_words(t), attention="general"),
    ],
    "check": [lambda m, t: ctxembed.check(m)],
    "show": [lambda m, t: ctxembed.show(m, ["apple", "bank"], axes={"taste": ["juice"]})],
    "vector": [lambda m, t: ctxembed.vector(m, "apple")],
    "neighbors": [lambda m, t: ctxembed.neighbors(m, "apple", 3)],
    "similarity": [
        lambda m, t: ctxembed.similarity(m, ["apple", APPLE], axes={"taste": ["juice"]}),
        lambda m, t: ctxembed.similarity(m, ["apple", "bank"], pairs=True),
    ],
    "analogy": [lambda m, t: ctxembed.analogy(m, "orange", "juice", "phone")],
    "explain": [
        lambda m, t: ctxembed.explain(m, APPLE),
        lambda m, t: ctxembed.explain(m, APPLE, recipe=True),
        lambda m, t: ctxembed.explain(m, APPLE, check=True, head="each"),
        lambda m, t: ctxembed.explain(m, APPLE, steps=True),
        lambda m, t: ctxembed.explain(m, APPLE, causal=True),
        lambda m, t: ctxembed.explain(m, "", attention="random", matrices=True),
        lambda m, t: ctxembed.explain(ctxembed.open_worked_example("bank"), "money [bank] grows"),
        lambda m, t: ctxembed.explain_weights("tea"),
        lambda m, t: ctxembed.explain_weights("tea", recipe=True),
    ],
    "compare": [
        lambda m, t: ctxembed.compare(m, APPLE),
        lambda m, t: ctxembed.compare(m, [APPLE, "the [apple] juice"], axes={"a": ["juice"]}),
    ],
    "define": [
        lambda m, t: ctxembed.define(m, APPLE, number=1),
        lambda m, t: ctxembed.define(m, ["bank", "the [bank] money"], part="n"),
    ],
    "substitutes": [
        lambda m, t: ctxembed.substitutes(m, APPLE),
        lambda m, t: ctxembed.substitutes(m, [APPLE], candidates=["juice", "bank"]),
    ],
    "contextualize": [
        lambda m, t: ctxembed.contextualize(m, [APPLE]),
        lambda m, t: ctxembed.contextualize(m, (s for s in [APPLE, "an [odd] word"])),
    ],
    "ablate": [lambda m, t: ctxembed.ablate(m, APPLE, axes={"taste": ["juice"]})],
    "senses": [
        lambda m, t: ctxembed.senses(m, "apple", k=2),
        lambda m, t: ctxembed.senses_by(m, "apple", "file", k=2),
        lambda m, t: ctxembed.senses_labelled(m, "apple", str(t / "labels.tsv")),
    ],
    "collocates": [
        lambda m, t: ctxembed.collocates(m, "apple", min_count=1, min_documents=1),
        lambda m, t: ctxembed.collocates(m, "the", window=2, sort="count", function_words=True),
    ],
    "keywords": [lambda m, t: ctxembed.keywords(m, corpora_directory() / "fruit.txt", min_count=1)],
    "wordlist": [
        lambda m, t: ctxembed.wordlist(m, number=3),
        lambda m, t: ctxembed.wordlist(m, length=2, content=True),
    ],
    "kwic": [lambda m, t: ctxembed.kwic(m, "apple", number=1, axes={"taste": ["juice"]})],
    "association": [
        lambda m, t: ctxembed.association(m, targets=GROUPS_OF_WORDS, axes=AXES_OF_WORDS),
        lambda m, t: ctxembed.association(
            m, targets=GROUPS_OF_WORDS, axes=AXES_OF_WORDS, templates=["the [word]"], words=True
        ),
    ],
    "ambiguity": [
        lambda m, t: ctxembed.ambiguity(m, "apple"),
        lambda m, t: ctxembed.ambiguity(m, ["apple", "bank"], summary=True),
    ],
    "mix": [
        lambda m, t: ctxembed.mix(
            *(str(t / "c.txt"),) * 2, "apple", {"x": ["bank"], "y": ["juice"]}, steps=2, seeds=1
        )
    ],
    "shift": [
        lambda m, t: ctxembed.shift(m, m, "apple", permutations=9),
        lambda m, t: ctxembed.shift(m, m, "apple", permutations=9, by_sense=True),
    ],
    "positions": [
        lambda m, t: ctxembed.positions(),
        lambda m, t: ctxembed.positions(4, 6, dot=True),
        lambda m, t: ctxembed.positions(attention="general", model=m),
    ],
    "decide": [
        lambda m, t: ctxembed.decide(m, labelled=str(t / "task.tsv")),
        lambda m, t: ctxembed.decide(m, labelled=str(t / "task.tsv"), fail_if="bag<0.1"),
    ],
    "evaluate": [
        lambda m, t: ctxembed.evaluate(m, "similarity", str(t / "rated.txt")),
        lambda m, t: ctxembed.evaluate(m, "similarity", str(t / "rated.txt"), published=True),
    ],
    "import": [lambda m, t: ctxembed.import_(str(t / "v.txt"), t / "imported")],
    "export": [lambda m, t: ctxembed.export(m, t / "v.bin")],
    "index": [lambda m, t: ctxembed.index(m, str(t / "c.txt"), t / "indexed")],
    "shrink": [lambda m, t: ctxembed.shrink(m, t / "small")],
    "tokenize": [
        lambda m, t: ctxembed.tokenize("An apple. A bank!"),
        lambda m, t: ctxembed.tokenize("An apple. A bank!", per="sentence", model=m),
    ],
    "vectorize": [
        lambda m, t: ctxembed.vectorize(str(t / "c.txt")),
        lambda m, t: ctxembed.vectorize("an apple", "one-hot", sparse=True),
        lambda m, t: ctxembed.vectorize("an apple", "tfidf", sparse=True),
        lambda m, t: ctxembed.vectorize("the apple", "general", model=m),
    ],
    "ladder": [lambda m, t: ctxembed.ladder(m, "apple", "bank")],
}
# What becomes a Model, a Corpus or a Tokenizer first, is another function, or a file of arrays.
OTHER_OPTIONS = {
    "on",
    "vectors",
    "encoding",
    "input_encoding",
    "errors",
    "lines",
    "document",
    "cased",
    "language",
    "weights",
    "meta",
    "text_column",
    "document_tag",
    "where",
    "names_in_order",
}
OTHER_OPTIONS |= {"output", "vector", "analogy", "check", "add", "skip_bad", "heads"}
OTHER_OPTIONS |= {"joint", "nearest", "save", "force"}
CASES = [(name, place) for name, calls in CALLS.items() for place in range(len(calls))]


def fitted(model: str, folder: Path) -> str:
    ctxembed.fit(model, str(folder / "task.tsv"), "idioms", epochs=1)
    return "idioms"


def six_words(folder: Path) -> str:
    """Write a model whose sentences are long enough to measure heads."""
    return str(write_tiny(folder / "six", ["the apple juice sweet orange phone"] * 3))


def copied(folder: Path) -> Path:
    """Copy the bundled model: learning needs more text than the small one has."""
    return Path(shutil.copytree(bundled_model("everyday"), folder / "copy"))


@pytest.fixture(scope="module")
def mine(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Path of a model that may be changed."""
    return str(write_tiny(tmp_path_factory.mktemp("mine") / "model", TEXT * 15))


def command_of(name: str) -> Command:
    """Return the command that calls a function of this name."""
    return load_command(OLD_NAMES[name].split()[0] if name in OLD_NAMES else name)


def test_every_command_is_called() -> None:
    assert set(CALLS) - set(OLD_NAMES) == {n for n in COMMANDS if load_command(n).queries}


def test_the_list_of_commands_has_their_own_summaries() -> None:
    for commands in GROUPS.values():
        for name, summary in commands.items():
            own = load_command(name).get_short_help_str(limit=1000)
            assert own.startswith(summary), name


@pytest.mark.parametrize(("name", "position"), CASES, ids=[f"{n}-{i}" for n, i in CASES])
def test_strings_in_a_table_out(name: str, position: int, mine: str, tmp_path: Path) -> None:
    (tmp_path / "c.txt").write_text("The apple juice is sweet.\nThe bank has money.\n" * 20)
    (tmp_path / "task.tsv").write_text(TASK)
    labels = [f"tiny.txt\t{6 * n + 1 + n % 2}\t{'ab'[n % 2]}" for n in range(8)]
    (tmp_path / "labels.tsv").write_text("\n".join(["file\tline\tlabel", *labels]) + "\n")
    (tmp_path / "rated.txt").write_text("apple orange 8\napple bank 1\nmoney bank 7\n")
    (tmp_path / "v.txt").write_text("apple 1 0\nbank 0 1\n")
    table = CALLS[name][position](mine, tmp_path)
    assert isinstance(table, Table)
    first = [tuple(map(str, row)) for row in table.rows]
    assert first and first == [tuple(map(str, row)) for row in table.rows]
    declared = [*chain(*command_of(name).columns.values())]
    meanings = {(column.meaning, column.role) for column in declared}
    names = {column.name for column in declared if "..." not in column.name}
    for column in table.columns:  # what is printed is in the page, or stands for AXIS... there
        assert (column.meaning, column.role) in meanings, column
        if column.name not in names:
            assert "..." in next(c.name for c in declared if c.meaning == column.meaning)
    if table.charts:
        assert command_of(name).picture
        drawn = ctxembed.draw(table)
        assert drawn == ctxembed.draw(table)
        assert ElementTree.fromstring(drawn).attrib["class"] == "ctxembed"
        assert all(len(line) <= 60 for line in "".join(draw_blocks(table, 60)).splitlines())


@pytest.mark.parametrize("name", CALLS)
def test_options_and_parameters_have_one_name(name: str) -> None:
    """The parameters of a query have the names of the options."""
    command = command_of(name)
    query = getattr(ctxembed, "import_" if name == "import" else name)
    assert query in command.queries.values() and query.__doc__
    assert signature(query).return_annotation is Table
    parameters = [signature(one).parameters for one in command.queries.values()]
    if not any(one.kind is Parameter.VAR_KEYWORD for each in parameters for one in each.values()):
        options = {one.name for one in command.params if isinstance(one, click.Option)}
        names = {name for each in parameters for name in each}
        assert options <= {*names, *Printing.__dataclass_fields__, *OTHER_OPTIONS}


def test_unknown_words_are_kept_on_the_table(mine: str) -> None:
    table = ctxembed.neighbors(mine, ["apple", "appel"], 1)
    assert [row["word"] for row in table.records()] == ["apple"]
    assert table.unknown == ["'appel' is not in the vocabulary; close known words: apple"]
    with pytest.raises(UnknownWordError, match="appel"):
        ctxembed.neighbors(mine, "appel")
    streamed = ctxembed.contextualize(mine, ["the [appel] launched", APPLE])
    assert len(streamed.records()) == 1
    assert streamed.unknown == [
        "line 1: 'appel' is not in the vocabulary; close known words: apple"
    ]


def test_the_bundled_model_is_the_default_and_read_only() -> None:
    assert ctxembed.info(None).records()[0]["property"] == "path"
    for change in (ctxembed.learn, lambda m: ctxembed.senses(m, "bank", save=True)):
        with pytest.raises(UsageError, match="the bundled model everyday cannot be changed"):
            change(bundled_model("everyday"))
