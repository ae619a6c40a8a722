"""Models that are damaged, hostile, or replaced while they are asked."""

import contextlib
import json
import os
import shutil
import signal
import time

from ctxembed.storage.atomic import atomic_directory
from ctxembed.storage.manifest import list_contents
from tests.fuzz.damage import DAMAGE, LIES, remove
from tests.fuzz.tries import find_fault, run
from tests.fuzz.workspace import QUESTIONS, Tries, Workspace, model_line


def damaged_models(workspace: Workspace) -> Tries:
    """Ask questions of models with a damaged file; of some that list no files, too."""
    while True:
        model = workspace.fresh()
        before = workspace.rng.random() < 0.15
        if before:
            for path in (model / "model.json", *model.glob("attention/*/layer.json")):
                description = json.loads(path.read_text())
                del description["contents"], description["generation"]
                path.write_text(json.dumps(description))
        file = workspace.rng.choice(sorted(p for p in model.rglob("*") if p.is_file()))
        damage = workspace.rng.choice(DAMAGE)
        if damage is remove and file.name == "senses.npz":
            continue  # none were saved: that is no damage
        with contextlib.suppress(ValueError):  # what numpy itself does not read
            damage(file, workspace.rng)
        for question in workspace.rng.sample(QUESTIONS, 4):
            end = run(model_line(question), workspace.folder)
            right = workspace.answers[0][question]
            fault = find_fault(end, None if before else lambda end, r=right: end.out == r)  # type: ignore[misc]
            old = "a model from before: " if before else ""
            name = file.relative_to(model)
            yield f"{old}{damage.__name__} {name}: {question}", fault, end


def hostile_models(workspace: Workspace) -> Tries:
    """Ask questions of models whose checksums are right, and whose content is a lie."""
    while True:
        model = workspace.fresh()
        file = workspace.rng.choice(sorted(p for p in model.rglob("*") if p.is_file()))
        lie = workspace.rng.choice(LIES)
        with contextlib.suppress(ValueError):
            lie(file, workspace.rng)
        for folder in (model, *model.glob("attention/*")):
            with contextlib.suppress(Exception):  # what cannot be listed stays as it was
                list_contents(folder)
        for question in workspace.rng.sample([*QUESTIONS, "report|money in the [bank]"], 4):
            end = run(model_line(question), workspace.folder)
            yield f"{lie.__name__} {file.relative_to(model)}: {question}", find_fault(end), end


def replaced(workspace: Workspace) -> Tries:
    """Ask questions while another process puts one model in place of the other."""
    workspace.fresh()
    turn, tell = os.pipe()
    writer = os.fork()
    if writer == 0:
        os.close(tell)
        model = 0
        while os.read(turn, 1):  # at each question, twice: while it starts, and while it reads
            for _ in range(2):
                model = 1 - model
                with atomic_directory(workspace.folder / "m", replace=True) as work:
                    shutil.copytree(workspace.models[model], work, dirs_exist_ok=True)
                time.sleep(0.005)
        os._exit(0)
    try:
        while True:
            question = workspace.rng.choice(QUESTIONS)
            os.write(tell, b".")
            end = run(model_line(question), workspace.folder)
            right = [answers[question] for answers in workspace.answers]
            fault = find_fault(end, lambda end, r=right: end.out in r)  # type: ignore[misc]
            if not fault and end.code:
                fault = "lost"
            yield f"replaced: {question}", fault, end
    finally:
        os.close(tell)
        os.close(turn)
        os.kill(writer, signal.SIGKILL)
        os.waitpid(writer, 0)
        for left in workspace.folder.glob(".m.*"):
            shutil.rmtree(left, ignore_errors=True)
