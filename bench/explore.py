"""Load test of explore: a constant number of questions a second, on this machine only.

    python bench/explore.py [--rate 50] [--seconds 60] [--model DIR]

Prints the times of answers, the server's memory at the start, in the middle and at the end, and the
processor time of each question. With Playwright and chromium it also prints when the page paints
first, and when the first sentence is drawn.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from http.client import HTTPConnection
from urllib.parse import urlsplit

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
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
    wide = {"narrow": False}
    word = text[text.index("[") + 1 : text.index("]")].lower()
    drawn: list[tuple[str, dict[str, object]]] = [
        ("words", {"sentence": text}),
        ("layout", {"sentence": text, "target": 0, "width": 1080}),
        ("explain", {"sentence": text, "drawn": "contribution", **wide}),
        ("axes", {"word": word}),
        ("compare", {"sentences": [text], "axes": AXES, **wide}),
        ("ablate", {"sentences": [text], "axes": AXES, "drawn": "contribution", **wide}),
        ("unfold", {"sentence": text, "head": "2"}),
        ("similarity", {"words": [text], **wide}),
        (
            "explain",
            {
                "sentence": text,
                "attention": "general",
                "general": "cosine:3",
                "drawn": "weight",
                **wide,
            },
        ),
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


def time_each(load: Load, process: int) -> None:
    """Print the processor time of the server for each question, one after the other."""
    by_question: dict[str, list[int]] = {}
    for seed in range(400):
        by_question.setdefault(questions(random.Random(seed))[0], []).append(seed)
    for question, seeds in sorted(by_question.items()):
        used = processor(process)
        for seed in seeds:
            load.ask(seed, time.monotonic())
        each = 1000 * (processor(process) - used) / len(seeds)
        print(f"{question}: {each:.1f} ms of processor time")


def time_page(address: str) -> None:
    """Print when a browser paints the page first, and when its first sentence is drawn."""
    chromium = shutil.which("chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        chromium = None
    if chromium is None:
        return print("first paint: no Playwright or no chromium; make browser")
    paints, sentences = [], []
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium, args=FLAGS)
        for _ in range(7):
            page = browser.new_page()
            page.goto(address)
            page.wait_for_selector(".arc", state="attached")
            sentences.append(page.evaluate("performance.now()"))
            script = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0"
            paints.append(page.evaluate(script))
            page.close()
        browser.close()
    print(f"first paint: {sorted(paints)[3]:.0f} ms; sentence drawn: {sorted(sentences)[3]:.0f} ms")


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
        time_each(load, server.pid)
        time_page(address)
        print("private memory:", ", ".join(f"{size:.1f} MB" for size in sizes))
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(20)


if __name__ == "__main__":
    main()
