"""ctxembed cite"""

from string import Template

import click

import ctxembed
from ctxembed.cli.command import command

CITATION = Template("""\
The ctxembed authors ($year). $title (version $version) [Computer software]. $url

@software{ctxembed,
  author = {{The ctxembed authors}},
  title = {$title},
  version = {$version},
  year = {$year},
  url = {$url}
}""")
TITLE = "ctxembed: static and contextual word embeddings, number by number"  # as in CITATION.cff
URL = "https://github.com/ctxembed/ctxembed"
YEAR = 2026  # of the release


@command("cite")
def command_() -> None:
    """Print how to cite ctxembed, as a reference and for BibTeX."""
    version = ctxembed.__version__
    click.echo(CITATION.substitute(title=TITLE, url=URL, year=YEAR, version=version))
