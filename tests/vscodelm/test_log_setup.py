"""No record of a log has a secret in it, and no traceback below one."""

from __future__ import annotations

import io
import logging
import sys

import pytest

from bridge.known_secrets import KnownSecrets
from bridge.redact import HIDDEN
from vscodelm.log_setup import RedactingFormatter, set_up_logging

SECRETS = KnownSecrets()
SECRETS.learn({"env": {"KEY": "hunter22"}}, {})


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """Set logging up as the program does, and put everything back."""
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    monkeypatch.setattr(logging, "raiseExceptions", True)
    root = logging.getLogger()
    monkeypatch.setattr(root, "handlers", [])
    monkeypatch.setattr(root, "level", root.level)
    set_up_logging("info", SECRETS.hide_all)
    return stream


def test_a_record_and_its_traceback_are_redacted(shown: io.StringIO) -> None:
    try:
        raise ValueError("https://ada:pw@host said hunter22")
    except ValueError:
        logging.getLogger("vscodelm").exception("failed with --token abc")
    text = shown.getvalue()
    assert "Traceback" in text
    assert f"failed with --token {HIDDEN}" in text
    assert f"https://{HIDDEN}@host said {HIDDEN}" in text
    assert "hunter22" not in text


def test_an_error_that_nobody_catches_is_redacted(shown: io.StringIO) -> None:
    error = ValueError("hunter22")
    sys.excepthook(ValueError, error, None)
    assert f"ValueError: {HIDDEN}" in shown.getvalue()


def test_a_record_that_cannot_be_formatted_shows_no_arguments(shown: io.StringIO) -> None:
    logging.getLogger("vscodelm").warning("%d", "hunter22")
    assert "hunter22" not in shown.getvalue()


def test_records_are_lines_of_keys_and_values() -> None:
    record = logging.LogRecord("x", logging.INFO, "f", 1, "a=%s", (1,), None)
    line = RedactingFormatter(SECRETS.hide_all).format(record)
    assert line.startswith("time=")
    assert line.endswith("level=INFO a=1")
