"""What the scripted agent behind the server does, for every client."""

from __future__ import annotations

from typing import Any

WEATHER = {"place": "Rome"}
SCRIPT: dict[str, Any] = {
    "words": {
        "What's the weather like in San Francisco?": [
            {"call": "get_weather", "with": {"location": "San Francisco"}, "as": "w"},
            {"gather": True},
            {"results": True},
        ],
        "What is the weather in Rome?": [
            {"say": "Let me look. "},
            {"call": "get_weather", "with": WEATHER, "as": "w"},
            {"gather": True},
            {"results": True},
        ],
        "What do you remember?": [{"memory": True}],
        "Look around.": [
            {
                "update": {
                    "sessionUpdate": "tool_call",
                    "toolCallId": "1",
                    "title": "List the files",
                    "kind": "execute",
                    "status": "completed",
                    "rawInput": {"command": "ls"},
                }
            },
            {"say": "There is a file."},
        ],
        "Wait for ever.": [{"say": "I wait. "}, {"hang": True}],
    },
    "otherwise": [{"say": "Hello "}, {"say": "from the agent."}],
}
