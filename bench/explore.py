"""Load test of explore: a constant number of questions a second, on this machine only.

    python bench/explore.py [--rate 50] [--seconds 60] [--model DIR]

Prints the times of answers and the server's memory at the start, in the middle and at the end.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from http.client import HTTPConnection
from urllib.parse import urlsplit

SENTENCES = (
    "[Apple] launched a new phone while I was eating an orange",
    "we sat on the [bank] of the river",
    "the [bank] lent us money for the house",
    "Looks like I just crashed the [server]",
    "the [mouse] ran under the table",
)
AXES = {"taste": ["fruit", "sweet", "juice"], "technology": ["phone", "company", "software"]}


def questions(chance: random.Random) -> tuple[str, dict[str, object]]:
    """Return a random question, as the page sends while a sentence is typed."""
    sentence = chance.choice(SENTENCES)
    cut = sentence.split()[: chance.randint(5, 12)]
    if "[" not in " ".join(cut):
        cut = sentence.split()
    text = " ".join(cut)
    drawn: list[tuple[str, dict[str, object]]] = [
        ("words", {"sentence": text}),
        ("layout", {"sentence": text, "target": 0}),
        ("explain", {"sentence": text}),
        ("compare", {"sentences": [text], "axes": AXES}),
        ("ablate", {"sentences": [text], "axes": AXES}),
        ("unfold", {"sentence": text, "head": "2"}),
        ("explain", {"sentence": text, "attention": "general", "general": "cosine:3"}),
    ]
    return chance.choice(drawn)


class Load:
    """Requests at a constant rate, however long the answers take."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        self.host, self.port, self.path = parts.hostname or "", parts.port or 0, f"{parts.path}ask"
        self.times: list[float] = []
        self.by_question: dict[str, list[float]] = {}
        self.failed: list[str] = []

    def ask(self, seed: int, due: float) -> None:
        question, parameters = questions(random.Random(seed))
        body = json.dumps({"question": question, "parameters": parameters})
        try:
            connection = HTTPConnection(self.host, self.port, timeout=10)
            connection.request("POST", self.path, body, {"Content-Type": "application/json"})
            reply = connection.getresponse()
            reply.read()
            connection.close()
            if reply.status != 200:
                self.failed.append(f"{question}: {reply.status}")
        except OSError as error:
            self.failed.append(f"{question}: {error}")
        took = time.monotonic() - due  # since it should have been sent: waiting counts
        self.times.append(took)
        self.by_question.setdefault(question, []).append(took)


def memory(process: int) -> float:
    """Return the private memory of a process in MB."""
    with open(f"/proc/{process}/status") as file:
        status = dict(line.split(":", 1) for line in file)
    return (int(status["RssAnon"].split()[0])) / 1024


def processor(process: int) -> float:
    """Return the seconds of processor time that a process has taken."""
    with open(f"/proc/{process}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def percentile(times: list[float], fraction: float) -> float:
    """Return a percentile of the times in ms; fraction is from 0 to 1."""
    ordered = sorted(times)
    return 1000 * ordered[min(len(ordered) - 1, int(fraction * len(ordered)))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rate", type=int, default=50)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--model", default=None)
    options = parser.parse_args()
    rate, seconds = min(options.rate, 200), min(options.seconds, 600)
    line = [sys.executable, "-m", "ctxembed", "explore", "--no-browser", "--port", "0"]
    line += ["-m", options.model] if options.model else []
    begun = time.monotonic()
    server = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert server.stdout is not None
    address = server.stdout.readline().strip()
    print(f"ready after {time.monotonic() - begun:.2f} s")
    try:
        load = Load(address)
        for seed in range(40):  # arrays are mapped when they are first used
            load.ask(seed, time.monotonic())
        load.times.clear()
        load.by_question.clear()
        sizes, used = [memory(server.pid)], processor(server.pid)
        start, threads = time.monotonic(), []
        for number in range(rate * seconds):
            due = start + number / rate
            time.sleep(max(0.0, due - time.monotonic()))
            thread = threading.Thread(target=load.ask, args=(number, due))
            thread.start()
            threads.append(thread)
            if number == rate * seconds // 2:
                sizes.append(memory(server.pid))
        for thread in threads:
            thread.join()
        sizes.append(memory(server.pid))
        took = time.monotonic() - start
        print(f"{len(load.times)} answers in {took:.0f} s, {len(load.failed)} failed")
        print("all", *(f"p{p} {percentile(load.times, p / 100):.0f} ms" for p in (50, 95, 99)))
        for question, times in sorted(load.by_question.items()):
            print(
                f"{question}: p50 {percentile(times, 0.5):.0f} ms, "
                f"p95 {percentile(times, 0.95):.0f} ms"
            )
        each = 1000 * (processor(server.pid) - used) / len(load.times)
        print(f"processor time: {each:.1f} ms an answer")
        print("private memory:", ", ".join(f"{size:.1f} MB" for size in sizes))
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(20)


if __name__ == "__main__":
    main()
