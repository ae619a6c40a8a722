"""The commands in groups, as `ctxembed --help` and ctxembed(1) list them.

The summaries are in help/groups.txt so that `ctxembed --help` imports no command.
"""

from ctxembed.cli.command import read_help

GROUPS = {
    group: dict(line.split(": ", 1) for line in body.splitlines())
    for group, body in read_help("groups").items()
}
COMMANDS = tuple(name for commands in GROUPS.values() for name in commands)
OLD_NAMES = {  # commands of 0.2 and what replaces them; they work until 0.4
    "vector": "show --vector",
    "analogy": "neighbors --analogy",
    "check": "info --check",
    "report": "explore",
    "completion": "",  # click's own: _CTXEMBED_COMPLETE=bash_source ctxembed
}
