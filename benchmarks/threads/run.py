"""The thread back ends beside their peers, and the QMC solver over them: `python benchmarks/threads/run.py BUILD OUT`.

BUILD is a CMake folder made with -DPLAQ_BENCHMARKS=ON; a peer that was not found there is left out, and said so. Where
none was found, the solver alone is measured, over the back ends of the installed plaq. All cases of a round run one
after the other, and ratios are of medians over the rounds. Rounds are kept in OUT/rounds.json, and a further call adds
to them, so that a machine need not be quiet for long at a time. OUT gets index.html (tables and figures, one file that
loads nothing), index.md (the tables), the figures as PNG, and in OUT/traces one traced run of the solver per case, for
`plaq trace report` and the other commands of `plaq trace`.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from datetime import date
from html import escape
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "dca"))

import figures
import peers
from solver import Job, Study
from traced import Traces

from plaq.data.figures import page_colours, png, svg

STYLE = """body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem;
background:var(--paper);color:var(--ink)}.scroll{overflow-x:auto}
table{border-collapse:collapse;font-variant-numeric:tabular-nums}
th,td{padding:.25rem .7rem;text-align:right;border-bottom:1px solid var(--grid)}
th:first-child,td:first-child{text-align:left}svg{width:100%;height:auto}
:root{--paper:#fff;--ink:#1f2328;--grid:#d8dee4;color-scheme:light dark}
@media(prefers-color-scheme:dark){:root{--paper:#0f1318;--ink:#e6edf3;--grid:#2a323b}}"""


def machine() -> str:
    """Processor, cores and date."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.partition(": ")[2] for line in lines if line.startswith("model name")), platform.machine())
    cores = sum(line.startswith("processor") for line in lines)
    return f"{cores} cores of {model}, {platform.system()} {platform.release()}, {date.today()}"


def measure(build: Path, out: Path, rounds: int) -> list[dict]:
    """All rounds so far, `rounds` of them new; the traces, where they are not there yet."""
    file = out / "rounds.json"
    found = json.loads(file.read_text()) if file.exists() else []
    if not rounds:
        return found
    job = Job()
    for _ in range(rounds):
        found.append({"machine": machine(), "peers": peers.measure(build), "solver": job.measure()})
        file.write_text(json.dumps(found))
    job.record(out / "traces")
    return found


def write(found: list[dict], out: Path) -> Study:
    """Tables and figures of all rounds."""
    small, study, traces = (
        peers.Peers([part["peers"] for part in found]),
        Study([part["solver"] for part in found]),
        Traces(out / "traces"),
    )
    drawings = {"threads_solver": figures.solver(study), "threads_over_time": figures.timelines(traces)}
    tables = [study.table(), traces.top()]
    if small.engines:
        drawings = {"threads_micro": figures.micro(small), **drawings}
        tables = [*peers.tables(small), *tables]
    where = f"{len(found)} rounds; " + "; ".join(sorted({part["machine"] for part in found}))
    missing = sorted(set(peers.ENGINES) - set(small.engines))
    if missing:
        where += f"; left out, because they were not built: {', '.join(missing)}"
    (out / "index.md").write_text(f"{where}\n\n" + "\n".join(table.markdown() for table in tables))
    parts = ["<!doctype html><html lang=en><meta charset=utf-8><title>Thread back ends</title>",
             f"<style>{page_colours()}{STYLE}</style><h1>Thread back ends</h1><p>{escape(where)}</p>"]
    for name, draw in drawings.items():
        png(draw, out / f"{name}.png")
        parts.append(f"<figure>{svg(draw)}</figure>")
    (out / "index.html").write_text("\n".join([*parts, *(table.html() for table in tables)]))
    return study


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--rounds", type=int, default=5, help="to be measured now; 0 draws what is there")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    found = measure(given.build, given.out, given.rounds)
    if not found:
        parser.error(f"{given.out} holds no rounds yet")
    study = write(found, given.out)
    print((given.out / "index.md").read_text())
    if not study.same_bits:
        sys.exit("the back ends do not agree")


if __name__ == "__main__":
    main()
