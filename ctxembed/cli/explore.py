"""ctxembed explore"""

import ipaddress
import sys
import threading

import click

from ctxembed.cli import options
from ctxembed.cli.answer import QUIET, note
from ctxembed.cli.command import command, open_model
from ctxembed.errors import CtxembedError, UsageError, read_failure

PORT = 8642


@command(
    examples="""# Type a sentence, see it change
ctxembed explore
# With your own model, on a port that is free
ctxembed explore -m ctxembed-model --port 0""",
    see_also=["report", "explain", "compare", "ablate", "senses"],
    params=[QUIET],
    output="The address of the page, once; then nothing until Ctrl-C.",
    details="""The page shows, while one types, what each word looks at, what it means here in
words and on axes of one's own, all heads, every step of the arithmetic, what each word is worth,
and the map of a word with the present sentence on it. Words can be taken away and weights dragged.
The worked examples of the notes are in a menu. The address holds all that is shown: copied, it
brings the same page back for as long as the command runs. Every picture can be saved, and the
command that prints its numbers copied.

Only this machine can open the page: it is served on 127.0.0.1, under an address with a token that
is new each time, to no other site's script. --host with --share serves it to others, without
encryption: whoever sees the address can ask questions of the model. Nothing but the page is
served, no file can be read through it, and nothing is written. A search for senses runs in a
process of its own and can be stopped. Ctrl-C ends all of it.""",
)
@options.integer("--port", "The port; 0 takes any that is free.", least=0, most=65535, default=PORT)
@options.value(
    "--host",
    "Where to listen; another machine's reach needs --share.",
    metavar="ADDRESS",
    default="127.0.0.1",
)
@options.flag("--share", "Let other machines open the page, unencrypted.")
@options.flag("--no-browser", "Print the address, open no browser.")
@options.model
def command_(port: int, host: str, share: bool, no_browser: bool, model: str | None) -> None:
    """Serve a page on this machine on which one types a sentence and sees its words change."""
    from ctxembed.web.questions import Models
    from ctxembed.web.server import Server

    if not _is_here(host) and not share:
        raise UsageError(f"--host {host}: others could reach the page; --share allows it")
    opened = open_model(model)
    try:
        server = Server(Models(opened, model), host, port, share=share)
    except OSError as error:
        reason = read_failure(f"port {port} on {host}", error)
        raise CtxembedError(f"{reason}; --port 0 takes a free one") from None
    if share:
        note("others can open the page and ask this model; nothing is encrypted")
    click.echo(server.address)
    sys.stdout.flush()
    note("Ctrl-C ends it")
    if not no_browser:
        import webbrowser

        threading.Thread(target=webbrowser.open, args=(server.address,), daemon=True).start()
    try:
        server.serve_forever(poll_interval=0.2)
    finally:
        server.server_close()


def _is_here(host: str) -> bool:
    """Tell whether only this machine can reach an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
