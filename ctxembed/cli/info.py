"""ctxembed info"""

from ctxembed.cli.command import answer, command, model_option, open_model, output_options
from ctxembed.cli.train import PROPERTIES


@command(
    "info",
    columns=PROPERTIES,
    examples=[
        ("What is this model?", "ctxembed info"),
        ("Its dimension, for a script", "ctxembed info -f tsv | awk '$1==\"dim\"{print $2}'"),
    ],
    see_also=["train", "show"],
)
@model_option
@output_options
def command_(
    model_dir: str | None,
    form: str | None,
    precision: int | None,
    no_header: bool,
    quiet: bool,
) -> None:
    """Tell what a model is: every parameter, its corpus, sizes and versions."""
    from ctxembed.ask.show import info

    model = open_model(model_dir, quiet)
    answer(info(model), form, precision, no_header, quiet)
