"""Forty tools, as an editor offers them: names that VS Code has, and every trait of its schemas.

Nested objects and lists of them, choices, patterns and bounds, unions, a key that stands for any,
names that models don't take, no schema at all.
"""

from __future__ import annotations

from typing import Any

JSON = dict[str, Any]


def _text(description: str, **more: Any) -> JSON:
    return {"type": "string", "description": description, **more}


def _number(description: str, **more: Any) -> JSON:
    return {"type": "number", "description": description, **more}


def _flag(description: str) -> JSON:
    return {"type": "boolean", "description": description}


def _list(of: JSON, **more: Any) -> JSON:
    return {"type": "array", "items": of, **more}


def _object(*required: str, **properties: JSON) -> JSON:
    return {"type": "object", "properties": properties, "required": [*required]}


_PATH = _text("The absolute path of the file.")
_REPO = _text("The repository.", pattern="^[^/]+/[^/]+$")
_QUERY = _text("What to look for.")
_SYMBOL: JSON = {"symbol": _text("The symbol's name."), "filePath": _PATH}
_EDIT: JSON = {
    "filePath": _PATH,
    "oldString": _text("The text that is there, with three lines around it."),
    "newString": _text("The text to put in its place."),
}
_OPTION = _object("label", label=_text("The words."), recommended=_flag("Whether it is the best."))
_QUESTION = _object(
    "header",
    "question",
    header=_text("A short name.", maxLength=50),
    question=_text("The question."),
    multiSelect=_flag("Whether several can be chosen."),
    options=_list(_OPTION, minItems=0, maxItems=6),
)
_TODO = _object(
    "id",
    "title",
    "status",
    id=_number("A number, beginning at one."),
    title=_text("A few words."),
    status={"type": "string", "enum": ["not-started", "in-progress", "completed"]},
)
_LINES: JSON = {
    "description": "The new lines, as one text or one by one.",
    "anyOf": [{"type": "string"}, _list({"type": "string"})],
}
_TASK = _object(
    "label",
    "type",
    "command",
    label=_text("The task's name."),
    type=_text("What runs it.", enum=["shell"]),
    command=_text("The command."),
    args=_list({"type": "string"}),
    isBackground=_flag("Whether it goes on without being waited for."),
)

_SCHEMAS: dict[str, JSON | None] = {
    "create_directory": _object("dirPath", dirPath=_text("The absolute path.")),
    "create_file": _object("filePath", "content", filePath=_PATH, content=_text("All of it.")),
    "create_new_jupyter_notebook": _object("query", query=_QUERY),
    "create_new_workspace": _object("query", query=_QUERY),
    "edit_notebook_file": _object(
        "filePath",
        "editType",
        filePath=_PATH,
        cellId=_text("Which cell; TOP and BOTTOM are the ends."),
        newCode=_LINES,
        language=_text("The cell's language."),
        editType=_text("What to do.", enum=["insert", "delete", "edit"]),
    ),
    "file_search": _object("query", query=_QUERY, maxResults=_number("How many at most.")),
    "grep_search": _object(
        "query",
        "isRegexp",
        query=_QUERY,
        isRegexp=_flag("Whether it is a regular expression."),
        includePattern=_text("Where to look; a glob."),
        maxResults=_number("How many at most.", minimum=1, maximum=10_000),
    ),
    "get_errors": _object(filePaths=_list({"type": "string"})),
    "copilot_getNotebookSummary": _object("filePath", filePath=_PATH),
    "get_vscode_api": _object("query", query=_QUERY),
    "github_repo": _object("repo", "query", repo=_REPO, query=_QUERY),
    "github_text_search": _object("query", query=_QUERY, repo=_REPO, org=_text("The owner.")),
    "insert_edit_into_file": _object(
        "explanation", "code", explanation=_text("Why."), filePath=_PATH, code=_text("The change.")
    ),
    "install_extension": _object("id", id=_text("publisher.name"), name=_text("Its name.")),
    "list_dir": _object("path", path=_text("The absolute path.")),
    "memory": _object(
        "command",
        command=_text("What to do.", enum=["view", "create", "insert", "delete", "rename"]),
        path=_text("Which note."),
        view_range=_list(_number("A line."), minItems=2, maxItems=2),
    ),
    "read_file": _object(
        "filePath",
        "startLine",
        "endLine",
        filePath=_PATH,
        startLine=_number("The first line, counted from one."),
        endLine=_number("The last line."),
    ),
    "read_notebook_cell_output": _object("filePath", "cellId", filePath=_PATH, cellId=_text("It.")),
    "replace_string_in_file": _object("filePath", "oldString", "newString", **_EDIT),
    "multi_replace_string_in_file": _object(
        "explanation",
        "replacements",
        explanation=_text("Why."),
        replacements=_list(_object("filePath", "oldString", "newString", **_EDIT), minItems=1),
    ),
    "run_notebook_cell": _object("filePath", "cellId", filePath=_PATH, cellId=_text("It.")),
    "run_vscode_command": _object(
        "commandId",
        commandId=_text("Which command."),
        args={"type": "array", "description": "Its arguments, whatever they are.", "items": {}},
    ),
    "session_store_sql": _object("query", query=_QUERY, params=_list({"type": ["string", "null"]})),
    "view_image": _object("filePath", filePath=_PATH),
    "vscode_askQuestions": _object("questions", questions=_list(_QUESTION, minItems=1)),
    "vscode_listCodeUsages": _object("symbol", **_SYMBOL),
    "vscode_renameSymbol": _object("symbol", "newName", **_SYMBOL, newName=_text("The new name.")),
    "vscode_searchExtensions_internal": _object(
        category=_text("Which kind.", enum=["AI", "Debuggers", "Linters", "Themes", "Other"]),
        keywords=_list({"type": "string"}),
    ),
    "create_and_run_task": _object("task", workspaceFolder=_text("Where."), task=_TASK),
    "get_terminal_output": _object("id", id=_text("Which terminal.", format="uuid")),
    "run_in_terminal": _object(
        "command",
        "explanation",
        "mode",
        command=_text("The command."),
        explanation=_text("What it does, in a sentence."),
        mode=_text("Whether to wait for it.", enum=["sync", "async"]),
        timeout=_number("Milliseconds.", default=0),
    ),
    "manage_todo_list": _object("todoList", todoList=_list(_TODO)),
    "runSubagent": _object("prompt", prompt=_text("The task."), agentName=_text("Who.")),
    "send_request": _object(
        "url",
        url=_text("Where to.", format="uri"),
        headers={"type": "object", "additionalProperties": {"type": "string"}},
    ),
    "terminal_selection": None,
    "terminal_last_command": None,
    "testFailure": {"type": "object", "properties": {}},
    "mcp_github_create_pull_request_with_reviewers_and_labels_and_milestone": _object(
        "title", title=_text("A line."), labels=_list({"type": "string"}, uniqueItems=True)
    ),
    "company.tool/look up": _object("key", key=_text("Which one.")),
    "größe": _object(wert={"type": "integer", "exclusiveMinimum": 0}),
}


def forty() -> list[JSON]:
    """Return the tools as the editor sends them with a request."""
    return [
        {"name": name, "description": f"The editor's {name}: says what it is for."}
        | ({} if schema is None else {"inputSchema": schema})
        for name, schema in _SCHEMAS.items()
    ]
