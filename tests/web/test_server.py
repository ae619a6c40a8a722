"""The server of explore: access, limits, and odd requests."""

import json
import shutil
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path

import pytest

import ctxembed
from ctxembed.cli.explore import _is_loopback
from ctxembed.errors import UsageError
from ctxembed.web.questions import check
from ctxembed.web.words import WIDTHS
from tests.conftest import Run
from tests.web.served import Held, Served, as_records, explore, is_running

APPLE = "the [apple] launched the phone"


@pytest.fixture(scope="module")
def served(often: Path) -> Iterator[Served]:
    with explore(often) as server:
        yield server


def alive(served: Served) -> bool:
    return served.ask("words", sentence=APPLE)[0] == 200


def test_answers_are_those_of_the_commands(served: Served, often: Path) -> None:
    status, answered = served.ask("explain", sentence=APPLE)
    table = ctxembed.explain(often, APPLE, head="each")
    assert status == 200
    assert [column["name"] for column in answered["columns"]] == table.names
    weight = table.names.index("weight")
    for row, expected in zip(answered["rows"], table.rows, strict=True):
        assert row[weight] == (
            pytest.approx(expected[weight], abs=1e-5) if expected[weight] is not None else None
        )
    assert answered["command"] == f"ctxembed explain '{APPLE}' --head each -m {often}"


def test_two_sequences_and_counts_are_those_of_the_commands(served: Served, often: Path) -> None:
    status, answered = served.ask("explain", sentence="the [apple]", over="the sweet juice")
    table = ctxembed.explain(often, "the [apple]", over="the sweet juice", head="each")
    assert status == 200 and as_records(answered) == [
        {k: pytest.approx(v, abs=1e-5) if isinstance(v, float) else v for k, v in row.items()}
        for row in table.records()
    ]
    assert "--over 'the sweet juice'" in answered["command"]
    unfolded = as_records(served.ask("unfold", sentence="the [apple]", over="the sweet juice")[1])
    first = {r["token"]: r["weight"] for r in table.records() if r["head"] == "1"}
    weights = {row["token"]: row["value"] for row in unfolded if row["step"] == "weight"}
    assert weights == pytest.approx(first, abs=1e-5)
    status, answered = served.ask("counts", sentences=["mat cat mat", "cat rat rat"], method="bow")
    assert status == 200 and answered["columns"][0]["name"] == "sentence"
    assert [(row["mat"], row["rat"], row["cat"]) for row in as_records(answered)] == [
        (2, 0, 1),  # the notes' own
        (0, 2, 1),
    ]
    assert served.ask("counts", sentences=["/etc/passwd"], method="bow")[1]["rows"] == [[1, 1, 1]]


def test_only_the_pictures_that_are_shown_are_drawn(served: Served) -> None:
    whole = served.ask("explain", sentence=APPLE)[1]["pictures"]
    assert [len(one) for one in whole] == [2, 2]  # contributions and weights, wide and narrow
    for i, drawn in enumerate(("contribution", "weight")):
        for narrow in (False, True):
            shown = served.ask("explain", sentence=APPLE, drawn=drawn, narrow=narrow)[1]
            assert shown["pictures"] == [[whole[i][narrow]]]
            assert "draw" not in shown["command"]


def test_weights_by_hand(served: Served) -> None:
    """The word at position 3 weighs 0.5 in each head, and all words together still 1."""
    status, answered = served.ask("explain", sentence=APPLE, weights={"3": 0.5})
    assert status == 200
    rows = [row for row in as_records(answered) if row["weight"] is not None]
    heads = {row["head"] for row in rows}
    assert len(heads) > 1
    for head in heads:
        weights = {row["position"]: row["weight"] for row in rows if row["head"] == head}
        assert weights[3] == 0.5 and sum(weights.values()) == pytest.approx(1, abs=1e-4)


def test_words_and_arcs_have_coordinates(served: Served) -> None:
    for width in WIDTHS:
        _, answered = served.ask("layout", sentence=APPLE, target=1, width=width)
        whole, *boxes = as_records(answered)
        assert len(boxes) == 5 and whole["arc"] == "ltr" and whole["width"] <= width
        assert all(0 <= box["x"] <= whole["width"] - box["width"] + 0.1 for box in boxes)
        assert all(box["arc"].startswith("M") for i, box in enumerate(boxes) if i != 1)


def test_the_page(served: Served) -> None:
    status, headers, page = served.send("GET", f"/{served.token}/")
    assert status == 200 and page.startswith(b"<!doctype html>")
    assert headers["content-security-policy"] == "frame-ancestors 'none'"
    assert headers["referrer-policy"] == "no-referrer"
    assert b"connect-src 'self'" in page and b"default-src 'none'" in page


@pytest.mark.parametrize(
    "path",
    ["/", "/ask", "/wrong/", "/wrong/ask", "/TOKEN", "/TOKEN/../", "/TOKEN/model.json",
     "/TOKEN//etc/passwd", "/TOKEN/%2e%2e/", "/TOKEN/assets/main.js"],
)  # fmt: skip
def test_nothing_else_is_served(path: str, served: Served) -> None:
    for method in ("GET", "POST"):
        status, _, body = served.send(method, path.replace("TOKEN", served.token), b"{}")
        assert status in (403, 404, 415) and len(body) < 100


def test_other_sites_are_refused(served: Served) -> None:
    body = json.dumps({"question": "words", "parameters": {"sentence": "x"}}).encode()
    path, here = f"/{served.token}/ask", f"127.0.0.1:{served.port}"
    good = {"Content_Type": "application/json", "Host": here, "Origin": f"http://{here}"}
    assert served.send("POST", path, body, **good)[0] == 200
    for bad in (
        {"Host": "evil.example"},
        {"Host": f"evil.example:{served.port}"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
        {"Content_Type": "text/plain"},
        {"Content_Type": "application/x-www-form-urlencoded"},
    ):
        assert served.send("POST", path, body, **(good | bad))[0] in (403, 415), bad
    assert served.send("GET", f"/{served.token}/", Host="evil.example")[0] == 403
    assert served.send("OPTIONS", path)[0] == 501  # no other site is let in by a preflight


@pytest.mark.parametrize(
    ("question", "parameters"),
    [
        ("nothing", {}),
        ("words", {"sentence": 3}),
        ("words", {"sentence": "a", "model": "/etc"}),
        ("explain", {"sentence": "x " * 200}),
        ("explain", {"sentence": "x" * 3000}),
        ("explain", {"sentence": "[the"}),
        ("explain", {"sentence": "zzzz"}),
        ("explain", {"sentence": APPLE, "attention": "../../x"}),
        ("explain", {"sentence": APPLE, "vectors": "/etc/passwd"}),
        ("explain", {"sentence": APPLE, "vectors": "../../README"}),
        ("explain", {"sentence": APPLE, "general": "cosine:nan"}),
        ("explain", {"sentence": APPLE, "over": "x " * 200}),
        ("explain", {"sentence": APPLE, "over": ["bank"]}),
        ("counts", {"sentences": ["/etc/passwd"], "method": "static"}),
        ("weights", {"weights": "/etc/passwd"}),
        ("compare", {"sentences": [APPLE] * 9}),
        ("compare", {"sentences": [APPLE], "axes": {"a": [1]}}),
        ("unfold", {"sentence": APPLE, "head": "99"}),
        ("reweigh", {"sentence": APPLE, "weights": {"1": 7}}),
        ("reweigh", {"sentence": APPLE, "weights": {"900": 0.5}}),
        ("map", {"word": "zzzz", "attention": "general"}),
        ("map", {"word": "apple", "attention": "nothing"}),
        ("map", {}),
    ],
)
def test_wrong_questions_get_an_error(
    question: str, parameters: dict[str, object], served: Served
) -> None:
    status, answered = served.ask(question, **parameters)
    assert status in (200, 400) and [*answered] == ["error"] and answered["error"], answered
    assert "Traceback" not in answered["error"]


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"[" * 60000, b"\xff\xfe", b'{"parameters": 3}', b"null"]
)
def test_no_question_at_all(body: bytes, served: Served) -> None:
    status, _, _ = served.send(
        "POST", f"/{served.token}/ask", body, Content_Type="application/json"
    )
    assert status == 400


def test_large_requests_are_refused(served: Served) -> None:
    path = f"/{served.token}/ask"
    for length in ("10000000", "-1", "x", "9" * 20, "9" * 5000, "²", ""):
        with socket.create_connection((served.host, served.port), timeout=30) as raw:
            head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\n"
            kind = "Content-Type: application/json\r\n"
            raw.sendall(f"{head}{kind}Content-Length: {length}\r\n\r\n".encode("latin-1"))
            assert raw.recv(100).split()[1] in (b"411", b"413")
    with suppress(BrokenPipeError, ConnectionResetError):  # it may hang up while we still talk
        kind = "application/json"
        assert served.send("POST", path, b"x" * 10_000_000, Content_Type=kind)[0] == 413
    with suppress(BrokenPipeError, ConnectionResetError):
        assert served.ask("words", sentence="word " * 100_000)[0] == 413
    with socket.create_connection((served.host, served.port), timeout=30) as raw:
        raw.sendall(b"GET /" + b"x" * 70_000 + b" HTTP/1.1\r\n\r\n")
        assert b" 414 " in raw.recv(100)
    assert alive(served)


def test_half_sent_requests_and_two_hundred_connections(served: Served) -> None:
    path = f"/{served.token}/ask"
    raws = []
    for number in range(200):
        raw = socket.create_connection((served.host, served.port), timeout=30)
        raws.append(raw)
        if number % 2:
            raw.sendall(f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Le".encode())
    start = time.monotonic()
    while True:  # they are thrown out, and then it answers again
        with suppress(OSError, ValueError, HTTPException):
            if alive(served):
                break
        assert time.monotonic() - start < 30
        time.sleep(0.2)
    for raw in raws:
        raw.close()
    assert alive(served)


def test_a_map_is_found_beside_other_questions(served: Served) -> None:
    statuses: list[int] = []
    start = time.monotonic()
    while not statuses or statuses[-1] == 202:
        status, answered = served.ask("map", word="apple", attention="general")
        statuses.append(status)
        assert alive(served)
        assert time.monotonic() - start < 120
        time.sleep(0.1)
    assert statuses[-1] == 200 and len(answered["rows"]) == 45
    assert served.ask("legend", word="apple", attention="general")[0] == 200
    status, placed = served.ask("place", word="apple", attention="general", sentence=APPLE)
    assert status == 200 and placed["rows"][0][0] == "apple"


@pytest.mark.posix
def test_a_search_is_stopped(often: Path, tmp_path: Path) -> None:
    """Stop ends the process that searches, and keeps nothing of it; Ctrl-C ends all."""
    held = Held(tmp_path)
    parameters = {"word": "bank", "attention": "general"}
    with explore(often, held=held) as served:
        for _ in range(3):  # several tabs share one search
            assert served.ask("map", **parameters)[0] == 202
        (first,) = held.wait_for()
        stages = ["starting"]
        while stages[-1] == "starting":  # until the server has read what the process says
            status, answer = served.ask("map", **parameters)
            stages.append(answer["stage"])
            time.sleep(0.05)
        assert (status, stages[-1]) == (202, "occurrences") and answer["progress"] in (None, 0.25)
        assert is_running(first)
        body = json.dumps({"parameters": parameters}).encode()
        path, kind = f"/{served.token}/stop", "application/json"
        assert served.send("POST", path, body, Content_Type=kind)[0] == 200
        assert not is_running(first)  # before the answer came
        assert served.ask("map", **parameters)[0] == 202  # parameters again, it begins anew
        _, second = sorted(held.wait_for(2), key=lambda process: process != first)
        assert is_running(second)
    start = time.monotonic()
    while is_running(second) and time.monotonic() - start < 10:
        time.sleep(0.05)
    assert not is_running(second)  # Ctrl-C has ended it too


def test_saved_senses_are_the_map(often: Path, tmp_path: Path) -> None:
    """A model's own senses, once saved, are those of the page: legend, place and words."""
    model = tmp_path / "saved"
    shutil.copytree(often, model)
    senses = ctxembed.senses(model, "apple", k=2, save=True).records()
    assert len(senses) == 2
    with explore(model) as served:
        name = served.page_data()["attentions"][0]
        parameters = {"word": "apple", "attention": name}
        while (answer := served.ask("map", **parameters))[0] == 202:
            time.sleep(0.1)
        legend = as_records(served.ask("legend", **parameters)[1])
        for row, sense in zip(legend, senses, strict=True):
            assert (row["sense"], row["count"]) == (sense["sense"], sense["count"])
            assert row["share"] == pytest.approx(sense["share"], abs=1e-5)
        points = as_records(answer[1])
        assert {p["sense"] for p in points} == {1, 2} and len(points) == 45
        for text in (APPLE, "the sweet [apple] juice"):
            (placed,) = as_records(served.ask("place", **parameters, sentence=text)[1])
            rows = ctxembed.compare(model, text).records()
            (learned,) = [row for row in rows if row["representation"] == name]
            assert placed["sense"] == learned["sense"] is not None


def test_a_busy_port_is_named(served: Served, run: Run) -> None:
    done = run("explore", "--no-browser", "--port", str(served.port))
    assert done.returncode == 1
    assert f"port {served.port} on 127.0.0.1: address already in use; --port 0" in done.stderr


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.org"])
def test_other_machines_need_share(host: str, run: Run) -> None:
    done = run("explore", "--host", host, "--no-browser")
    assert done.returncode == 2
    assert "--share" in done.stderr


def test_this_machine() -> None:
    assert all(map(_is_loopback, ("127.0.0.1", "127.8.8.8", "::1", "localhost")))
    assert not any(map(_is_loopback, ("0.0.0.0", "::", "localhost.example.org", "10.0.0.1")))


def test_every_parameter_of_the_page_has_a_limit() -> None:
    from ctxembed.web.questions import CHECKS, CHOSEN, QUESTIONS, SHOWN

    taken = {name for question in QUESTIONS.values() for name in question.takes}
    assert taken | {"word", *CHOSEN, *SHOWN} == set(CHECKS)
    with pytest.raises(UsageError, match="path"):
        check({"path": "/etc"})
