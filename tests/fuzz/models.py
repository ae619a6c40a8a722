"""Models that are damaged, hostile, or replaced while they are asked."""

import contextlib
import json
import os
import shutil
import signal
import time

from ctxembed.storage.atomic import written_whole
from ctxembed.storage.manifest import list_contents
from tests.fuzz.damage import DAMAGE, LIES, remove
from tests.fuzz.ground import QUESTIONS, Ground, Tries, asked
from tests.fuzz.tries import judge, run


def damaged_models(ground: Ground) -> Tries:
    """Ask questions of models with a damaged file; of some that list no files, too."""
    while True:
        model = ground.fresh()
        before = ground.rng.random() < 0.15
        if before:
            for path in (model / "model.json", *model.glob("attention/*/layer.json")):
                told = json.loads(path.read_text())
                del told["contents"], told["generation"]
                path.write_text(json.dumps(told))
        file = ground.rng.choice(sorted(p for p in model.rglob("*") if p.is_file()))
        damage = ground.rng.choice(DAMAGE)
        if damage is remove and file.name == "senses.npz":
            continue  # none were saved: that is no damage
        with contextlib.suppress(ValueError):  # what numpy itself does not read
            damage(file, ground.rng)
        for question in ground.rng.sample(QUESTIONS, 4):
            end = run(asked(question), ground.place)
            right = ground.answers[0][question]
            wrong = judge(end, None if before else lambda end, r=right: end.out == r)  # type: ignore[misc]
            old = "a model from before: " if before else ""
            name = file.relative_to(model)
            yield f"{old}{damage.__name__} {name}: {question}", wrong, end


def hostile_models(ground: Ground) -> Tries:
    """Ask questions of models whose checksums are right, and whose content is a lie."""
    while True:
        model = ground.fresh()
        file = ground.rng.choice(sorted(p for p in model.rglob("*") if p.is_file()))
        lie = ground.rng.choice(LIES)
        with contextlib.suppress(ValueError):
            lie(file, ground.rng)
        for place in (model, *model.glob("attention/*")):
            with contextlib.suppress(Exception):  # what cannot be listed stays as it was
                list_contents(place)
        for question in ground.rng.sample([*QUESTIONS, "report|money in the [bank]"], 4):
            end = run(asked(question), ground.place)
            yield f"{lie.__name__} {file.relative_to(model)}: {question}", judge(end), end


def replaced(ground: Ground) -> Tries:
    """Ask questions while another process puts one model in the place of the other."""
    ground.fresh()
    writer = os.fork()
    if writer == 0:
        turn = 0
        while True:
            turn = 1 - turn
            with written_whole(ground.place / "m", replace=True) as work:
                shutil.copytree(ground.models[turn], work, dirs_exist_ok=True)
            time.sleep(0.005)
    try:
        while True:
            question = ground.rng.choice(QUESTIONS)
            end = run(asked(question), ground.place)
            right = [answers[question] for answers in ground.answers]
            wrong = judge(end, lambda end, r=right: end.out in r)  # type: ignore[misc]
            if not wrong and end.code:
                wrong = "lost"
            yield f"replaced: {question}", wrong, end
    finally:
        os.kill(writer, signal.SIGKILL)
        os.waitpid(writer, 0)
        for left in ground.place.glob(".m.*"):
            shutil.rmtree(left, ignore_errors=True)
