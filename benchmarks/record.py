"""Write what a benchmark prints into the page of its area, with its command, the machine and the date.

    python benchmarks/record.py PAGE TITLE -- COMMAND ...

runs COMMAND and puts its output under the heading TITLE of benchmarks/PAGE.md: tables in Markdown as they are, all else
as a block. An earlier record under the same title is replaced; text below a record is kept, since it is by hand.
"""

import argparse
import datetime
import platform
import re
import shlex
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
RECORD = r"<!-- record -->.*?<!-- end of record -->\n"


def machine() -> str:
    """Return processor, cores, system and compiler of this machine, and the commit of plaq."""
    model = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    system = platform.freedesktop_os_release().get("PRETTY_NAME", platform.system())
    compiler = first_line("c++", "--version")
    commit = first_line("git", "-C", HERE, "describe", "--always", "--dirty")
    cores = len([line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("processor")])
    return f"{cores} cores of {model[1] if model else platform.machine()}, {system}, {compiler}, plaq {commit}"


def first_line(*command) -> str:
    """Return the first line that a program prints."""
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.partition("\n")[0]


def record(command: list[str], output: str) -> str:
    """Return the record of one run, between the marks by which the next run finds it."""
    if not any(line.startswith("|") for line in output.splitlines()):
        output = f"```\n{output.rstrip()}\n```"
    return (f"<!-- record -->\n`{shlex.join(command)}`\n\n{output.strip()}\n\n"
            f"{machine()}, {datetime.date.today()}.\n<!-- end of record -->\n")


def put(page: str, title: str, new: str) -> str:
    """Return a page with the record of one title replaced, or with a section for it at the end."""
    heading = f"## {title}\n"
    before, found, after = page.partition(heading)
    if not found:
        return f"{page.rstrip()}\n\n{heading}\n{new}"
    section, *others = re.split(r"(?m)^(?=## )", after, maxsplit=1)
    section, replaced = re.subn(RECORD, lambda _: new, section, count=1, flags=re.DOTALL)
    return before + heading + (section if replaced else f"\n{new}{section}") + "".join(others)


def main():
    """Run a command and write its record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page")
    parser.add_argument("title")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    command = arguments.command[1:] if arguments.command[:1] == ["--"] else arguments.command
    page = HERE / f"{arguments.page}.md"
    if not command or not page.exists():
        parser.error("a command is needed" if not command else
                     f"{page} is not there; pages: {', '.join(sorted(path.stem for path in HERE.glob('*.md')))}")
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"{shlex.join(command)}: exit code {done.returncode}; nothing is recorded")
    page.write_text(put(page.read_text(), arguments.title, record(command, done.stdout)))
    print(done.stdout, end="")


if __name__ == "__main__":
    main()
