"""Where the program starts: Ctrl-C ends it quietly while Python still imports it."""

import signal

if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # `main` listens again

from ctxembed.cli.main import run

if __name__ == "__main__":
    run()
