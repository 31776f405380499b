"""The input that an agent asks the user for: a form to fill in, or a page to open."""

from __future__ import annotations

import re
from typing import Any

from bridge.wire import ElicitAction, FieldValue, Wire

MOST_URL = 8_192
"""Characters of an address that the user is asked to open."""
_URL = re.compile(r"https?://[^\s\x00-\x1f\x7f]+", re.IGNORECASE)


class CreateElicitationRequest(Wire):
    """Ask for input. Without a `session_id` it belongs to a request outside of any session."""

    message: str
    mode: str = "form"
    session_id: str | None = None
    tool_call_id: str | None = None
    requested_schema: dict[str, Any] | None = None
    elicitation_id: str | None = None
    url: str | None = None

    @property
    def fault(self) -> str | None:
        """Why the user can't be asked this; None if nothing is wrong."""
        match self.mode:
            case "form":
                return self._form_fault()
            case "url":
                return self._url_fault()
            case _:
                return f"mode {self.mode[:40]!r} is unknown"

    def _url_fault(self) -> str | None:
        if self.elicitation_id is None:
            return "elicitationId is missing"
        if self.url is None:
            return "url is missing"
        if len(self.url) > MOST_URL:
            return f"url has more than {MOST_URL} characters"
        if not _URL.fullmatch(self.url):
            return "url must begin with http:// or https://, and have no spaces"
        return None

    def _form_fault(self) -> str | None:
        schema = self.requested_schema
        if schema is None:
            return "requestedSchema is missing"
        if schema.get("type", "object") != "object":
            return "requestedSchema.type must be object"
        if not isinstance(schema.get("properties", {}), dict):
            return "requestedSchema.properties must be an object"
        return None


class CreateElicitationResponse(Wire):
    """The user's answer; `content` are the values of an accepted form."""

    action: ElicitAction
    content: dict[str, FieldValue] | None = None


class CompleteElicitationNotification(Wire):
    """The user is done with the page."""

    elicitation_id: str


CREATE_ELICITATION = "elicitation/create"
"""The agent's request, with `CreateElicitationRequest`."""

COMPLETE_ELICITATION = "elicitation/complete"
"""The agent's notification, with `CompleteElicitationNotification`."""
