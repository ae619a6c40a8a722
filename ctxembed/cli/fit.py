"""ctxembed fit"""

from ctxembed.cli import options
from ctxembed.cli.command import ask, command
from ctxembed.table import Table


@command(
    examples="""# Idioms, figurative or literal
ctxembed fit idioms.tsv --name idioms
# Does it carry over to idioms it never saw?
ctxembed fit idioms.tsv --name unseen --split expression""",
    picture="the loss of each epoch, on what is fitted and on what is held out",
    see_also=["predict", "compare", "explain", "learn"],
    details="""A task file has a label and a sentence a line, a tab between them, the target word or
words in brackets: figurative<tab>It was a [piece of cake]. With a first line of column names there
may be more: expression (what the target is a form of), half (sentences marked test are never fitted
to, and the accuracy is theirs), gloss (what the label means for this expression; predict prints
it).

Fitting starts from the model's learned attention, or near general attention where there is none,
and adds three plain heads: the whole sentence, the word to the left, the word to the right. W_Q,
W_K, W_V, W_O and the biases are pulled back to where they started; context words are hidden at
random. A fifth is held out: fitting stops when it no longer gains, and is then repeated on all
sentences for as many epochs. Static vectors stay as they are.

Accuracy before is that of the nearest mean of the same expression's vectors, under the attention
that fitting starts from. Of more than 50,000 sentences a random sample is used.""",
)
@options.argument("task")
@options.value("--name", "Name of the attention.", default="task")
@options.choice(
    "--split by",
    ["sentence", "expression"],
    "Hold out sentences, or expressions with all their sentences.",
)
@options.choice("--report", ["summary", "epochs", "confusion"], "What to print.")
@options.integer("--epochs", "Passes at most; 30.", most=1000)
@options.seed()
@options.model
def command_(task: str, **asked: object) -> Table:
    """Fit attention to a labelled task, and save it under a name; - reads the task from stdin."""
    return ask(task, writes=True, **asked)
