"""What the specification says of a request, in our own words: JSON Schema (2020-12).

Written from the text of the specification of 2026-04-24. Where the recordings are, its own schema
is the judge as well.
"""

from __future__ import annotations

from typing import Any

JSON = dict[str, Any]

ID: JSON = {"type": "string", "minLength": 1, "maxLength": 64}
NAME: JSON = {"type": "string", "pattern": "^[a-zA-Z0-9_-]{1,64}$"}
DATA_URL: JSON = {"type": "string", "pattern": "^data:[^;,]+;base64,[A-Za-z0-9+/]*=*$"}


def closed(required: JSON, optional: JSON | None = None) -> JSON:
    """An object with these fields, and no other."""
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": [*required],
        "additionalProperties": False,
    }


def kind(name: str) -> JSON:
    return {"const": name}


INPUT: JSON = {
    "type": "array",
    "minItems": 1,
    "items": {
        "oneOf": [
            closed({"type": kind("input_text"), "text": {"type": "string"}}),
            closed({"type": kind("input_image"), "image_url": DATA_URL}),
            closed(
                {"type": kind("input_file"), "filename": {"type": "string"}, "file_data": DATA_URL}
            ),
        ]
    },
}
SPOKEN: JSON = {
    "type": "array",
    "minItems": 1,
    "items": {
        "oneOf": [
            closed({"type": kind("output_text"), "text": {"type": "string"}}),
            closed({"type": kind("refusal"), "refusal": {"type": "string"}}),
        ]
    },
}
TEXT: JSON = {"type": "string", "minLength": 1}
ITEM: JSON = {
    "oneOf": [
        closed(
            {
                "type": kind("message"),
                "role": kind("user"),
                "content": {"oneOf": [TEXT, INPUT]},
            }
        ),
        closed(
            {
                "type": kind("message"),
                "role": {"enum": ["system", "developer"]},
                "content": TEXT,
            }
        ),
        closed(
            {
                "type": kind("message"),
                "role": kind("assistant"),
                "content": {"oneOf": [TEXT, SPOKEN]},
            },
            {"phase": {"enum": ["commentary", "final_answer"]}},
        ),
        closed(
            {
                "type": kind("function_call"),
                "call_id": ID,
                "name": NAME,
                "arguments": {"type": "string"},
            }
        ),
        closed(
            {
                "type": kind("function_call_output"),
                "call_id": ID,
                "output": {"oneOf": [{"type": "string"}, INPUT]},
            }
        ),
        closed(
            {
                "type": kind("reasoning"),
                "summary": {
                    "type": "array",
                    "items": closed({"type": kind("summary_text"), "text": {"type": "string"}}),
                },
            },
            {"encrypted_content": {"type": "string"}},
        ),
        closed({"type": kind("compaction"), "encrypted_content": {"type": "string"}}),
    ]
}
TOOL: JSON = closed(
    {
        "type": kind("function"),
        "name": NAME,
        "parameters": {"type": "object"},
        "strict": {"const": False},
    },
    {"description": TEXT},
)
BODY: JSON = closed(
    {
        "model": TEXT,
        "input": {"type": "array", "minItems": 1, "items": ITEM},
        "stream": {"const": True},
    },
    {
        "instructions": TEXT,
        "tools": {"type": "array", "minItems": 1, "items": TOOL},
        "tool_choice": {"enum": ["required"]},
        "previous_response_id": TEXT,
        "store": {"type": "boolean"},
        "temperature": {"type": "number"},
        "max_output_tokens": {"type": "integer", "minimum": 16},
        "reasoning": closed({}, {"effort": {"type": "string"}, "summary": {"type": "string"}}),
        "include": {"type": "array", "items": {"const": "reasoning.encrypted_content"}},
    },
)
