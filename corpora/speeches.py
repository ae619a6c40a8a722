"""Write speeches.csv, 240 invented speeches with metadata, for docs/linguist.md.

    python corpora/speeches.py

Planted: `bank` is the side of a river in nine of ten uses of 1900, and a house of money in nine of
ten of 1998; `union` is of workers for one party and of states for the other. Nothing else differs.
"""

from __future__ import annotations

import csv
from itertools import product
from pathlib import Path
from random import Random

HERE = Path(__file__).resolve().parent
SPEAKERS = (
    "Abel Arden", "Bela Brandt", "Cora Castell", "Dora Dahl", "Emil Ekman", "Fritz Falk",
    "Greta Grimm", "Hanna Holt", "Igor Ilves", "Jana Jensen", "Karl Krona", "Lena Lind",
    "Mira Moser", "Nils Norden", "Olga Oster", "Paul Perlman", "Rosa Rask", "Sven Stark",
    "Tilda Tamm", "Ulla Urban", "Vera Vinter", "Willi Wald", "Xenia Xander", "Yara Young",
)  # fmt: skip
PARTIES = ("Harvest", "Harbour")
SENTENCES = {  # {a}, {b} are filled from the lists below
    "river": (
        "The {water} has washed away the bank of the river at {town}.",
        "Boats lie along the bank, where the {water} is deep.",
        "We must raise the river bank before the next flood of the {water}.",
        "Fishermen of {town} stand on the bank and watch the water.",
        "Trees on the bank of the river keep the soil from the {water}.",
        "A path along the bank of the stream leads to the bridge of {town}.",
    ),
    "money": (
        "The bank of {town} lends money to {people} at a fair rate of interest.",
        "No bank may close its doors while {people} have savings in it.",
        "A loan from the bank has helped {people} to buy a house in {town}.",
        "The bank pays interest on every account of {people}.",
        "Credit is cheap, and each bank in {town} has money to lend.",
        "The bank has lost the savings and the loans of {people}.",
    ),
    "workers": (
        "The union of the {trade} asks for better wages and shorter hours.",
        "A strike of the union has closed the {place} in {town}.",
        "Workers in the {place} have the right to a union and to fair pay.",
        "The union and the owners of the {place} have agreed on wages.",
    ),
    "states": (
        "The union of our states is stronger than any quarrel of the provinces.",
        "Every province has entered this union with equal rights and one law.",
        "The constitution of the union binds the states from {town} to the sea.",
        "No state can leave the union without breaking its law.",
    ),
    "other": (
        "I thank the members of this house for their work.",
        "The schools of {town} need teachers and books.",
        "The road from {town} to the coast must be repaired this year.",
        "Let us think of {people} and of the coming winter.",
        "Peace is the wish of {people} in every town.",
        "The harvest was good, and {people} have bread.",
        "The hospital of {town} has too few nurses.",
        "A letter from {people} asks for lower taxes on salt.",
        "The minister has answered every question about the budget.",
        "Young people leave {town} for the city, and few come back.",
    ),
}
FILLERS = {
    "town": ("Alden", "Bern Hill", "Carrow", "Dunmore", "Elster", "Fallow", "Garth", "Holm"),
    "people": ("farmers", "the widows", "the weavers", "small traders", "young families",
               "the miners", "our teachers", "the sailors"),
    "water": ("spring water", "high water", "storm", "melting snow", "rain"),
    "trade": ("miners", "weavers", "dockers", "printers", "nurses"),
    "place": ("mine", "mill", "harbour", "printing house", "steel works"),
}  # fmt: skip


def main() -> None:
    """Write the file."""
    rng, rows = Random(11), list[tuple[str | int, ...]]()
    for number, (year, turn) in enumerate(product(range(1900, 2000, 2), range(5))):
        if number % 25 == 24:
            continue
        speaker = 2 * ((year - 1900) // 9) + turn % 2  # two speakers at a time
        party = PARTIES[speaker % 2]
        old = 0.9 - 0.8 * (year - 1900) / 98
        kinds = ["river" if rng.random() < old else "money" for _ in range(3)]
        kinds += ["workers" if party == "Harbour" else "states"] * 2 + ["other"] * 5
        rng.shuffle(kinds)
        text = " ".join(
            rng.choice(SENTENCES[kind]).format(**{k: rng.choice(v) for k, v in FILLERS.items()})
            for kind in kinds
        )
        month, day = rng.randint(1, 12), rng.randint(1, 28)
        date = f"{year}-{month:02}-{day:02}"
        rows.append((f"s{len(rows) + 1:03}", SPEAKERS[speaker], party, year, date, text))
    with (HERE / "speeches.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("id", "speaker", "party", "year", "date", "speech"))
        writer.writerows(rows)


if __name__ == "__main__":
    main()
