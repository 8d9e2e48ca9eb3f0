"""The table of parameters as a JSON Schema, from which editors complete, explain and check inputs."""

from __future__ import annotations

import json
import math
from typing import Any

from plaq.inputs.kinds import array
from plaq.inputs.parameters import RUN, plain
from plaq.inputs.schema import NAME, REQUIRED, SWEEP, Parameter, Schema

DRAFT = "http://json-schema.org/draft-07/schema#"  # the newest that taplo and Even Better TOML read
NAMED = f"^{NAME.pattern}$"


def json_schema(schema: Schema, program: str) -> dict[str, Any]:
    """Return the JSON Schema of an input of ``program``.

    It allows every input that the table allows; what several keys say together is left to ``check``. Keys that have to
    be given are asked for where there is no [sweep], which may give them.
    """
    properties, needed = {}, {}
    for section, doc in schema.sections.items():
        rows = schema.of(section)
        free = [parameter for parameter in rows if parameter.name == "*"]
        content = {"type": "object", "description": doc}
        if free:
            content |= {"propertyNames": {"pattern": NAMED}, "additionalProperties": value_schema(free[0])}
        else:
            content |= {"properties": {parameter.name: value_schema(parameter) for parameter in rows},
                        "additionalProperties": False}
        required = [parameter.name for parameter in rows if parameter.default is REQUIRED]
        if section.endswith(".*"):
            content |= {"required": required} if required else {}
            content = {"type": "object", "description": doc, "propertyNames": {"pattern": NAMED},
                       "additionalProperties": content}
        elif required:
            needed[section] = {"required": required}
        properties[section.removesuffix(".*")] = content
    properties[SWEEP] = sweep_schema(schema)
    return {"$schema": DRAFT, "title": f"Input of {program}", "type": "object", "properties": properties,
            "additionalProperties": False, "if": {"required": [SWEEP]}, "then": {},
            "else": {"required": list(needed), "properties": needed}}


def schema_text(schema: Schema, program: str) -> str:
    """Return `json_schema` as the text of a file."""
    return json.dumps(json_schema(schema, program), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def value_schema(parameter: Parameter) -> dict[str, Any]:
    """Return the schema of one value, with meaning, unit and allowed values in its description."""
    unit = f" [{parameter.unit}]" if parameter.unit else ""
    content = {"description": f"{parameter.doc}{unit}. Allowed: {parameter.kind.allowed}.", **parameter.kind.json}
    if parameter.default not in (REQUIRED, None, math.inf):
        content["default"] = plain(parameter.kind.show(parameter.kind.read(parameter.default)))
    return content


def sweep_schema(schema: Schema) -> dict[str, Any]:
    """Return the schema of [sweep]: a list of values for any key outside of [run]."""
    exact, patterns = {}, {}
    for parameter in schema.parameters.values():
        if parameter.section == RUN:
            continue
        values = array(value_schema(parameter), 1, None)
        if "*" in parameter.key:
            name = NAMED.strip("^$")
            patterns["^" + parameter.key.replace(".", r"\.").replace("*", name) + "$"] = values
        else:
            exact[parameter.key] = values
    return {"type": "object", "description": "Every combination of these values is a run of its own.",
            "properties": exact, "patternProperties": patterns, "additionalProperties": False}
