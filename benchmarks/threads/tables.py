"""Tables of figures, as Markdown and as HTML."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape


@dataclass
class Table:
    """`head` and `rows` of texts; `note` stands below."""

    title: str
    head: list[str]
    rows: list[list[str]]
    note: str = ""

    def markdown(self) -> str:
        lines = [self.head, ["---"] * len(self.head), *self.rows]
        body = "\n".join("| " + " | ".join(line) + " |" for line in lines)
        return f"### {self.title}\n\n{body}\n" + (f"\n{self.note}\n" if self.note else "")

    def html(self) -> str:
        def line(cells, kind):
            return "<tr>" + "".join(f"<{kind}>{escape(cell)}</{kind}>" for cell in cells) + "</tr>"

        body = "".join(line(row, "td") for row in self.rows)
        note = f"<p>{escape(self.note)}</p>" if self.note else ""
        return (
            f"<h2>{escape(self.title)}</h2><div class=scroll><table><thead>{line(self.head, 'th')}</thead>"
            f"<tbody>{body}</tbody></table></div>{note}"
        )


def shown(value: float | None, form: str = "{:.3g}") -> str:
    return "–" if value is None else form.format(value)
