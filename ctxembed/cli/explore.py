"""ctxembed explore"""

import ipaddress
import shlex
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from ctxembed.cli import options
from ctxembed.cli.command import bars, command, expand_stdin, open_model
from ctxembed.cli.printing import note, write_file
from ctxembed.errors import CtxembedError, UsageError, read_failure


@command("explore")
@options.argument("sentences", nargs=-1, metavar="[SENTENCE]...")
@options.value("-o --output", "Write the page of these sentences to a file.", metavar="FILE")
@options.value("--word words", "With -o: a target; may be repeated.", metavar="WORD", multiple=True)
@options.axis
@options.attention("With -o: the attention to show first; default learned if the model has it.")
@options.seed("With -o: seed of the random numbers.")
@options.integer(
    "--port", "Port of the page; 0 chooses a free one.", min=0, max=65535, default=8642
)
@options.value("--host", "Address to listen on.", metavar="ADDRESS", default="127.0.0.1")
@options.flag("--share", "Let other machines open the page, without encryption.")
@options.flag("--no-browser", "Print the address and open no browser.")
@options.model
@options.batch()
def command_(
    sentences: tuple[str, ...], output: str | None, port: int, host: str, share: bool,
    no_browser: bool, model: str | None, **values: Any,
) -> None:  # fmt: skip
    """Open a page where you type a sentence, or write such a page to a file."""
    if sentences or output is not None:
        return _write_report(sentences, output, model, values)
    from ctxembed.web.questions import Models
    from ctxembed.web.server import Server

    if not _is_loopback(host) and not share:
        raise UsageError(f"--host {host}: other machines could open the page; add --share")
    opened = open_model(model)
    try:
        server = Server(Models(opened, model), host, port, share=share)
    except OSError as error:
        reason = read_failure(f"port {port} on {host}", error)
        raise CtxembedError(f"{reason}; --port 0 takes a free one") from None
    if share:
        note("other machines can open the page and query this model; nothing is encrypted")
    address = server.address.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:")
    if address != server.address:
        note("from another machine or through a mapped port, use its name and port in the address")
    click.echo(address)
    sys.stdout.flush()
    note("press Ctrl-C to stop")
    if not no_browser:
        import webbrowser

        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
    try:
        server.serve_forever(poll_interval=0.2)
    finally:
        server.server_close()


def _write_report(
    sentences: tuple[str, ...], output: str | None, model: str | None, values: dict[str, Any]
) -> None:
    """Write one self-contained HTML page about these sentences."""
    from ctxembed.web.gather import make_report
    from ctxembed.web.questions import Models

    if not sentences or output is None or output == "-":
        raise UsageError("a page for a file needs both: ctxembed explore SENTENCE... -o FILE")
    if not Path(output).parent.is_dir():
        raise UsageError(f"-o {output}: no such directory")
    line = shlex.join(["ctxembed", *sys.argv[1:]])
    models = Models(open_model(model), model)
    page = make_report(models, expand_stdin(sentences), command=line, progress=bars(), **values)
    write_file(output, [page])
    note(f"{len(page.encode()):,} bytes written to {output}")


def _is_loopback(host: str) -> bool:
    """Return whether only this machine can reach an address."""
    with suppress(ValueError):  # a name
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost"
