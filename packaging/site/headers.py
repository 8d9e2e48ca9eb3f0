"""Reference of C++ headers: doxygen reads their comments, this writes them as Markdown."""

import re
import subprocess
import tempfile
import textwrap
import xml.etree.ElementTree as xml
from pathlib import Path

SETTINGS = """
INPUT = {folders}
RECURSIVE = YES
FILE_PATTERNS = *.hpp
STRIP_FROM_PATH = {source}
OUTPUT_DIRECTORY = {out}
EXTRACT_ALL = YES
GENERATE_HTML = NO
GENERATE_LATEX = NO
GENERATE_XML = YES
XML_PROGRAMLISTING = NO
MACRO_EXPANSION = YES
QUIET = YES
WARNINGS = NO
"""
LIBRARIES = ("base", "trace", "task", "batch", "comm", "collection", "fft")
FENCE = re.compile(r"^```headers\n(.*?)^```$", re.M | re.S)
PLAIN = {"computeroutput": "`", "emphasis": "*", "bold": "**"}
LONG = 88  # characters of a signature on one line


class Headers:
    """What doxygen found in the headers of the libraries."""

    def __init__(self, source):
        """Run doxygen on the headers below `source`, the folder of includes."""
        folders = " ".join(f"{source}/plaq/{library}" for library in LIBRARIES)
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["doxygen", "-"], input=SETTINGS.format(folders=folders, source=source, out=folder),
                           text=True, check=True)
            compounds = [compound for path in Path(folder, "xml").glob("*.xml")
                         for compound in xml.parse(path).iter("compounddef")]
        self.by_id = {compound.get("id"): compound for compound in compounds}
        things = [compound for compound in compounds if compound.get("kind") in ("class", "struct", "concept")]
        for space in (compound for compound in compounds if compound.get("kind") == "namespace"):
            if "detail" not in space.findtext("compoundname"):
                things += space.iter("memberdef")
        self.of_file = {}
        for thing in sorted(things, key=lambda thing: int(thing.find("location").get("line"))):
            self.of_file.setdefault(thing.find("location").get("file"), []).append(thing)

    def page(self, text):
        """Return a page with each block of headers replaced by what they declare."""
        return FENCE.sub(lambda block: "\n".join(self.header(name) for name in block[1].split()), text)

    def header(self, name):
        """Return the Markdown of one header."""
        shown = [text for text in map(self.thing, self.of_file[f"plaq/{name}"]) if text]
        return f"## {name}\n\n" + "\n\n".join([f'```cpp\n#include "plaq/{name}"\n```', *shown]) + "\n"

    def thing(self, thing):
        """Return the Markdown of a class, concept, function, type or constant of a namespace."""
        name = (thing.findtext("compoundname") or thing.findtext("name")).removeprefix("plaq::")
        if "detail" in name or "@" in name or thing.get("prot") != "public" and thing.get("kind") != "concept":
            return ""
        short = re.sub(r"^(\w+::)+", "", name)
        if thing.tag == "memberdef":
            return f"### {short}\n\n```cpp\n{signature(thing)}\n```\n\n{described(thing)}"
        if thing.get("kind") == "concept":
            code = " ".join("".join(thing.find("initializer").itertext()).split()).replace(" = ", " =\n    ", 1)
            return f"### {short}\n\n```cpp\n{code};\n```\n\n{described(thing)}"
        members = [*self.inherited(thing), *public_members(thing)]
        kind = parameters_of(thing) + thing.get("kind")
        lines = [f"### {short}\n\n```cpp\n{kind} plaq::{name};\n```", described(thing)]
        for code, text in grouped(filter(worth_showing, members)):
            lines += ["```cpp\n" + "\n".join(code) + "\n```", text]
        return "\n\n".join(line for line in lines if line)

    def inherited(self, thing):
        """Return the public members that a class has from a base of the namespace detail."""
        bases = [self.by_id.get(base.get("refid")) for base in thing.findall("basecompoundref")]
        return [member for base in bases if base is not None and "detail" in base.findtext("compoundname")
                for member in public_members(base) if member.findtext("name") not in base.findtext("compoundname")]


def public_members(thing):
    """Return the public members of a class, in the order of its source."""
    found = [member for section in thing.findall("sectiondef") if section.get("kind").startswith("public")
             for member in section.findall("memberdef")]
    return sorted(found, key=lambda member: int(member.find("location").get("line")))


def grouped(members):
    """Return (declarations, text): a member belongs to the one before that has a text, as comments are written."""
    groups = [([], "")]
    for member in members:
        text = described(member)
        if member.get("kind") == "variable" and "\n" not in text:
            groups[-1][0].extend([*(f"// {line}" for line in textwrap.wrap(text, LONG)), signature(member)])
        elif text:
            groups.append(([signature(member)], text))
        else:
            groups[-1][0].append(signature(member))
    return [group for group in groups if group[0]]


def worth_showing(member):
    """Return whether a member is one to know: not what every class has."""
    name, end = member.findtext("name"), member.findtext("argsstring") or ""
    usual = end.endswith(("=default", "=delete")) or name.startswith(("~", "operator=")) or "detail::" in end
    return bool(described(member)) or not usual


def text_of(node):
    """Return the text of a description as Markdown, in a line a paragraph."""
    if node is None:
        return ""
    if node.tag == "simplesect":
        kind = {"pre": "Requires: ", "post": "Ensures: ", "return": "Returns ", "note": ""}.get(node.get("kind"), "")
        return "\n\n" + kind + " ".join(text_of(child).strip() for child in node) + "\n\n"
    if node.tag == "itemizedlist":
        return "\n\n" + "\n".join("- " + text_of(item).strip() for item in node) + "\n\n"
    if node.tag in ("programlisting", "verbatim"):
        lines = ["".join(line.itertext()) for line in node] if len(node) else [node.text or ""]
        return "\n\n```cpp\n" + "\n".join(lines).strip("\n") + "\n```\n\n"
    if node.tag == "sp":
        return " "
    inside = (node.text or "") + "".join(text_of(child) + (child.tail or "") for child in node)
    mark = PLAIN.get(node.tag, "")
    return f"{mark}{inside}{mark}" + ("\n\n" if node.tag == "para" else "")


def described(thing):
    """Return the description of a class or member as Markdown."""
    whole = "\n\n".join(text_of(thing.find(part)) for part in ("briefdescription", "detaileddescription"))
    return re.sub(r"\n{3,}", "\n\n", re.sub(r"(?m)^[ \t]+|[ \t]+$", "", whole)).strip()


def plain(node):
    """Return the text of a node in one line, empty for none."""
    return "" if node is None else " ".join("".join(node.itertext()).split())


def parameters_of(thing):
    """Return `template <...>` of a class or function, empty if it is none."""
    found, requires = arguments_of(thing, "templateparamlist/param"), plain(thing.find("requiresclause"))
    return (f"template <{', '.join(found)}>\n" if found else "") + (f"  requires {requires}\n" if requires else "")


def arguments_of(thing, path):
    """Return parameters with their default values, as in the source."""
    return [f"{spelled(parameter)} = {plain(parameter.find('defval'))}" if parameter.find("defval") is not None
            else spelled(parameter) for parameter in thing.findall(path)]


def kind_of(thing):
    """Return the type of a parameter or member, with & and * beside it."""
    return re.sub(r"\s*([&*]+)$", r"\1", plain(thing.find("type")))


def spelled(parameter):
    """Return type and name of a parameter."""
    kind, name = kind_of(parameter), parameter.findtext("declname") or ""
    return f"{kind} {name}" if name and not kind.endswith(f" {name}") else kind


def signature(member):
    """Return the declaration of a member, with angle brackets as in the source."""
    return re.sub(r"< (?=\S)|(?<=\S) >", lambda bracket: bracket[0].strip(), declared(member))


def declared(member):
    """Return the declaration of a member."""
    kind, name, template = kind_of(member), member.findtext("name"), parameters_of(member)
    if member.get("kind") == "enum":
        values = ", ".join(value.findtext("name") for value in member.findall("enumvalue"))
        return f"enum class {name} {{ {values} }};"
    if member.get("kind") == "typedef":
        return f"{template}using {name} = {kind};"
    start = ("static " if member.get("static") == "yes" and "static" not in kind else "") + (f"{kind} " if kind else "")
    if member.get("kind") != "function":
        value = plain(member.find("initializer"))
        return f"{template}{start}{name}" + (f" {value}" if len(value) < LONG / 2 else "").rstrip() + ";"
    rest = re.sub(r"(?s)^.*\)(?!.*\))", "", member.findtext("argsstring") or "").strip()
    arguments = arguments_of(member, "param")
    call = f"{start}{name}({', '.join(arguments)})"
    if len(call) > LONG:
        call = f"{start}{name}(\n    " + ",\n    ".join(arguments) + ")"
    return template + f"{call} {rest}".rstrip() + ";"
