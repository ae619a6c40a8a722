"""Kill training at random moments and look at what is left; run by test_train.py.

A process of its own, so that it may fork: numba is imported once, not for each of the children.
"""

import os
import random
import signal
import sys
import time
from pathlib import Path

from ctxembed.model.model import Model
from ctxembed.text.corpus import Corpus
from ctxembed.training.train import train

Files = dict[str, bytes]


def contents(folder: Path) -> Files:
    return {str(f.relative_to(folder)): f.read_bytes() for f in folder.rglob("*") if f.is_file()}


def work(folder: Path, target: Path, dim: int) -> None:
    corpus = Corpus([str(folder / "corpus.txt")])
    train(corpus, target, force=True, workers=1, dim=dim, epochs=3)


def child(folder: Path, dim: int, at: int | None) -> int:
    """Train in a child that kills itself when Python does its at-th notable thing."""
    process = os.fork()
    if process:
        return process
    done = 0

    def count(event: str, _: object) -> None:
        nonlocal done
        if event.partition(".")[0] in ("open", "os", "shutil", "mmap", "_thread", "ctypes"):
            done += 1
            if done == at:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(count)
    work(folder, folder / "model", dim)
    (folder / "events").write_text(str(done))
    os._exit(0)


def main(folder: Path, kills: int) -> None:
    rng = random.Random(os.urandom(8))
    work(folder, folder / "warm", 8)  # imports all that training needs
    models = {}
    for dim in (8, 9):
        began = time.perf_counter()
        os.waitpid(child(folder, dim, None), 0)
        seconds = time.perf_counter() - began
        models[dim] = contents(folder / "model")
    events = int((folder / "events").read_text())
    old, new = 9, 8
    moments = []
    for number in range(kills):
        share = (number + rng.random()) / kills  # spread over the whole run
        if number % 2:
            moments.append(f"event {1 + int(share * events)} of {events}")
            process = child(folder, new, 1 + int(share * events))
        else:
            moments.append(f"after {share * seconds:.3f} s of {seconds:.3f}")
            process = child(folder, new, None)
            time.sleep(share * seconds)
            os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        left = contents(folder / "model")
        assert left in (models[old], models[new]), (
            f"neither the old model nor the new: {moments[-1]}"
        )
        assert Model.open(folder / "model").vectors.shape[1] in (8, 9)
        if left == models[new]:
            old, new = new, old
    work(folder, folder / "model", 8)
    assert contents(folder / "model") == models[8]
    left_over = [item.name for item in folder.iterdir() if item.name.startswith(".")]
    assert left_over == [], left_over
    sys.stdout.write("\n".join(moments) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
