"""Which numbers of an output follow from others: a rule for each kind of table."""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from ctxembed.lesson.exercises import DIGITS, NUMBER, Exercise, Grid, Place

Rule = Callable[[Sequence[Grid]], Iterator[Exercise]]
RECIPE_TOLERANCE = 0.0075  # two digits, rounded so that they sum to 1: of 1/3, 1/3, 1/3 one is 0.34
MATRIX = re.compile(r"(?P<name>\w+) = (?P<formula>.+) \(\d+ × \d+\)$")


def find_exercises(grids: Sequence[Grid]) -> list[Exercise]:
    """Return the numbers of the tables of a chapter that can be worked out, but no 0 and no 1."""
    found = (one for rule in RULES for one in rule(grids))
    return [one for one in found if one.answer and (one.answer != 1 or one.whole)]


def show(number: float) -> str:
    """Return a number as a table prints it, a whole one without digits."""
    return f"{number:.0f}" if float(number).is_integer() else f"{number:.{DIGITS}f}"


def exercise(
    grid: Grid, row: int, column: str, needs: Iterator[Place] | Sequence[Place], how: str,
    copies: Sequence[Place] = (),
) -> Exercise:  # fmt: skip
    """Return the exercise of a cell; its row is named by its first text, or by its first cell."""
    answer = grid.value(row, column)
    assert answer is not None
    place = grid.place(row, column)
    labels = [cell for cell in grid.rows[row] if isinstance(cell, str)]
    asked = f"{column} of {labels[0] if labels else f'{grid.names[0]} {grid.rows[row][0]}'}"
    if match := MATRIX.match(grid.title):
        asked = f"{match['name']}: row {labels[0]}, column {column}"
    whole = isinstance(grid.rows[row][grid.names.index(column)], int)
    places, how = frozenset([place, *copies]), f"{how} = {show(answer)}"
    return Exercise(places, frozenset(needs), answer, asked, how, whole)


def steps_of_a_head(grids: Sequence[Grid]) -> Iterator[Exercise]:
    """Score times scale and terms, the exponential, and its share of all."""
    for grid in grids:
        if "sum" not in grid.names or "step" in grid.names:
            continue
        known = [i for i, value in enumerate(grid.column("sum")) if value is not None]
        for i in known:
            if "score" in grid.names:
                yield from _sum_of(grids, grid, i)
            if "exponential" in grid.names and "e^sum" in grid.title:
                total = [grid.place(j, "sum") for j in known]  # an exponential may be hidden too
                added = sum(grid.value(j, "exponential") or 0.0 for j in known)
                power = show(grid.value(i, "exponential") or 0.0)
                yield exercise(grid, i, "exponential", [grid.place(i, "sum")],
                               f"e^{show(grid.value(i, 'sum') or 0.0)}")  # fmt: skip
                how = f"{power} / {show(added)}, the sum of all exponentials,"
                yield exercise(grid, i, "weight", total, how)


def _sum_of(grids: Sequence[Grid], grid: Grid, row: int) -> Iterator[Exercise]:
    """Yield the exercise of a sum; none if the scale is 1 and nothing is added."""
    first, last = grid.names.index("score"), grid.names.index("sum")
    score, scale, *terms = [grid.value(row, i) or 0.0 for i in range(first, last)]
    if scale == 1 and not terms:
        return
    how = " + ".join([f"{show(score)} · {show(scale)}", *map(show, terms)]).replace("+ -", "- ")
    head = grid.title.splitlines()[0]
    again = [  # the table of the weights begins with the sums
        other.place(row, "sum")
        for other in grids
        if other.step == grid.step and other.title.startswith(head) and "sum" in other.names
    ]
    needs = [grid.place(row, i) for i in range(first, last)]
    yield exercise(grid, row, "sum", needs, how, again)


def roles(grids: Sequence[Grid]) -> Iterator[Exercise]:
    """The score of a word from the query of the target and its key."""
    for grid in grids:
        names = [name for name in grid.names if re.fullmatch(r"q\d", name)]
        if not names or "score" not in grid.names:
            continue
        target = grid.title.partition(",")[0]
        (asking,) = [i for i, row in enumerate(grid.rows) if row[0] == target][:1]
        for i in range(len(grid.rows)):
            pairs = [(grid.place(asking, q), grid.place(i, f"k{q[1:]}")) for q in names]
            factors = [
                (grid.value(asking, q) or 0.0, grid.value(i, f"k{q[1:]}") or 0.0) for q in names
            ]
            how = " + ".join(f"{show(a)} · {show(b)}" for a, b in factors).replace("+ -", "- ")
            again = [  # the table of the weights begins with the scores
                other.place(i, "score")
                for other in grids
                if other.step == grid.step and "exponential" in other.names
            ]
            needs = [place for pair in pairs for place in pair]
            yield exercise(grid, i, "score", needs, how, again)


def matrices(grids: Sequence[Grid]) -> Iterator[Exercise]:
    """The cells of scores, weights, sums and outputs of --steps."""
    for step in sorted({grid.step for grid in grids}):
        named: dict[str, Grid] = {}
        for grid in grids:
            match = MATRIX.match(grid.title)
            if grid.step == step and match and "…" not in grid.names:
                named[match["name"]] = grid
        for name, grid in named.items():
            formula = MATRIX.match(grid.title)["formula"]  # type: ignore[index]
            for i in range(len(grid.rows)):
                for j in range(1, len(grid.names)):
                    if grid.value(i, j) is not None:
                        yield from _cell(named, name, formula, i, j)


def _cell(named: Mapping[str, Grid], name: str, formula: str, i: int, j: int) -> Iterator[Exercise]:
    """Yield the exercise of a cell of a matrix, if its formula is a known one."""
    grid, column = named[name], named[name].names[j]
    if match := re.fullmatch(r"(\w+) (\w+)ᵀ", formula):
        left, right = (named.get(part) for part in match.groups())
        if left and right:
            size = range(1, len(left.names))
            pairs = [(left.value(i, c) or 0.0, right.value(j - 1, c) or 0.0) for c in size]
            needs = [place for c in size for place in (left.place(i, c), right.place(j - 1, c))]
            yield exercise(grid, i, column, needs, _products(pairs), _copies(named, grid, i, j))
    elif formula.startswith("softmax of each row"):
        sums = named["sum"]
        row = [(c, sums.value(i, c)) for c in range(1, len(sums.names))]
        seen = [(c, value) for c, value in row if value is not None]
        if len(seen) > 1:
            powers = " + ".join(f"e^{show(value)}" for _, value in seen)
            how = f"e^{show(sums.value(i, j) or 0.0)} / ({powers})"
            yield exercise(grid, i, column, [sums.place(i, c) for c, _ in seen], how)
    elif match := re.fullmatch(r"weights (\w+)", formula):
        weights, values = named["weights"], named.get(match[1])
        if values:
            rows = range(len(values.rows))
            pairs = [(weights.value(i, r + 1) or 0.0, values.value(r, j) or 0.0) for r in rows]
            needs = [place for r in rows for place in (weights.place(i, r + 1), values.place(r, j))]
            yield exercise(grid, i, column, needs, _products(pairs))
    elif formula == "E + P":
        parts = [named["E"], named["P"]]
        how = " + ".join(show(part.value(i, j) or 0.0) for part in parts).replace("+ -", "- ")
        yield exercise(grid, i, column, [part.place(i, j) for part in parts], how)
    elif (match := re.fullmatch(r"([\d.]+) scores", formula)) and match[1] != "1":
        scores = named["scores"]
        how = f"{match[1]} · {show(scores.value(i, j) or 0.0)}"
        yield exercise(grid, i, column, [scores.place(i, j)], how)


def _products(pairs: Sequence[tuple[float, float]]) -> str:
    """Return a sum of products; those with a zero are left out if others are there."""
    terms = [f"{show(a)} · {show(b)}" for a, b in pairs if a and b] or ["0"]
    return " + ".join(terms).replace("+ -", "- ")


def _copies(named: Mapping[str, Grid], grid: Grid, i: int, j: int) -> list[Place]:
    """Return where a score is shown again: across the diagonal, and in sums that are scores."""
    value, copies = grid.value(i, j), list[Place]()
    for other in (grid, named.get("sum")):
        if other is not None:
            copies += [
                other.place(r, c)
                for r in range(len(other.rows))
                for c in range(1, len(other.names))
                if other.value(r, c) == value
            ]
    return copies


def recipes(grids: Sequence[Grid]) -> Iterator[Exercise]:
    """The weight of a word in a recipe: what the others leave of 1."""
    for grid in grids:
        if "recipe" not in grid.names:
            continue
        column = grid.names.index("recipe")
        for i, row in enumerate(grid.rows):
            numbers = NUMBER.findall(str(row[column]))
            for part in range(len(numbers)) if len(numbers) > 1 else ():
                others = [number for k, number in enumerate(numbers) if k != part]
                word = str(row[column])[[*NUMBER.finditer(str(row[column]))][part].end() :].split()
                needs = [grid.place(i, column, k) for k in range(len(numbers)) if k != part]
                yield Exercise(
                    frozenset([grid.place(i, column, part)]), frozenset(needs),
                    float(numbers[part]), f'weight of "{word[0]}" in {row[column - 1]}',
                    f"1 - {' - '.join(others)} = {numbers[part]}", within=RECIPE_TOLERANCE,
                )  # fmt: skip


def counts(grids: Sequence[Grid]) -> Iterator[Exercise]:
    """How often a word is in a sentence; and in TF-IDF, that a row has length 1."""
    for grid in grids:
        if grid.names[0] != "sentence" or "target" in grid.names:
            continue
        for i, row in enumerate(grid.rows):
            numbers = {name: grid.value(i, name) or 0.0 for name in grid.names[1:]}
            for name, value in numbers.items():
                if isinstance(row[grid.names.index(name)], int):
                    how = f"{name} in sentence {row[0]}, counted"
                    yield exercise(grid, i, name, [], how)
                elif value:
                    others = [other for key, other in numbers.items() if key != name and other]
                    squares = "".join(f" - {show(other)}²" for other in others)
                    needs = [grid.place(i, key) for key in numbers if key != name]
                    yield exercise(grid, i, name, needs, f"√(1{squares})")


def differences(grids: Sequence[Grid]) -> Iterator[Exercise]:
    """An association is the difference of two cosines."""
    for grid in grids:
        if {"cos_a", "cos_b", "association"} <= {*grid.names}:
            for i in range(len(grid.rows)):
                a, b = grid.value(i, "cos_a") or 0.0, grid.value(i, "cos_b") or 0.0
                needs = [grid.place(i, "cos_a"), grid.place(i, "cos_b")]
                how = f"{show(a)} - {show(b)}".replace("- -", "+ ")
                one = exercise(grid, i, "association", needs, how)
                word = grid.rows[i][grid.names.index("word")]
                yield replace(one, asked=f"association of {word}")


def shares(grids: Sequence[Grid]) -> Iterator[Exercise]:
    """The share of a sense among all occurrences, and of a word among all words read."""
    tokens = None
    for grid in grids:
        if {"sense", "share", "count"} <= {*grid.names}:
            total = sum(value or 0.0 for value in grid.column("count"))
            needs = [grid.place(i, "count") for i in range(len(grid.rows))]
            for i in range(len(grid.rows)):
                how = f"{show(grid.value(i, 'count') or 0.0)} / {show(total)}"
                one = exercise(grid, i, "share", needs, how)
                number = grid.rows[i][grid.names.index("sense")]
                asked = f"share of sense {number}"
                yield replace(one, asked=asked)
        if grid.names[-2:] == ["property", "value"]:
            facts = {row[-2]: i for i, row in enumerate(grid.rows)}
            if "tokens" in facts:
                tokens = grid, facts["tokens"]
            if tokens and {"count", "share"} <= {*facts}:
                source, at = tokens
                count = grid.value(facts["count"], "value") or 0.0
                read = source.value(at, "value") or 0.0
                needs = [grid.place(facts["count"], "value"), source.place(at, "value")]
                one = exercise(
                    grid, facts["share"], "value", needs, f"{show(count)} / {show(read)}"
                )
                asked = "share: occurrences of the word among all words (tokens)"
                yield replace(one, asked=asked)


def waves(grids: Sequence[Grid]) -> Iterator[Exercise]:
    """The sum of all waves at a position, and the first wave, which is its sine."""
    for grid in grids:
        names = [name for name in grid.names if name.startswith("wave_")]
        for i in range(len(grid.rows)) if names and "sum" in grid.names else ():
            values = [grid.value(i, name) or 0.0 for name in names]
            how = " + ".join(map(show, values)).replace("+ -", "- ")
            needs = [grid.place(i, name) for name in names]
            position = grid.rows[i][0]
            for name, need, work in (("sum", needs, how), ("wave_1", [], f"sin({position})")):
                one = exercise(grid, i, name, need, work)
                asked = f"{name} at position {position}"
                yield replace(one, asked=asked)


def watched(grids: Sequence[Grid]) -> Iterator[Exercise]:
    """The scaled score and the weight of a word while the matrices are learned."""
    for grid in grids:
        if not {"score", "scaled", "weight"} <= {*grid.names}:
            continue
        known = [i for i, row in enumerate(grid.rows) if grid.value(i, "scaled") is not None]
        total = sum(math.exp(grid.value(i, "scaled") or 0.0) for i in known)
        for i in known:
            score, scaled = grid.value(i, "score") or 0.0, grid.value(i, "scaled") or 0.0
            if score:
                needs = [grid.place(i, "score")]
                yield exercise(grid, i, "scaled", needs, f"{show(score)} / √2")
            needs = [grid.place(j, "scaled") for j in known]
            how = f"e^{show(scaled)} / {show(total)}, the sum of e^scaled of all words,"
            yield exercise(grid, i, "weight", needs, how)


def read_positions(grids: Sequence[Grid]) -> Iterator[Exercise]:
    """Where a word stands that a recurrent network reads."""
    for grid in grids:
        if "reading" in grid.names:
            for i, row in enumerate(grid.rows):
                token = row[grid.names.index("token")]
                if grid.value(i, "position") is not None:
                    one = exercise(grid, i, "position", [], f'"{token}" in the sentence, counted,')
                    asked = f'position of "{token}" (which word of the sentence is it?)'
                    copies = [
                        grid.place(j, "position")
                        for j in range(len(grid.rows))
                        if grid.value(j, "position") == one.answer
                    ]
                    yield replace(one, places=frozenset(copies), asked=asked)


RULES: Sequence[Rule] = (
    steps_of_a_head, roles, matrices, recipes, counts, differences, shares, waves, watched,
    read_positions,
)  # fmt: skip
