"""Graphviz's language: style of nodes and of the two kinds of edges."""

from __future__ import annotations

STYLES = {
    "parent": 'color="#999999" style=dashed arrowhead=empty',
    "link": 'color="#1f6fb4"',
}


def quoted(text: str) -> str:
    """Return a string of the language; line breaks stay."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def node(place: int, label: str, weight: float) -> str:
    """Return a box that is white for weight 0 and orange for weight 1."""
    return f'  n{place} [label={quoted(label)} fillcolor="0.08 {weight:.3f} 1.0"];'


def edge(source: int, target: int, kind: str, count: int) -> str:
    """Return an edge of `count` parents or links; a count of 1 has no label."""
    label = f' label="{count}"' if count != 1 else ""
    return f"  n{source} -> n{target} [{STYLES[kind]}{label}];"


def digraph(title: str, lines: list[str], notes: list[str]) -> str:
    """Return the whole file. The legend and the notes of the trace stand above the drawing."""
    heading = "\n".join([title, *notes])
    return "\n".join(
        [
            f"digraph {quoted(title)} {{",
            f"  graph [label={quoted(heading)} labelloc=t rankdir=LR fontname=Helvetica];",
            '  node [shape=box style="filled,rounded" fontname=Helvetica fontsize=11];',
            "  edge [fontname=Helvetica fontsize=9];",
            *lines,
            "}",
            "",
        ]
    )
