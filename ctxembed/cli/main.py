"""The group of all commands, and the one place where an error becomes a message and a code."""

import errno
import gc
import io
import os
import signal
import sys
import warnings
from contextlib import suppress
from importlib import import_module
from typing import NoReturn

# Imported modules stay: collecting garbage among them takes a tenth of the start-up time.
gc.set_threshold(200_000)
# One BLAS thread is as fast as two for these sizes, repeatable, and kind to a busy machine.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import click

from ctxembed import __version__
from ctxembed.cli.command import Command
from ctxembed.cli.groups import COMMANDS, GROUPS, OLD_NAMES
from ctxembed.errors import CtxembedError, UsageError
from ctxembed.output.safe import discard_stdout, say

MIN_MEMORY = 400 << 20  # bytes of address space; with less, scipy's OpenBLAS waits for ever


class Commands(click.Group):
    """All commands; a command's module is imported when the command is run."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name == "help":
            from ctxembed.cli.help_ import command_

            return command_
        return load_command(name) if name in COMMANDS else None

    def get_help(self, ctx: click.Context) -> str:
        """Return where to begin and the names of all commands, on one screen."""
        from ctxembed.cli.help_ import write_overview

        return "\n".join(write_overview())

    def whole_help(self, ctx: click.Context) -> str:
        """Return all commands with their summaries, as `ctxembed help` prints them."""
        return super().get_help(ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands in groups, each with its summary."""
        for group, commands in GROUPS.items():
            with formatter.section(group):
                formatter.write_dl(list(commands.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] in OLD_NAMES:
            args = _replace_old_name(ctx, *args)
        elif args and args[0] not in (*COMMANDS, "help") and not args[0].startswith("-"):
            from difflib import get_close_matches

            close = get_close_matches(args[0], (*COMMANDS, "help", "--version"), 1, 0.7)
            hint = f"Did you mean {close[0]}?" if close else "ctxembed --help lists them."
            raise UsageError(f"no command {args[0]!r}. {hint}")
        return super().resolve_command(ctx, args)


def load_command(name: str) -> Command:
    """Import a command's module and return the command."""
    module = f"{name}_" if name in ("import", "index") else name  # a keyword; a function's name
    loaded: Command = import_module(f"ctxembed.cli.{module}").command_
    return loaded


def _replace_old_name(ctx: click.Context, name: str, *args: str) -> list[str]:
    """Return the command line that replaces one of 0.2; print a note about the new name."""
    rest, new = list(args), OLD_NAMES[name]
    if name == "completion":
        from click.shell_completion import get_completion_class, shell_complete

        shell = rest[0] if rest else "bash"
        if get_completion_class(shell) is None:
            raise click.UsageError(f"completion: no shell {shell!r}; give bash, zsh or fish")
        new = f"_CTXEMBED_COMPLETE={shell}_source ctxembed"
        say([f"completion is now: {new}. The old name works until 0.4."])
        ctx.exit(shell_complete(cli, {}, "ctxembed", "_CTXEMBED_COMPLETE", f"{shell}_source"))
    if name == "report":
        new = "explore SENTENCE -o FILE"
        rest += [] if {"-o", "--output"} & set(rest) else ["-o", "report.html"]
    if name == "check":  # it took the model without -m
        valued = {"-f", "--format", "-o", "--output", "--precision", "--color"}
        for i in reversed(range(len(rest))):
            if not rest[i].startswith("-") and not (i and rest[i - 1] in valued):
                rest.insert(i, "-m")
    if not {"-q", "--quiet"} & set(rest):
        say([f"{name} is now: ctxembed {new}. The old name works until 0.4."])
    return [*OLD_NAMES[name].split(), *rest]


@click.group(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, message="ctxembed %(version)s")
@click.pass_context
def cli(context: click.Context) -> None:
    """Compare static and contextual word vectors: what does this word mean here?

    A static word vector is an average over all meanings of a word. ctxembed turns it into a vector
    for one sentence by self-attention, and prints every number of the computation.

    New here? Begin with ctxembed demo and ctxembed explore.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


class Terminated(BaseException):
    """Raised on SIGTERM, so that temporary files are removed before the process ends."""


def _terminate(*_: object) -> NoReturn:
    raise Terminated


def main() -> NoReturn:
    """Run the command line; print any error as one message, and exit with its code."""
    signal.signal(signal.SIGTERM, _terminate)
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:  # as __main__ leaves it
        signal.signal(signal.SIGINT, signal.default_int_handler)
    _prepare_streams()
    try:
        if (_memory_limit() or MIN_MEMORY) < MIN_MEMORY:
            raise MemoryError
        code = cli.main(prog_name="ctxembed", standalone_mode=False)
        sys.stdout.flush()
        if Closed.was_written and not code:
            _fail("stdout is closed; the output is lost")
        sys.exit(code or 0)
    except click.exceptions.Exit as leave:
        sys.exit(leave.exit_code)
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        hint = f"\ntry: {context.command_path} --help" if context else ""
        message = error.format_message()
        if isinstance(error, click.NoSuchOption):
            message = _no_option(error)
        _fail(message + hint, error.exit_code)
    except CtxembedError as error:
        _fail(str(error), error.exit_code)
    except (click.Abort, KeyboardInterrupt, Terminated) as stop:
        if isinstance(stop.__cause__, EOFError):  # click takes it for Ctrl-D
            _blame_model()
            _fail(f"a file ended too early: {stop.__cause__}; it may have been changed meanwhile")
        discard_stdout()
        number = signal.SIGTERM if isinstance(stop, Terminated) else signal.SIGINT
        os._exit(128 + number)  # sys.exit would wait for worker threads
    except BrokenPipeError:
        discard_stdout()
        sys.exit(0)
    except (MemoryError, SystemError) as error:
        if isinstance(error, SystemError) and _memory_limit() is None:
            raise
        # Python itself may lose a MemoryError: "error return without exception set"
        _fail("not enough memory for this; try a smaller --dim or corpus")
    except RuntimeError as error:
        if "new thread" not in str(error):
            raise
        _fail("no memory for another thread, or too many of them; try --workers 1")
    except ImportError as error:  # often too little memory to load a library
        reason = (str(error).strip() or "no memory").splitlines()[-1]  # numpy's advice is long
        _fail(f"a library cannot be loaded: {reason}")
    except (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError):
        _blame_model()
        raise
    except OSError as error:
        if error.filename is None:  # most likely stdout: Python would try it again at the end
            discard_stdout()
        if error.errno in (errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)):
            _fail("no space left on the disk; the output is incomplete")
        _fail(f"{error.filename or 'input or output'}: {error.strerror or error}")


def run() -> NoReturn:
    """Run the command line and exit without Python's clean-up, which takes a tenth of the time."""
    if not sys.warnoptions:
        warnings.simplefilter("ignore")  # those of libraries
    try:
        main()
    except SystemExit as leave:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError, AttributeError):  # closed, or the reader has gone
                stream.flush()
        os._exit(leave.code if isinstance(leave.code, int) else 0)
    except (MemoryError, SystemError):  # no memory left to exit normally
        if _memory_limit() is None:
            raise
        os._exit(1)


def _fail(message: str, code: int = 1) -> NoReturn:
    say(message.splitlines())
    sys.exit(code)


def _no_option(error: click.NoSuchOption) -> str:
    """Return the message about an option that is not there, with the nearest one if it is near."""
    from difflib import get_close_matches

    options = [] if error.ctx is None else error.ctx.command.get_params(error.ctx)
    close = get_close_matches(error.option_name, [n for one in options for n in one.opts], 1, 0.7)
    hint = f" Did you mean {close[0]}?" if close else ""
    if isinstance(error.ctx and error.ctx.command, click.Group) and not close:
        hint = " Options come after the command: ctxembed COMMAND OPTIONS."
    return f"no option {error.option_name!r}.{hint}"


def _memory_limit() -> int | None:
    """Return the bytes of address space that this process may use (ulimit -v); None: no limit."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if limit == resource.RLIM_INFINITY else limit


def _blame_model() -> None:
    """Fail with what is wrong in an opened model; return if every model is sound (a bug)."""
    from ctxembed.model.model import Model
    from ctxembed.model.validate import find_fault

    for model in list(Model.opened):
        with suppress(CtxembedError, MemoryError, OSError):  # cannot be checked
            if fault := find_fault(model):
                _fail(str(fault), fault.exit_code)


class Closed(io.RawIOBase):
    """A stdout that was closed before the start: takes any output, and remembers that it did."""

    was_written = False

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return 1

    def write(self, data: object) -> int:
        Closed.was_written = True
        return len(data)  # type: ignore[arg-type]


def _prepare_streams() -> None:
    """Make stdout and stderr UTF-8 in any locale; write everything or fail.

    A byte of a file name that is not UTF-8 is escaped. Unbuffered streams (PYTHONUNBUFFERED) get a
    buffer: without one Python silently drops what a full disk does not take.
    """
    if None in (sys.stdin, sys.stdout, sys.stderr):
        # Take the numbers of closed streams; else the next file opened would get them.
        while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
            pass
        os.close(number)
        empty = io.BufferedReader(io.FileIO(0, closefd=False))
        sink = io.BufferedWriter(io.FileIO(2, "w", closefd=False))
        sys.stdin = sys.stdin or io.TextIOWrapper(empty, encoding="utf-8")
        sys.stderr = sys.stderr or io.TextIOWrapper(sink, encoding="utf-8")
        sys.stdout = sys.stdout or io.TextIOWrapper(io.BufferedWriter(Closed()), encoding="utf-8")
    if isinstance(sys.stdout, io.TextIOWrapper) and isinstance(sys.stdout.buffer, io.RawIOBase):
        buffered = io.BufferedWriter(sys.stdout.buffer)
        sys.stdout = io.TextIOWrapper(buffered, line_buffering=True)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
