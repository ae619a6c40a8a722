"""The HTTP service of docs/service.md runs as it is written there."""

import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from socket import socket
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import numpy as np
import pytest

import ctxembed
from tests.conftest import ROOT


@pytest.fixture
def address(tmp_path: Path) -> Any:
    text = (ROOT / "docs" / "service.md").read_text(encoding="utf-8")
    script = text.split("```python\n")[1].split("```")[0]
    lines = [line for line in script.splitlines() if line.strip()]
    assert len(lines) <= 30
    (tmp_path / "service.py").write_text(script, encoding="utf-8")
    with socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "service.py", str(port)]
    process = subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.DEVNULL)
    try:
        url = f"http://127.0.0.1:{port}"
        for _ in range(600):
            try:
                ask(url, "/similar", {"word": "apple"})
                break
            except URLError:
                assert process.poll() is None, "the service ended"
                time.sleep(0.1)
        yield url
    finally:
        process.terminate()
        process.wait()


def ask(address: str, path: str, question: object) -> Any:
    with urlopen(Request(address + path, json.dumps(question).encode()), timeout=60) as answer:
        return json.load(answer)


def test_answers_are_those_of_the_library(address: str) -> None:
    model = ctxembed.open("everyday")
    sentences = ["she ate an [apple]", "money in the [bank]"]
    similar = ask(address, "/similar", {"word": "apple", "n": 3})
    assert [tuple(pair) for pair in similar] == model.most_similar("apple", topn=3)
    with ThreadPoolExecutor(8) as pool:
        answers = list(
            pool.map(lambda s: ask(address, "/encode", {"sentences": [s]}), sentences * 8)
        )
    for sentence, answer in zip(sentences * 8, answers, strict=True):
        np.testing.assert_allclose(answer, model.encode([sentence]), rtol=1e-5, atol=1e-6)
    (unknown,) = ask(address, "/encode", {"sentences": ["zzzz"]})
    assert unknown == [None] * model.dim  # JSON has no NaN
    rows = ask(address, "/compare", {"sentences": sentences})
    assert {row["target"] for row in rows} == {"apple", "bank"}


@pytest.mark.parametrize(
    ("path", "question", "message"),
    [
        ("/similar", {"word": "zzzz"}, "zzzz"),
        ("/similar", {}, "word"), ("/nothing", {}, "nothing"),
        ("/similar", {"word": "apple", "n": 0}, "n"),
        ("/similar", {"word": 3}, "words=3 is not a text"),
        ("/encode", {"sentences": [3]}, "is not a text"),
    ],
)  # fmt: skip
def test_errors_are_answers(address: str, path: str, question: object, message: str) -> None:
    with pytest.raises(HTTPError) as caught:
        ask(address, path, question)
    assert caught.value.code == 400
    assert message in json.load(caught.value)["error"]
