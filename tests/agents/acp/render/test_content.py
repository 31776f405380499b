from __future__ import annotations

import pytest

from agents.acp.render.content import content_view
from agents.acp.schema.content import (
    AudioContent,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceContents,
    ResourceLink,
    TextContent,
    UnknownContent,
)


@pytest.mark.parametrize(
    ("content", "markdown"),
    [
        (TextContent("*as it is*"), "*as it is*"),
        (ImageContent(b"abc", "image/png"), "![Image](data:image/png;base64,YWJj)"),
        (ImageContent(b"", "image/png"), "🖼️ *Image (image/png, 0 bytes)*"),
        (ImageContent(b"<svg/>", "image/svg+xml"), "🖼️ *Image (image/svg+xml, 6 bytes)*"),
        (ImageContent(b"x" * 5000, "image/png"), "🖼️ *Image (image/png, 5 kB)*"),
        (ImageContent(b"", "image/png", "https://e.org/a.png"), "🖼️ [Image](https://e.org/a.png)"),
        (ImageContent(b"", "x\n](y)", None), r"🖼️ *Image (x \](y), 0 bytes)*"),
        (AudioContent(b"abc", "audio/wav"), "🔊 *Sound (audio/wav, 3 bytes)*"),
        (ResourceLink("https://e.org/a", "a", title="A"), "📎 [A](https://e.org/a)"),
        (ResourceLink("file:///a", "a", description="b\nc"), "📎 [a](file:///a): b c"),
        (
            EmbeddedResource(ResourceContents("file:///x/a.py", "print()")),
            "📎 [a.py](file:///x/a.py)\n\n```py\nprint()\n```",
        ),
        (
            EmbeddedResource(ResourceContents("file:///x/Makefile", "all:")),
            "📎 [Makefile](file:///x/Makefile)\n\n```\nall:\n```",
        ),
        (
            EmbeddedResource(ResourceContents("note:///", blob=b"ab", mime_type="x/y")),
            "📎 note: (`note:///`) *(x/y, 2 bytes)*",
        ),
        (
            EmbeddedResource(ResourceContents("/", blob=b"")),
            "📎 / (`/`) *(data, 0 bytes)*",
        ),
        (
            UnknownContent("hologram", {}),
            "*(The agent sent something of the kind `hologram`, which can't be shown here.)*",
        ),
        (
            UnknownContent("", {}),
            "*(The agent sent something of the kind `?`, which can't be shown here.)*",
        ),
    ],
)  # fmt: skip
def test_content_is_shown(content: ContentBlock, markdown: str) -> None:
    assert content_view(content) == markdown
