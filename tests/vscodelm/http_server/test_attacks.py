"""Attacks on the server: each is refused, logged without secrets, and harms nobody else."""

from __future__ import annotations

import logging
import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import httpx
import pytest
import trio

from tests.fakes.http_face import PATIENCE, TOKEN, Face, open_face, text_of
from tests.fakes.waiting import until
from vscodelm.http_server import answering, app, serving

BODY = b'{"model": "eliza", "input": "Hello!"}'


@asynccontextmanager
async def attacked(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> AsyncGenerator[Face]:
    """Serve; at the end others must be answered, and no log line may show a secret."""
    caplog.set_level(logging.DEBUG)
    async with open_face(tmp_path, origins=("https://good.example",)) as face:
        yield face
        assert text_of(await face.respond("Hello!"))
    ours = [record for record in caplog.records if record.name.startswith("vscodelm")]
    logged = " ".join(record.getMessage() for record in ours)
    assert TOKEN not in logged
    assert not [record for record in ours if record.exc_info]


async def raw(face: Face, data: bytes) -> bytes:
    """Send bytes, and return all that comes back until the connection ends."""
    answer = b""
    stream = await trio.open_tcp_stream("127.0.0.1", face.address.port)
    with trio.fail_after(PATIENCE):
        async with stream:
            with suppress(trio.BrokenResourceError):
                await stream.send_all(data)
                while chunk := await stream.receive_some():
                    answer += chunk
    return answer


def head(face: Face, line: str, *headers: str) -> bytes:
    host = f"host: 127.0.0.1:{face.address.port}"
    lines = [f"{line} HTTP/1.1", host, "connection: close", *headers, "", ""]
    return "\r\n".join(lines).encode()


AUTHORIZED = f"authorization: Bearer {TOKEN}"


async def test_requests_without_the_token_are_refused_and_the_token_counts_only_as_a_header(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with attacked(tmp_path, caplog) as face, httpx.AsyncClient() as stranger:
        places = ("models", "responses", f"models?token={TOKEN}", f"models?api_key={TOKEN}", "no")
        for place in places:
            answer = await stranger.get(f"{face.address.url}/{place}")
            assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
        for headers in ({"x-api-key": TOKEN}, {"cookie": f"token={TOKEN}"}):
            answer = await stranger.get(f"{face.address.url}/models", headers=headers)
            assert answer.status_code == 401
    refusals = [one for one in caplog.messages if one.startswith("refused http status=401")]
    assert len(refusals) == len(places) + 2  # one line for each


async def test_a_web_page_is_refused_and_gets_no_permission_to_read(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with attacked(tmp_path, caplog) as face:
        for origin in ("https://evil.example", "null", "http://localhost"):
            asked = await face.http.get("models", headers={"origin": origin})
            assert asked.status_code == 403
            preflight = {"origin": origin, "access-control-request-method": "POST"}
            asked = await face.http.options("responses", headers=preflight)
            assert asked.status_code == 403
            assert not [name for name in asked.headers if name.startswith("access-control")]
        good = {"origin": "https://good.example"}
        assert (await face.http.get("models", headers=good)).status_code == 200


async def test_a_name_that_leads_here_is_no_host(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with attacked(tmp_path, caplog) as face:
        named = {"host": f"evil.example:{face.address.port}"}
        assert (await face.http.get("models", headers=named)).status_code == 421


@pytest.mark.limit("vscodelm.http_server.app.MOST_BODY_BYTES")
async def test_a_body_of_100_mb_is_refused_before_it_is_read(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    size = 100 * 1024 * 1024
    async with attacked(tmp_path, caplog) as face:
        begun = head(face, "POST /v1/responses", AUTHORIZED, f"content-length: {size}")
        assert (await raw(face, begun)).startswith(b"HTTP/1.1 413")
        begun = head(face, "POST /v1/responses", AUTHORIZED, "transfer-encoding: chunked")
        stream = await trio.open_tcp_stream("127.0.0.1", face.address.port)
        with trio.fail_after(PATIENCE), suppress(trio.BrokenResourceError):
            await stream.send_all(begun)
            for _ in range(size // 65_536):  # it breaks before the end
                await stream.send_all(b"10000\r\n" + b"x" * 65_536 + b"\r\n")
            pytest.fail("all of it was taken")
        await stream.aclose()


@pytest.mark.limit("vscodelm.http_server.body.MOST_BODY_VALUES")
async def test_a_body_of_many_small_values_is_refused(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with attacked(tmp_path, caplog) as face:
        inputs = b'{"model": "eliza", "input": [' + b"[]," * 600_000 + b"[]]}"
        error = await face.fails(413, inputs)
        assert error["code"] == "request_too_large"


@pytest.mark.limit("vscodelm.http_server.app.BODY_SECONDS")
async def test_a_body_that_trickles_is_refused(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "BODY_SECONDS", 0.3)
    async with attacked(tmp_path, caplog) as face:
        begun = head(face, "POST /v1/responses", AUTHORIZED, "content-length: 100") + b"{"
        assert (await raw(face, begun)).startswith(b"HTTP/1.1 408")


@pytest.mark.limit("vscodelm.http_server.serving.HEADER_SECONDS")
async def test_headers_that_trickle_end_the_connection(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "HEADER_SECONDS", 0.3)
    async with attacked(tmp_path, caplog) as face:
        assert await raw(face, b"GET /v1/models HTTP/1.1\r\nhost:") == b""
    assert "no headers came" in caplog.text


@pytest.mark.parametrize("is_stream", ["false", "true"])
async def test_a_connection_that_rests_after_its_answer_ends_and_so_does_one_that_shall_close(
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    is_stream: str,
) -> None:
    monkeypatch.setattr(serving, "HEADER_SECONDS", 0.3)
    body = f'{{"model": "eliza", "input": "Hello!", "stream": {is_stream}}}'.encode()
    async with attacked(tmp_path, caplog) as face:
        length = f"content-length: {len(body)}"
        closing = head(face, "POST /v1/responses", AUTHORIZED, length)
        for begun in (closing, closing.replace(b"connection: close\r\n", b"")):
            answer = await raw(face, begun + body)
            assert answer.startswith(b"HTTP/1.1 200")
            assert b"completed" in answer


async def test_a_client_that_leaves_amid_its_body_harms_nobody(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with attacked(tmp_path, caplog) as face:
        for _ in range(5):
            stream = await trio.open_tcp_stream("127.0.0.1", face.address.port)
            begun = head(face, "POST /v1/responses", AUTHORIZED, "content-length: 100")
            await stream.send_all(begun + b"{")
            await stream.aclose()


@pytest.mark.limit("vscodelm.http_server.answering.MOST_OPEN")
async def test_one_stream_too_many_is_told_when_to_try_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answering, "MOST_OPEN", 20)
    async with attacked(tmp_path, caplog) as face:
        face.answering._places = 20  # pyright: ignore[reportPrivateUsage]  # it was made before
        statuses: list[int] = []

        async def open_one() -> None:
            body = {"model": "eliza", "input": "!hang", "stream": True}
            async with face.http.stream("POST", "responses", json=body) as stream:
                statuses.append(stream.status_code)
                if stream.status_code == 429:
                    assert int(stream.headers["retry-after"]) > 0
                await trio.sleep_forever()

        with trio.fail_after(PATIENCE):
            async with trio.open_nursery() as nursery:
                for _ in range(30):
                    nursery.start_soon(open_one)
                await until(lambda: len(statuses) == 30)
                assert (statuses.count(200), statuses.count(429)) == (20, 10)
                nursery.cancel_scope.cancel()
            await until(lambda: not face.answering.port.replies)
            # A place is free a moment after its answer has ended.
            await until(lambda: face.answering._places == 20)  # pyright: ignore[reportPrivateUsage]


@pytest.fixture
def many_files() -> Generator[None]:
    """Let the process have enough files for a thousand connections, with both ends here."""
    if sys.platform == "win32":
        yield
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = 8_192
    if hard != resource.RLIM_INFINITY and hard < needed:
        pytest.skip(f"a process may have {hard} files here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, needed), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.slow
@pytest.mark.usefixtures("many_files")
async def test_a_thousand_streams_are_answered_or_told_when_to_try_again_and_harm_nobody(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "REFUSAL_SECONDS", PATIENCE)  # the clients share our event loop
    body = b'{"model": "eliza", "input": "!hang", "stream": true}'
    answers: list[bytes] = []
    open_: list[trio.SocketStream] = []

    async def open_one(face: Face) -> None:
        asked = head(face, "POST /v1/responses", AUTHORIZED, f"content-length: {len(body)}") + body
        stream = await trio.open_tcp_stream("127.0.0.1", face.address.port)
        with suppress(trio.BrokenResourceError):  # it may be refused before all of that is read
            await stream.send_all(asked)
        answer = b""
        while b"\r\n\r\n" not in answer:
            chunk = await stream.receive_some()
            assert chunk, "closed without an answer"
            answer += chunk
        answers.append(answer)
        if answer.startswith(b"HTTP/1.1 200"):
            open_.append(stream)
        else:
            await stream.aclose()

    async with attacked(tmp_path, caplog) as face:
        with trio.fail_after(10 * PATIENCE):
            async with trio.open_nursery() as nursery:
                for _ in range(1_000):
                    nursery.start_soon(open_one, face)
            refused = [answer for answer in answers if answer.startswith(b"HTTP/1.1 429")]
            assert (len(open_), len(refused)) == (answering.MOST_OPEN, 1_000 - answering.MOST_OPEN)
            assert all(b"\r\nretry-after: 5\r\n" in answer for answer in refused)
            assert len(face.answering.port.replies) == answering.MOST_OPEN  # all of them go on
            assert (await face.get("models")).status_code == 200
            for stream in open_:
                await stream.aclose()
            await until(lambda: not face.answering.port.replies)


@pytest.mark.parametrize(
    "path",
    [
        "/v1/../etc/passwd",
        "/v1/responses/..%2f..%2fetc%2fpasswd",
        "//v1/models",
        "/v1//models",
        "/V1/models",
        "/v1/responses/%00",
        "/v1/responses/a%0d%0ax:%20y",
        "/v1/responses/" + "x" * 8_000,
        "http://evil.example/v1/models",
        "*",
    ],
)
async def test_tricks_with_the_path_find_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, path: str
) -> None:
    async with attacked(tmp_path, caplog) as face:
        answer = await raw(face, head(face, f"GET {path}", AUTHORIZED))
        assert answer.split()[1] in (b"404", b"400", b"307") or not answer
        assert b"root:" not in answer


@pytest.mark.parametrize(
    "request_line",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET / HTTP/9.9\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\xff" * 100,
        b"GET / HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n",
        b"POST / HTTP/1.1\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n",
        b"GET / HTTP/1.1\r\nx: " + b"y" * 100_000 + b"\r\n\r\n",
        b"\0" * 1_000,
    ],
)
async def test_what_is_no_http_is_refused(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, request_line: bytes
) -> None:
    async with attacked(tmp_path, caplog) as face:
        answer = await raw(face, request_line + b"\r\n")
        assert b"200 " not in answer[:20]


async def test_no_field_of_a_request_sets_folder_command_or_environment(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with attacked(tmp_path, caplog) as face:
        spec = {"acp": {"name": "evil", "command": "touch", "args": [str(tmp_path / "owned")]}}
        fields = {
            "agent": spec,
            "cwd": "/",
            "env": {"A": "b"},
            "settings": {"permissions": "allow"},
        }
        answer = await face.respond("!permission Delete everything", **fields)
        assert "denied" in text_of(answer)
        assert not (tmp_path / "owned").exists()
