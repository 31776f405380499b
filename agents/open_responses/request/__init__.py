"""Write the body of a request from a transcript."""

from .body import options_body, tools_body, whole_body
from .messages import ConversionOptions, convert_messages

__all__ = [
    "ConversionOptions",
    "convert_messages",
    "options_body",
    "tools_body",
    "whole_body",
]
