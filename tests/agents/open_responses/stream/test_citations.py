from __future__ import annotations

from agents.open_responses.stream.citations import as_inline, as_list, link_of


def test_a_title_can_not_break_out_of_its_link() -> None:
    link = link_of({"url": "https://a.example", "title": " a\n[b](c) *d* <e> `f` _g_ \\ "})
    assert link is not None
    title = r"a \[b\](c) \*d\* \<e\> \`f\` \_g\_ \\"
    assert as_inline(link) == f" [{title}](https://a.example)"


def test_an_address_can_not_break_out_of_its_link() -> None:
    link = link_of({"url": "https://a.example/x y)(z\n?q=\u00e4&r=%20#f", "title": "A"})
    assert link is not None
    assert as_inline(link) == " [A](https://a.example/x%20y%29%28z%0A?q=%C3%A4&r=%20#f)"


def test_without_a_title_the_address_is_it() -> None:
    for title in (None, "", " ", 7):
        assert link_of({"url": "https://a.example", "title": title}) == ("https://a.example",) * 2


def test_an_annotation_can_be_one_level_down() -> None:
    nested = {"type": "url_citation", "url_citation": {"url": "HTTP://a.example", "title": "A"}}
    assert link_of(nested) == ("HTTP://a.example", "A")


def test_a_list_of_links_stands_below_the_text() -> None:
    links = [("https://a.example", "A"), ("https://b.example", "B")]
    assert as_list(links) == "\n\n- [A](https://a.example)\n- [B](https://b.example)\n"
