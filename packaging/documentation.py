"""Pages of the documentation site that are made when it is built: a hook of mkdocs.

The reference comes from the declarations of the commands, as the man pages do; changelog, figures
and others from the files of the repository. llms.txt lists all pages for programs that read them.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click

from ctxembed.cli.command import Command, read_help
from ctxembed.cli.groups import COMMANDS, GROUPS
from ctxembed.cli.help_ import TOPICS, has_terms
from ctxembed.cli.main import load_command

ROOT = Path(__file__).parent.parent
COPIED = {  # a page of the site and the file that it is
    "figures.md": "bench/README.md",
    "changelog.md": "CHANGELOG.md",
    "upgrading.md": "UPGRADING.md",
    "architecture.md": "ARCHITECTURE.md",
    "contributing.md": "CONTRIBUTING.md",
}
Navigation = list[dict[str, Any]]


def pages() -> dict[str, str]:
    """Return the Markdown of every page that is made, by its path in docs/."""
    made = {page: (ROOT / file).read_text(encoding="utf-8") for page, file in COPIED.items()}
    made["reference/commands.md"] = "\n".join(_write_index())
    for name in COMMANDS:
        made[f"reference/{name}.md"] = "\n".join(write_reference(load_command(name)))
    for topic in TOPICS:
        made[f"reference/topic-{topic}.md"] = "\n".join(write_topic(topic))
    return made


def write_reference(command: Command) -> Iterator[str]:
    """Yield the lines of the page of a command: usage, options, columns, picture, examples."""
    context = click.Context(command, info_name=f"ctxembed {command.name}")
    yield from (f"# ctxembed {command.name}", "", *_paragraphs(command.description), "")
    usage = " ".join(command.collect_usage_pieces(context))
    yield from ("```text", f"ctxembed {command.name} {usage}", "```", "", "## Examples", "")
    for meaning, line in command.examples:
        yield from (f"{meaning.rstrip('?.')}:", "", "```text", line, "```", "")
    if command.picture:
        yield from ("## Picture", "", f"`-o FILE.svg`: {_escape(command.picture)}.", "")
    for option, columns in command.columns.items():
        yield from (f"## Columns with {option}" if option else "## Columns", "")
        yield from ("| column | meaning |", "|---|---|")
        yield from (f"| `{one.name}` | {_escape(one.meaning)} |" for one in columns)
        yield ""
    for group, records in command.option_groups(context).items():
        yield from (f"## {group}", "", "| option | meaning |", "|---|---|")
        for term, meaning in records:
            names = term.replace("|", "\\|")
            yield f"| `{names}` | {_escape(meaning)} |"
        yield ""
    for head in ("Details", "Output"):
        if text := command.sections.get(head):
            yield from (f"## {head}", "", *_paragraphs(text), "")
    links = (f"[{name}]({name}.md)" for name in command.sections["See also"].split(", "))
    yield from ("## See also", "", ", ".join(links), "")


def write_topic(topic: str) -> Iterator[str]:
    """Yield the lines of the page of a topic; terms with their meanings are a table."""
    file, section = TOPICS[topic]
    text = read_help(file)[section]
    yield from (f"# {topic.replace('-', ' ').capitalize()}", "")
    if not has_terms(text):
        yield from _paragraphs(text)
        return
    yield from ("| | meaning |", "|---|---|")
    for line in re.sub(r"\n\s+", " ", text).splitlines():
        term, _, meaning = line.partition(": ")
        yield f"| {_escape(term)} | {_escape(meaning)} |"


def _write_index() -> Iterator[str]:
    yield from ("# All commands", "", "Every command, with its options, columns and examples.", "")
    for group, commands in GROUPS.items():
        yield from (f"## {group}", "", "| command | what it does |", "|---|---|")
        yield from (f"| [{name}]({name}.md) | {_escape(text)} |" for name, text in commands.items())
        yield ""
    yield from ("## Topics", "")
    yield ", ".join(f"[{topic}](topic-{topic}.md)" for topic in TOPICS)


def _paragraphs(text: str) -> Iterator[str]:
    """Yield plain paragraphs as Markdown; what is indented stays as it is, as code."""
    for paragraph in re.split(r"\n\s*\n", text.replace("\b\n", "")):
        lines = paragraph.splitlines()
        indented = all(line.startswith("  ") for line in lines)
        yield from ("", "```text", *lines, "```") if indented else ("", *map(_escape, lines))


def _escape(text: str) -> str:
    """Return plain text as Markdown that shows the same characters."""
    return re.sub(r"([\\`*_{}\[\]<>|])", r"\\\1", text)


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that are made to those of docs/."""
    from mkdocs.structure.files import File

    for path, text in pages().items():
        files.append(File.generated(config, path, content=text))
    there = {file.src_uri for file in files}
    config.nav = [*_keep(config.nav, there)]
    listed = {path for path in _paths(config.nav)}
    others = sorted(path for path in there if path.endswith(".md") and path not in listed)
    if others:
        config.nav.insert(-1, {"More": others})
    return files


def _keep(nav: Navigation, there: set[str]) -> Iterator[dict[str, Any]]:
    """Yield the entries of the navigation whose pages are there; the reference with all pages."""
    for entry in nav:
        for title, value in entry.items():
            if value == "reference/":
                yield {title: list(_reference())}
            elif isinstance(value, list):
                yield {title: [*_keep(value, there)]}
            elif value in there:
                yield {title: value}


def _reference() -> Iterator[dict[str, Any]]:
    yield {"All commands": "reference/commands.md"}
    for group, commands in GROUPS.items():
        yield {group: [{name: f"reference/{name}.md"} for name in commands]}
    yield {"Topics": [{topic: f"reference/topic-{topic}.md"} for topic in TOPICS]}


def _paths(nav: Iterable[Any]) -> Iterator[str]:
    for entry in nav:
        for value in entry.values() if isinstance(entry, dict) else [entry]:
            yield from _paths(value) if isinstance(value, list) else [value]


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Let links to files of the repository lead to their pages here, and others name the file."""
    made = {file: name for name, file in COPIED.items()}
    home = Path(COPIED.get(page.file.src_uri, f"docs/{page.file.src_uri}")).parent
    up = "../" * page.file.src_uri.count("/")

    def lead(match: re.Match[str]) -> str:
        text, target, anchor = match["text"], match["target"], match["anchor"] or ""
        file = (ROOT / home / target).resolve()
        if not file.is_relative_to(ROOT):
            return match[0]
        path = file.relative_to(ROOT).as_posix()
        if path in made:
            return f"{text}({up}{made[path]}{anchor})"
        if path.startswith("docs/"):
            return f"{text}({up}{path.removeprefix('docs/')}{anchor})"
        return f"{text[1:-1]} (`{path}`)" if file.exists() else match[0]

    link = r"(?P<text>!?\[[^\]]*\])\((?P<target>[^)#:\s]+)(?P<anchor>#[^)\s]*)?\)"
    return re.sub(link, lead, markdown)


def on_page_content(html: str, **_: Any) -> str:
    """Keep long outputs out of the search, where they hide the sentences that were searched."""
    block, prompt = '<div class="highlight">', '<pre><span></span><code><span class="gp">'
    return html.replace(block + prompt, f"{block[:-1]} data-search-exclude>{prompt}")


def _title(config: Any, path: str) -> str:
    """Return the first heading of a page that was built."""
    page = (Path(config.site_dir) / path).with_suffix(".html").read_text(encoding="utf-8")
    heading = re.search(r"<h1[^>]*>(.*?)(?:<a |</h1>)", page, flags=re.S)
    return re.sub(r"<[^>]+>", "", heading[1]).strip() if heading else path


def on_post_build(config: Any) -> None:
    """Write llms.txt: what this is, and all pages with their titles and addresses."""
    lines = ["# ctxembed", "", f"> {config.site_description}", ""]
    for section in config.nav:
        for title, value in section.items():
            lines += [f"## {title}", ""]
            paths = _paths([value])
            lines += [
                f"- [{_title(config, path)}]({path.removesuffix('.md')}.html)" for path in paths
            ]
            lines.append("")
    (Path(config.site_dir) / "llms.txt").write_text("\n".join(lines), encoding="utf-8")
