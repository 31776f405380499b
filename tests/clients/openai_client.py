"""A program that uses the official Python client in every way that counts: `python FILE URL`."""

from __future__ import annotations

import os
import sys
from typing import Any

import openai
import pytest

WEATHER: Any = {
    "type": "function",
    "name": "get_weather",
    "description": "The weather.",
    "parameters": {"type": "object", "properties": {"place": {"type": "string"}}},
    "strict": False,
}
QUESTION = "What is the weather in Rome?"


def main(url: str) -> None:
    client = openai.OpenAI(base_url=url, api_key=os.environ["VSCODELM_TOKEN"], max_retries=0)
    assert [model.id for model in client.models.list()] == ["eliza", "agent"]

    first = client.responses.create(model="agent", input="Hello!", instructions="Be brief.")
    assert (first.output_text, first.status) == ("Hello from the agent.", "completed")

    events = list(client.responses.create(model="agent", input="Hello!", stream=True))
    assert events[0].type == "response.created"
    deltas = [event.delta for event in events if event.type == "response.output_text.delta"]
    assert "".join(deltas) == "Hello from the agent."
    assert events[-1].type == "response.completed"

    with client.responses.stream(model="agent", input="Hello!") as stream:
        assert stream.get_final_response().output_text == "Hello from the agent."

    second = client.responses.create(
        model="agent", input="What do you remember?", previous_response_id=first.id
    )
    assert "Hello!" in second.output_text

    asked = client.responses.create(model="agent", input=QUESTION, tools=[WEATHER])
    (call,) = [item for item in asked.output if item.type == "function_call"]
    assert call.arguments == '{"place":"Rome"}'
    result: Any = {"type": "function_call_output", "call_id": call.call_id, "output": "It is hot."}
    answered = client.responses.create(
        model="agent", input=[result], previous_response_id=asked.id, tools=[WEATHER]
    )
    assert "It is hot." in answered.output_text

    hanging = client.responses.create(model="agent", input="Wait for ever.", stream=True)
    named = ""
    for event in hanging:
        if event.type == "response.created":
            named = event.response.id
        if event.type == "response.output_text.delta":
            assert client.responses.cancel(named).status == "incomplete"
    kept = client.responses.retrieve(named)
    assert (kept.status, kept.output_text) == ("incomplete", "I wait. ")
    listed = client.responses.input_items.list(named)
    assert listed.data[0].type == "message"
    client.responses.delete(named)
    with pytest.raises(openai.NotFoundError, match="not found"):
        client.responses.retrieve(named)

    completions(client)
    with pytest.raises(openai.AuthenticationError):
        openai.OpenAI(base_url=url, api_key="wrong", max_retries=0).models.list()
    sys.stdout.write("all is well\n")


def completions(client: openai.OpenAI) -> None:
    said: Any = [{"role": "user", "content": QUESTION}]
    tools: Any = [{"type": "function", "function": {"name": "get_weather"}}]
    whole = client.chat.completions.create(model="agent", messages=said, tools=tools)
    message = whole.choices[0].message
    assert (message.content, whole.choices[0].finish_reason) == ("Let me look. ", "tool_calls")
    assert message.tool_calls
    said += [
        message,
        {"role": "tool", "tool_call_id": message.tool_calls[0].id, "content": "It is hot."},
    ]
    stream = client.chat.completions.create(model="agent", messages=said, tools=tools, stream=True)
    text = "".join(chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices)
    assert "It is hot." in text


if __name__ == "__main__":
    main(sys.argv[1])
