"""A transcript in one item that only this server can read back. Pure.

The content is compressed and signed, so a client can't forge the earlier messages that an agent
gets. It isn't encrypted: the client has sent all of it before.
"""

from __future__ import annotations

import hmac
import zlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as NotBase64
from collections.abc import Sequence

import attrs
import msgspec
from msgspec import Raw

from bridge.history.transcript import decode_message
from bridge.wire import ChatMessage
from bridge.work import Work

from .api_error import ApiError, bad_request

MOST_RESTORED_BYTES = 64 * 1024 * 1024
"""Bytes of all transcripts in the compaction items of one request."""
_SIGNATURE_BYTES = 32
_STEP_BYTES = 1024 * 1024
"""Bytes of an item that are unpacked at once; others have their turn after them."""
_decode = msgspec.json.Decoder(list[Raw]).decode


def compact(messages: Sequence[ChatMessage], key: bytes) -> str:
    """Return the content of an item; raises `ApiError` if it could never be restored."""
    plain = msgspec.json.encode(messages)
    if len(plain) > MOST_RESTORED_BYTES:
        raise _too_large()
    packed = zlib.compress(plain)
    return urlsafe_b64encode(_sign(packed, key) + packed).decode()


@attrs.define(eq=False, repr=False)
class Restorer:
    """Restores the items of one request, and counts how much room they take together."""

    key: bytes = attrs.field(repr=False)
    _left: int = attrs.field(default=MOST_RESTORED_BYTES, init=False)

    def restore(self, content: str) -> Work[list[ChatMessage]]:
        """Return the messages in an item; raises `ApiError` if it isn't one of this server's."""
        try:
            sealed = urlsafe_b64decode(content.encode())
        except (NotBase64, ValueError):
            raise _foreign() from None
        signature, packed = sealed[:_SIGNATURE_BYTES], sealed[_SIGNATURE_BYTES:]
        if not hmac.compare_digest(signature, _sign(packed, self.key)):
            raise _foreign()
        yield
        plain, unpacking = bytearray(), zlib.decompressobj()
        while not unpacking.eof:
            piece = unpacking.decompress(packed, _STEP_BYTES)
            packed = unpacking.unconsumed_tail
            self._left -= len(piece)
            if self._left < 0:
                raise _too_large()
            plain += piece
            yield
        messages: list[ChatMessage] = []
        for raw in _decode(plain):
            messages.append(decode_message(raw, "input"))
            yield
        return messages


def _sign(packed: bytes, key: bytes) -> bytes:
    return hmac.digest(key, packed, "sha256")


def _foreign() -> ApiError:
    return bad_request(
        "This compaction item isn't from this server, or was changed.",
        "input",
        "invalid_compaction",
    )


def _too_large() -> ApiError:
    limit = MOST_RESTORED_BYTES // (1024 * 1024)
    text = f"The transcripts in compaction items may have {limit} MiB together."
    return ApiError(413, "transcript_too_large", text, "input")
