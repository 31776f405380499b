from __future__ import annotations

import pytest

from vscodelm.registry.addresses import BadAddress, check, format_of, is_loopback, next_address

LOCAL = ("http://127.0.0.1:80/x", "http://localhost/x", "http://[::1]/", "http://127.9.9.9/")
ELSEWHERE = ("http://example.org/", "ftp://example.org/", "file:///etc/passwd", "https:///x", "x")
BROKEN = ("http://[", "https://[::1")


def test_https_is_allowed_everywhere() -> None:
    for loopback in (False, True):
        assert check("https://example.org/x", loopback=loopback) == "https://example.org/x"


@pytest.mark.parametrize("url", LOCAL)
def test_http_is_allowed_on_this_machine_alone_and_where_that_was_asked_for(url: str) -> None:
    assert is_loopback(url)
    assert check(url, loopback=True) == url
    with pytest.raises(BadAddress, match="https"):
        check(url)


@pytest.mark.parametrize("url", [*ELSEWHERE, *BROKEN, "http://127.0.0.1.example.org/"])
def test_everything_else_is_refused(url: str) -> None:
    assert not is_loopback(url)
    for loopback in (False, True):
        with pytest.raises(BadAddress):
            check(url, loopback=loopback)


def test_a_redirect_may_be_relative() -> None:
    assert next_address("https://a.org/b/c", "../d") == "https://a.org/d"
    assert next_address("https://a.org/b", "https://c.org/") == "https://c.org/"


@pytest.mark.parametrize(
    "location",
    ["http://a.org/", "http://127.0.0.1/", "file:///etc/passwd", "//[", "http:", "data:,x"],
)
def test_a_redirect_to_anything_but_https_is_refused(location: str) -> None:
    with pytest.raises(BadAddress):
        next_address("https://a.org/b", location)


@pytest.mark.parametrize(
    ("url", "format_"),
    [
        ("https://a.org/x.zip", "zip"),
        ("https://a.org/X.ZIP?token=1.tar.gz", "zip"),
        ("https://a.org/x.tar.gz", "tar.gz"),
        ("https://a.org/x.tgz", "tar.gz"),
        ("https://a.org/x.tar.bz2", "tar.bz2"),
        ("https://a.org/x.tbz2", "tar.bz2"),
        ("https://a.org/goose", "raw"),
        ("https://a.org/goose.exe", "raw"),
        ("https://a.org/goose-1.2", "raw"),
    ],
)
def test_the_ending_tells_what_is_there(url: str, format_: str) -> None:
    assert format_of(url) == format_


@pytest.mark.parametrize("ending", ["dmg", "deb", "tar.xz", "msi", "gz"])
def test_what_cannot_be_unpacked_is_not_taken_for_a_program(ending: str) -> None:
    with pytest.raises(BadAddress, match="unpacked"):
        format_of(f"https://a.org/goose.{ending}")
