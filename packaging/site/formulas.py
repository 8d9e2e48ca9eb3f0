"""Markdown extension for formulas: `$...$`, `$$...$$` and blocks ```math become MathML, which browsers show."""

import html
import re
import xml.etree.ElementTree as etree

from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor
from markdown.preprocessors import Preprocessor
from math_core import LatexToMathML

INLINE = r"(?<![\\$\w])\$(?! )([^$\n]+?)(?<! )\$(?!\w)"
FENCE = re.compile(r"^(?:```math\n(.*?)^```|\$\$(.*?)\$\$)$", re.M | re.S)
BEFORE_FENCES = 27  # those of code have 25; white space is made plain by 30, and the marks of the stash with it
BEFORE_ESCAPES = 185  # and behind code in backticks, which has 190
CONVERTER = LatexToMathML(macros={"avg": r"\left\langle #1\right\rangle", "tr": r"\operatorname{tr}"})


def mathml(formula, display):
    """Return the MathML of a formula in LaTeX; raises math_core's LatexError."""
    return CONVERTER.convert_with_local_state(formula.strip(), displaystyle=display)


class Inline(InlineProcessor):
    """Formulas within a line."""

    def handleMatch(self, match, data):
        """Return the element of a formula, kept from other patterns."""
        element = etree.Element("span", {"class": "formula"})
        element.text = self.md.htmlStash.store(mathml(html.unescape(match[1]), False))
        return element, match.start(0), match.end(0)


class Blocks(Preprocessor):
    """Blocks of formulas, with an empty line between two."""

    def run(self, lines):
        """Return the lines with each block replaced by its MathML."""
        return FENCE.sub(self.block, "\n".join(lines)).split("\n")

    def block(self, match):
        """Return the paragraph that stands for a block."""
        found = [formula for formula in re.split(r"\n\s*\n", match[1] or match[2]) if formula.strip()]
        return "\n" + self.md.htmlStash.store("".join(
            f'<div class="formula">{mathml(formula, True)}</div>' for formula in found)) + "\n"


class Formulas(Extension):
    """The extension."""

    def extendMarkdown(self, md):
        """Add both."""
        md.preprocessors.register(Blocks(md), "formulas", BEFORE_FENCES)
        md.inlinePatterns.register(Inline(INLINE, md), "formula", BEFORE_ESCAPES)


def makeExtension(**settings):
    """Return the extension, by the name that Markdown looks for."""
    return Formulas(**settings)
