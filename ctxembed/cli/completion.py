"""ctxembed completion"""

import click

from ctxembed.cli import options
from ctxembed.cli.command import command


@command(
    output="Text on standard output, not a table.",
    examples="""# Switch it on in bash
eval "$(ctxembed completion bash)"
# In fish
ctxembed completion fish | source""",
    details="""Put the line into ~/.bashrc or ~/.zshrc (eval "$(ctxembed completion zsh)"), or
save fish's into ~/.config/fish/completions/ctxembed.fish.""",
)
@options.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command_(shell: str) -> None:
    """Print the shell code that completes commands and options."""
    from click.shell_completion import get_completion_class

    from ctxembed.cli.main import cli

    made = get_completion_class(shell)
    assert made is not None
    click.echo(made(cli, {}, "ctxembed", "_CTXEMBED_COMPLETE").source())
