"""ctxembed report"""

import shlex
import sys
from pathlib import Path
from typing import Any

from ctxembed.cli import options
from ctxembed.cli.answer import QUIET, note
from ctxembed.cli.command import bars, command, expand_stdin, open_model
from ctxembed.errors import UsageError


@command(
    examples="""# A page to send to a class
ctxembed report "[Apple] launched a new phone while I was eating an [orange]" -o report.html""",
    see_also=["explore", "explain", "compare", "senses"],
    params=[QUIET],
    output="Nothing; the page goes into the file.",
    details="""One HTML file that asks nobody for anything: it can be opened from a disk, sent by
mail and printed. Click a word, or go to it with the arrow keys, to see what it looks at; every
picture can be saved as SVG or PNG and has its table behind it. The pages of the commands explain,
compare, ablate, similarity and senses say what the numbers mean.

Where a model has its corpus, each target gets a map of its occurrences. All maps together have at
most 5,000 points, fewer where the page would not stay below 1 MB; the map says how many were
drawn.""",
)
@options.argument("sentences", nargs=-1, required=True, metavar="SENTENCE...")
@options.value(
    "--word words",
    "A target in each sentence that has it; may be given several times.",
    metavar="WORD",
    multiple=True,
)
@options.axis
@options.attention("The attention that is shown first; learned where there is.")
@options.seed()
@options.model
@options.value("-o --output", "Where the page goes.", default="report.html", metavar="FILE")
def command_(sentences: tuple[str, ...], model: str | None, output: str, **asked: Any) -> None:
    """Write one self-contained page: sentences to click through, with their pictures and tables.

    Targets are marked in the sentences, [apple], or given by --word; else every content word is
    one.
    """
    from ctxembed.storage.atomic import file_written_whole
    from ctxembed.web.gather import make_report
    from ctxembed.web.questions import Models

    path = Path(output)
    if output == "-":
        raise UsageError("-o -: the page goes into a file; give its name")
    if not path.parent.is_dir():
        raise UsageError(f"-o {output}: no such directory")
    line = shlex.join(["ctxembed", *sys.argv[1:]])
    models = Models(open_model(model), model)
    page = make_report(models, expand_stdin(sentences), command=line, progress=bars(), **asked)
    with file_written_whole(path) as file:
        file.write(page.encode())
    note(f"{len(page.encode()):,} bytes written to {output}")
