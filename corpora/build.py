"""Build the bundled corpora from the hand-written grammar beside this file.

    python corpora/build.py           rewrite every generated file
    python corpora/build.py --check   exit 1 if a file differs from what the grammar makes

How a sentence is made: take a clause of a source (a topic, or one sense of a word), fill its
slots and alternatives, and either leave it alone, put it in a frame (`yesterday {1}`), or join it
to a clause of another source (`{1} while {2}`). Each source has its own random stream, so a corpus
with fewer sentences of one source holds the same sentences of all the others.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from random import Random
from typing import TypeVar

HERE = Path(__file__).resolve().parent
GRAMMAR = HERE / "grammar"
SEED = "ctxembed 1"

TWO_CLAUSES = 0.27  # of the sentences that may be joined at all
FRAMED = 0.14
MIXED = 0.6  # of the two-clause sentences of a sense: its partner is the other sense's company

PER_TOPIC, PER_SENSE, PER_IDIOM = 480, 310, 150  # sentences
TWIN = 0.42  # the size of the twins beside everyday.txt
NEVER_TOGETHER = ({"apple", "orange"}, {"apple", "launched", "eating"})  # the demo's own sentence
APPLE = {  # sentences of apple in its two senses: the balance of each corpus
    "everyday": {"fruit": 930, "technology": 310},
    "fruit": {"fruit": 600, "technology": 200},
    "technology": {"fruit": 200, "technology": 600},
}

TOKEN = re.compile(r"([A-Za-z]+(?:'[a-z]+)?)(?:/([a-z]+))?")  # a word and, perhaps, its sense
CHOICE = re.compile(r"\(([^()]*)\)|\{([a-z_]+)\}")
ARTICLE = re.compile(r"\b([Aa])n? (?=([A-Za-z]+))")
VOWEL_SOUND = re.compile(
    r"(?!one|once|uni[^nm]|use|usu|eu|ewe)[aeiou]|hour|honest|honou?r|heir", re.I
)

T = TypeVar("T")


@dataclass(frozen=True)
class Clause:
    text: str
    tense: str  # past, present, or whole: a sentence that is never joined


@dataclass
class Source:
    """A topic, or one sense of a word."""

    name: str
    word: str = ""
    sense: str = ""
    against: list[str] = field(default_factory=list)  # topics in which the other sense is at home
    clauses: list[Clause] = field(default_factory=list)


@dataclass
class Grammar:
    slots: dict[str, list[str]] = field(default_factory=dict)
    frames: dict[str, list[str]] = field(default_factory=dict)
    topics: dict[str, Source] = field(default_factory=dict)
    words: dict[str, list[Source]] = field(default_factory=dict)
    idioms: dict[str, list[Source]] = field(default_factory=dict)


@dataclass(frozen=True)
class Sentence:
    position: float  # sentences stand in the order of this number
    text: str
    labels: tuple[tuple[str, int, str], ...]  # word, occurrence, sense


def pick(items: Sequence[T], rng: Random) -> T:
    """Choose by random() alone: the one method whose sequence Python promises to keep."""
    return items[int(rng.random() * len(items))]


def shuffled(items: Sequence[T], rng: Random) -> list[T]:
    keys = [rng.random() for _ in items]
    return [items[i] for i in sorted(range(len(items)), key=keys.__getitem__)]


# Reading the grammar


def read_lines(path: Path) -> Iterator[str]:
    """Lines without comments; an indented line continues the one before it."""
    held = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("  "):
            held += " " + line.strip()
        elif line.strip() and not line.startswith("#"):
            if held:
                yield held
            held = line.strip()
    if held:
        yield held


def read_sections(path: Path, slots: dict[str, list[str]]) -> dict[str, list[str]]:
    """`[name]` opens a section; `{slot} = a, b, c` defines a slot wherever it stands."""
    sections: dict[str, list[str]] = {}
    lines = sections.setdefault("", [])
    for line in read_lines(path):
        if line.startswith("["):
            lines = sections.setdefault(line.strip("[]"), [])
        elif match := re.fullmatch(r"\{([a-z_]+)\} = (.*)", line):
            if match[1] in slots:
                raise ValueError(f"{path.name}: slot {match[1]} is defined twice")
            slots[match[1]] = [item.strip() for item in match[2].split(",") if item.strip()]
        else:
            lines.append(line)
    return {name: lines for name, lines in sections.items() if lines}


def read_clause(line: str) -> Clause:
    if line[-1] in ".?!":
        return Clause(line.removeprefix("= "), "whole")
    if line.startswith("= "):
        return Clause(line[2:], "present")
    return Clause(line, "past")


def read_source(name: str, word: str, sense: str, lines: list[str]) -> Source:
    source = Source(name, word, sense)
    for line in lines:
        if line.startswith("against: "):
            source.against = line.removeprefix("against: ").split(", ")
        else:
            source.clauses.append(read_clause(line))
    return source


def read_grammar(folder: Path = GRAMMAR) -> Grammar:
    grammar = Grammar()
    read_sections(folder / "slots.txt", grammar.slots)
    grammar.frames = read_sections(folder / "frames.txt", grammar.slots)
    for path in sorted((folder / "background").glob("*.txt")):
        lines = read_sections(path, grammar.slots)[""]
        grammar.topics[path.stem] = read_source(path.stem, "", "", lines)
    for kind in ("words", "idioms"):
        for path in sorted((folder / kind).glob("*.txt")):
            word = path.stem
            getattr(grammar, kind)[word] = [
                read_source(f"{word}/{sense}", word, sense, lines)
                for sense, lines in read_sections(path, grammar.slots).items()
            ]
    return grammar


# Making sentences


def expand(text: str, slots: dict[str, list[str]], rng: Random) -> str:
    """Fill `(a|b)` and `{slot}`; no slot gives the same value twice in one clause."""
    used: set[str] = set()
    while match := CHOICE.search(text):
        if match[2]:
            options = [v for v in slots[match[2]] if v not in used] or slots[match[2]]
            chosen = pick(options, rng)
            if "{" not in chosen:
                used.add(chosen)
        else:
            chosen = pick(match[1].split("|"), rng)
        text = text[: match.start()] + chosen + text[match.end() :]
    return " ".join(text.split())


def mark(text: str, source: Source, grammar: Grammar) -> str:
    """Write `word/sense` for every ambiguous word, and refuse one whose sense is not known."""

    def with_sense(match: re.Match[str]) -> str:
        word = match[1].lower()
        if match[2]:
            return match[0]
        if word == source.word:
            return f"{match[1]}/{source.sense}"
        if word in grammar.idioms:
            return f"{match[1]}/literal"
        if word in grammar.words:
            raise ValueError(f"{source.name}: which sense has {word} in: {text}")
        return match[0]

    return TOKEN.sub(with_sense, text)


def article(match: re.Match[str]) -> str:
    return match[1] + ("n " if VOWEL_SOUND.match(match[2]) else " ")


def finish(text: str, position: float, grammar: Grammar) -> Sentence:
    """Take the senses out of the text and into labels; articles, capital and full stop."""
    labels: list[tuple[str, int, str]] = []
    seen: dict[str, int] = {}
    for match in TOKEN.finditer(text):
        word = match[1].lower()
        if word in grammar.words or word in grammar.idioms:
            seen[word] = seen.get(word, 0) + 1
            labels.append((word, seen[word], match[2]))
    text = ARTICLE.sub(article, TOKEN.sub(lambda m: m[1], text))
    text = text[0].upper() + text[1:]
    return Sentence(position, text if text[-1] in ".?!" else text + ".", tuple(labels))


def may_join(text: str, other: str) -> bool:
    """No ambiguous word in both clauses, and nothing like the sentence that the demo asks about."""
    first, second = (list(TOKEN.finditer(clause)) for clause in (text, other))
    if {m[1].lower() for m in first if m[2]} & {m[1].lower() for m in second if m[2]}:
        return False
    words = {m[1].lower() for m in first + second}
    return not any(pair <= words for pair in NEVER_TOGETHER)


def partner(source: Source, tense: str, grammar: Grammar, rng: Random) -> tuple[Source, Clause]:
    """A clause to join to one of this source: of the other sense's company, or of anything."""
    while True:
        if source.against and rng.random() < MIXED:
            other = grammar.topics[pick(source.against, rng)]
        elif source.word or rng.random() < 0.85:
            other = pick(list(grammar.topics.values()), rng)
        else:  # apple keeps to its own balance
            other = pick(grammar.words[pick([w for w in grammar.words if w != "apple"], rng)], rng)
        clauses = [clause for clause in other.clauses if clause.tense == tense]
        if clauses and other is not source:
            return other, pick(clauses, rng)


def compose(source: Source, clause: Clause, grammar: Grammar, rng: Random) -> str:
    text = mark(expand(clause.text, grammar.slots, rng), source, grammar)
    chance = rng.random()
    if clause.tense == "whole" or chance >= TWO_CLAUSES + FRAMED:
        return text
    if chance >= TWO_CLAUSES:
        frame = pick(grammar.frames[f"{clause.tense}, one clause"], rng)
        return expand(frame.replace("{1}", text), grammar.slots, rng)
    other, second = partner(source, clause.tense, grammar, rng)
    other_text = mark(expand(second.text, grammar.slots, rng), other, grammar)
    if not may_join(text, other_text):
        return text
    first, last = (text, other_text) if rng.random() < 0.5 else (other_text, text)
    frame = pick(grammar.frames[f"{clause.tense}, two clauses"], rng)
    return frame.replace("{1}", first).replace("{2}", last)


def stream(source: Source, grammar: Grammar) -> Iterator[Sentence]:
    """Sentences of one source without end, each clause in turn, none twice."""
    rng = Random(f"{SEED}: {source.name}")
    texts: set[str] = set()
    while True:
        before = len(texts)
        for clause in shuffled(source.clauses, rng):
            text = compose(source, clause, grammar, rng)
            position = rng.random()
            if text not in texts:
                texts.add(text)
                yield finish(text, position, grammar)
        if len(texts) == before:
            raise ValueError(f"{source.name}: the grammar has run out after {before} sentences")


def make_corpus(name: str, grammar: Grammar) -> list[Sentence]:
    size = 1.0 if name == "everyday" else TWIN
    wanted = [(topic, int(PER_TOPIC * size)) for topic in grammar.topics.values()]
    for word, senses in grammar.words.items():
        for source in senses:
            count = APPLE[name][source.sense] if word == "apple" else int(PER_SENSE * size)
            wanted.append((source, count))
    for senses in grammar.idioms.values():
        wanted += [(source, int(PER_IDIOM * size)) for source in senses]
    sentences = [s for source, count in wanted for s in islice(stream(source, grammar), count)]
    return sorted(sentences, key=lambda sentence: (sentence.position, sentence.text))


def build() -> dict[str, str]:
    """Name and content of every generated file."""
    grammar = read_grammar()
    files: dict[str, str] = {}
    for name in APPLE:
        sentences = make_corpus(name, grammar)
        files[f"{name}.txt"] = "".join(sentence.text + "\n" for sentence in sentences)
        if name == "everyday":
            rows = ["line\tword\toccurrence\tsense\n"]
            for line, sentence in enumerate(sentences, start=1):
                rows += [f"{line}\t{w}\t{n}\t{sense}\n" for w, n, sense in sentence.labels]
            files[f"{name}.senses.tsv"] = "".join(rows)
    return files


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Rebuild the bundled corpora from their grammar.")
    parser.add_argument("--check", action="store_true", help="compare only; exit 1 if different")
    parser.add_argument("--output", type=Path, default=HERE, metavar="DIR", help="where to write")
    args = parser.parse_args(argv)
    different = []
    for name, content in build().items():
        path: Path = args.output / name
        data = content.encode("utf-8")
        if not args.check:
            path.write_bytes(data)
        elif not path.is_file() or path.read_bytes() != data:
            different.append(name)
    for name in different:
        sys.stderr.write(f"{name} differs from the grammar; run: python corpora/build.py\n")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
