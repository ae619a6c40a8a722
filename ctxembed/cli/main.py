"""The group of all commands, and the one place where an error becomes a message and a code."""

import errno
import gc
import io
import os
import signal
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any, NoReturn

# What is imported stays: looking through it for rubbish again and again costs a tenth of a start.
gc.set_threshold(50_000)
# One BLAS thread is as fast as two for these sizes, repeatable, and kind to a busy machine.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import click

from ctxembed import __version__
from ctxembed.cli.command import Command
from ctxembed.cli.room import guard, limit
from ctxembed.errors import CtxembedError, UsageError
from ctxembed.output.safe import say

# In the order of the story; the module of a command has its name.
COMMANDS = (
    "train", "learn", "fit", "predict", "info", "check", "show", "vector", "neighbors",
    "similarity", "analogy", "explain", "compare", "substitutes", "contextualize", "ablate",
    "senses", "mix", "shift", "kwic", "collocates", "keywords", "ambiguity", "positions",
    "evaluate", "import", "export", "index", "shrink", "demo", "tokenize", "vectorize", "ladder",
    "report", "explore", "completion",
)  # fmt: skip


class Commands(click.Group):
    """Imports a command's module when the command is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        return load_command(name) if name in COMMANDS else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands, each with its whole sentence, which click would cut off."""
        told = ((name, load_command(name).get_short_help_str(limit=1000)) for name in COMMANDS)
        listed = [(name, text.partition("; -")[0].rstrip(".")) for name, text in told]
        with formatter.section("Commands"):
            formatter.write_dl(listed)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from difflib import get_close_matches

            close = get_close_matches(args[0], COMMANDS, n=1)
            hint = f"; did you mean {close[0]}?" if close else "; ctxembed --help lists them"
            raise UsageError(f"no command {args[0]!r}{hint}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # click would exit with 1, yet `| head` is no failure
            _quietly_close()
            return 0


def load_command(name: str) -> Command:
    """Import one command."""
    module = f"{name}_" if name in ("import", "index") else name  # a keyword; another file's name
    found: Command = import_module(f"ctxembed.cli.{module}").command_
    return found


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="ctxembed %(version)s")
def cli() -> None:
    """What does this word mean here?

    Trains word2vec on your corpus, turns a word's one averaged vector into a vector for this
    sentence by self-attention, and prints every number on the way.

    \b
    Start here:
      ctxembed train corpus.txt
      ctxembed show apple
    """


class Terminated(BaseException):
    """Somebody sent SIGTERM: clean up, then go."""


def _terminate(*_: object) -> NoReturn:
    raise Terminated


def main() -> NoReturn:
    """Run the command line."""
    signal.signal(signal.SIGTERM, _terminate)
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:  # as __main__ leaves it
        signal.signal(signal.SIGINT, signal.default_int_handler)
    _prepare_streams()
    guard()
    try:
        code = cli.main(prog_name="ctxembed", standalone_mode=False)
        sys.stdout.flush()
        sys.exit(code or int(Closed.asked))
    except click.exceptions.Exit as leave:
        sys.exit(leave.exit_code)
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        hint = [f"try: {context.command_path} --help"] if context else []
        _fail(error.format_message(), error.exit_code, hint)
    except CtxembedError as error:
        _fail(str(error), error.exit_code)
    except (click.Abort, KeyboardInterrupt, Terminated) as stop:
        _quietly_close()
        number = signal.SIGTERM if isinstance(stop, Terminated) else signal.SIGINT
        os._exit(128 + number)  # sys.exit might end by the signal yet, and worker threads go on
    except BrokenPipeError:
        _quietly_close()
        sys.exit(0)
    except (MemoryError, SystemError) as error:
        if isinstance(error, SystemError) and limit() is None:
            raise
        # Python itself may lose a MemoryError: "error return without exception set"
        _fail("not enough memory for this; try a smaller --dim or corpus", 1)
    except RuntimeError as error:
        if "new thread" not in str(error):
            raise
        _fail("no memory for another thread, or too many of them; try --workers 1", 1)
    except ImportError as error:  # a library that finds no memory to be loaded into
        reason = (str(error).strip() or "no memory").splitlines()[-1]  # numpy's advice is long
        _fail(f"a library cannot be loaded: {reason}", 1)
    except (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError):
        _blame_model()
        raise
    except OSError as error:
        if error.filename is None:  # most likely stdout: Python would try it again at the end
            _quietly_close()
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            _fail("no space left on the disk; the output is incomplete", 1)
        _fail(f"{error.filename or 'input or output'}: {error.strerror or error}", 1)


def _blame_model() -> None:
    """Say what is wrong with a model that we believed; if nothing is, the mistake is ours."""
    from ctxembed.model.model import Model
    from ctxembed.model.validate import find_fault

    for model in list(Model.opened):
        with suppress(CtxembedError, MemoryError, OSError):  # no room to look
            if fault := find_fault(model):
                _fail(str(fault), fault.exit_code)


class Closed(io.RawIOBase):
    """Stands for a stdout that was closed before we began: whatever is printed fails, quietly."""

    asked = False

    def writable(self) -> bool:
        """Say that this can be written to."""
        return True

    def fileno(self) -> int:
        """Return the number of stdout."""
        return 1

    def write(self, data: object) -> int:
        """Take what nobody will read."""
        Closed.asked = True
        return len(data)  # type: ignore[arg-type]


def _fill_closed_streams() -> None:
    """Put something in the place of closed streams, or the next file opened would take it."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)
    nothing = io.BufferedReader(io.FileIO(0, closefd=False))
    nobody = io.BufferedWriter(io.FileIO(2, "w", closefd=False))
    sys.stdin = sys.stdin or io.TextIOWrapper(nothing, encoding="utf-8")
    sys.stderr = sys.stderr or io.TextIOWrapper(nobody, encoding="utf-8")
    sys.stdout = sys.stdout or io.TextIOWrapper(io.BufferedWriter(Closed()), encoding="utf-8")


def _prepare_streams() -> None:
    """Speak UTF-8 whatever the locale, since tables hold any script; write all or fail.

    What is no character (a byte of a file's name) is written as JSON and Python would escape it.
    Unbuffered (PYTHONUNBUFFERED), Python drops without a word what a full disk does not take.
    """
    if None in (sys.stdin, sys.stdout, sys.stderr):
        _fill_closed_streams()
    if isinstance(sys.stdout, io.TextIOWrapper) and isinstance(sys.stdout.buffer, io.RawIOBase):
        whole = io.BufferedWriter(sys.stdout.buffer)
        sys.stdout = io.TextIOWrapper(whole, line_buffering=True)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def run() -> NoReturn:
    """Run the command line, and leave at once: taking Python apart costs a tenth of a question."""
    if not sys.warnoptions:
        warnings.simplefilter("ignore")  # of libraries; what a user should know, we say ourselves
    try:
        main()
    except SystemExit as leave:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError, AttributeError):  # closed, or whoever read has gone
                stream.flush()
        os._exit(leave.code if isinstance(leave.code, int) else 0)
    except (MemoryError, SystemError):  # there is none left even to leave
        if limit() is None:
            raise
        os._exit(1)


def _fail(message: str, code: int, hint: Sequence[str] = ()) -> NoReturn:
    say([*message.splitlines(), *hint])
    sys.exit(code)


def _quietly_close() -> None:
    """Throw away what stdout still holds: whoever read it has gone."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
