"""The page is whole, allows nothing from elsewhere, and no text of a chat becomes a part of it."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from actors.inspection.page import DATA, NONCE, as_data, page_with
from bridge.wire import InspectedFact, InspectedRefusal, InspectedRequest, InspectResult

HOSTILE = st.text() | st.lists(
    st.sampled_from(
        [
            *("</script>", "<script>", "<!--", "-->", "<img src=x onerror=alert(1)>", "]]>"),
            *("\u2028", NONCE, DATA, '"', "\\", "'", "&lt;", "</title>", "</SCRIPT >", "\x00"),
        ]
    )
).map("".join)


class Tags(HTMLParser):
    """Finds tags with their attributes, and the text in the element of the events."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, list[tuple[str, str | None]]]] = []
        self.data = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, attrs))

    def handle_endtag(self, tag: str) -> None:
        self.tags.append((f"/{tag}", []))

    def handle_comment(self, data: str) -> None:
        self.tags.append(("comment", [("", data)]))

    def handle_data(self, data: str) -> None:
        if self.tags and ("id", "data") in self.tags[-1][1]:
            self.data += data


def request(text: str) -> InspectedRequest:
    return InspectedRequest(
        request=text,
        conversation=1,
        model=text,
        request_class=text,
        reason=text,
        asked=text,
        given=[text],
        facts=[InspectedFact(text, text)],
        answer=text,
        calls=[text],
        results=[text],
        failure=text,
    )


@given(HOSTILE)
def test_no_text_becomes_a_part_of_the_page(text: str) -> None:
    result = InspectResult([request(text), InspectedRefusal(text, text)])
    page, blank = Tags(page_with(result, "n0nce")), Tags(page_with(InspectResult([]), "n0nce"))
    assert page.tags == blank.tags
    assert json.loads(page.data) == json.loads(as_data(result))
    (told, refused) = json.loads(page.data)["events"]
    assert {told["asked"], told["answer"], told["given"][0], refused["why"]} == {text}


def test_everything_in_the_page_that_runs_has_the_nonce_and_nothing_is_fetched() -> None:
    page = page_with(InspectResult([]), "n0nce")
    tags = Tags(page).tags
    policies = [
        dict(attrs)["content"]
        for tag, attrs in tags
        if tag == "meta" and attrs[0][0] == "http-equiv"
    ]
    assert policies == ["default-src 'none'; style-src 'nonce-n0nce'; script-src 'nonce-n0nce'"]
    running = [dict(attrs) for tag, attrs in tags if tag in ("script", "style")]
    assert [one.get("nonce") for one in running] == ["n0nce"] * 3
    names = {name for _, attrs in tags for name, _ in attrs}
    assert not {name for name in names if name.startswith("on")} | names & {"src", "href", "style"}
    assert NONCE not in page


def test_the_script_makes_no_html_of_texts() -> None:
    page = page_with(InspectResult([]), "n0nce")
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|Function\(", page
    )
    assert not re.search(
        r"https?://(?!www\.w3\.org/2000/svg)|fetch\(|XMLHttp|WebSocket|import\(", page
    )


def test_the_page_is_light_and_dark() -> None:
    page = page_with(InspectResult([]), "n0nce")
    assert "prefers-color-scheme: dark" in page
    assert "--vscode-editor-background" in page
