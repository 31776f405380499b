"""`vscodelm serve-http` as a process: its first line, its token, its models, its end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import attrs
import httpx
import pytest
import trio

from tests.fakes.groups import group_is_gone, groups_of_children
from tests.fakes.http_face import text_of

from .process import COMMAND, PATIENCE, run

TOKEN = "token-of-this-test"
ACP = Path(__file__).parents[1] / "fakes" / "acp_program.py"
pytestmark = pytest.mark.slow


@attrs.define(eq=False)
class Server:
    it: trio.Process
    url: str
    stderr: bytes = b""
    is_told: bool = False
    """Whether it got its signal. A second one would end it at once."""

    def end(self, number: int = signal.SIGTERM) -> None:
        if not self.is_told:
            self.is_told = True
            self.it.send_signal(number)

    def client(self, token: str = TOKEN) -> httpx.AsyncClient:
        headers = {"authorization": f"Bearer {token}"}
        if self.url.startswith("unix:"):
            transport = httpx.AsyncHTTPTransport(uds=self.url.removeprefix("unix:"))
            return httpx.AsyncClient(
                transport=transport, base_url="http://localhost/v1", headers=headers
            )
        return httpx.AsyncClient(base_url=self.url, headers=headers, timeout=PATIENCE)


@asynccontextmanager
async def server(
    *arguments: str,
    env: Mapping[str, str] | None = None,
    end: int = signal.SIGTERM,
    status: int = 0,
) -> AsyncGenerator[Server]:
    """Start a server; a signal must end it with this status, and nothing more may be on stdout."""
    with trio.fail_after(2 * PATIENCE):
        it = await trio.lowlevel.open_process(
            [*COMMAND, "serve-http", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "VSCODELM_TOKEN": TOKEN, **(env or {})},
        )
        assert it.stdout is not None
        assert it.stderr is not None
        try:
            line = b""
            while not line.endswith(b"\n"):
                chunk = await it.stdout.receive_some()
                assert chunk, await it.stderr.receive_some()
                line += chunk
            one = Server(it, line.decode().strip())
            yield one
            one.end(end)
            rest = await it.stdout.receive_some()
            while chunk := await it.stderr.receive_some():
                one.stderr += chunk
            assert await it.wait() == status, one.stderr
            assert rest == b""
            assert TOKEN.encode() not in one.stderr
        finally:
            it.kill()
            with trio.CancelScope(shield=True):
                await it.wait()


@contextmanager
def short_folder() -> Generator[Path]:
    """Make a folder whose path is short enough for a socket."""
    with tempfile.TemporaryDirectory(prefix="v") as name:
        yield Path(name)


def scripted(folder: Path, script: str) -> Path:
    """Return a configuration with the model `mine`, an ACP agent that does what a script says."""
    config = folder / "config.toml"
    file = folder / "script.json"
    file.write_text(script)
    python = sys.executable.replace("\\", "/")
    config.write_text(
        f'[[models]]\nid = "mine"\nagent = {{ acp = {{ name = "fake", command = "{python}", '
        f'args = ["{ACP.as_posix()}", "{file.as_posix()}"] }} }}\n'
    )
    return config


async def respond(client: httpx.AsyncClient, given: str, **fields: Any) -> dict[str, Any]:
    body = {"model": "eliza", "input": given, **fields}
    answer = await client.post("/responses", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT])
async def test_a_server_says_where_it_is_answers_and_ends_by_a_signal(end: int) -> None:
    async with server(end=end) as one, one.client() as client:
        assert one.url.startswith("http://127.0.0.1:")
        assert "sad" in text_of(await respond(client, "I am sad"))


async def test_a_response_that_is_open_is_cancelled_at_the_end() -> None:
    async with server() as one, one.client() as client:
        body = {"model": "eliza", "input": "!hang", "stream": True}
        async with client.stream("POST", "/responses", json=body) as stream:
            one.end()
            text = "".join([chunk async for chunk in stream.aiter_text()])
    assert "response.incomplete" in text


async def test_the_token_is_made_where_it_is_missing_and_the_agents_never_see_it(
    tmp_path: Path,
) -> None:
    config = scripted(tmp_path, '{"otherwise": [{"say": "I am the agent."}]}')
    state = tmp_path / "state"
    async with server(
        "--state-dir", str(state), "--config", str(config), env={"VSCODELM_TOKEN": ""}
    ) as one:
        token = (state / "http-token").read_text().strip()
        async with one.client(token) as client:
            listed = (await client.get("/models")).json()["data"]
            assert [model["id"] for model in listed] == ["eliza", "mine"]
            said = await respond(client, "Who are you?", model="mine")
            assert text_of(said) == "I am the agent."
    assert str(state / "http-token").encode() in one.stderr
    assert token.encode() not in one.stderr


async def test_the_lineage_survives_a_restart(tmp_path: Path) -> None:
    async with server("--state-dir", str(tmp_path)) as one, one.client() as client:
        first = await respond(client, "My dog ate the homework.")
    async with server("--state-dir", str(tmp_path)) as one, one.client() as client:
        second = await respond(client, "Hm.", previous_response_id=first["id"])
    assert second["status"] == "completed"


@pytest.mark.skipif(sys.platform == "win32", reason="a signal ends a process at once")
async def test_a_second_signal_ends_a_server_at_once_with_its_agents_and_its_socket(
    tmp_path: Path,
) -> None:
    script = '{"start": [{"ignore": ["SIGTERM"]}], "lingers": true, "otherwise": [{"hang": true}]}'
    arguments = ["--config", str(scripted(tmp_path, script))]
    with short_folder() as folder:
        path = folder / "s"
        arguments += ["--listen", f"unix:{path}"]
        async with server(*arguments, status=128 + signal.SIGINT) as one, one.client() as client:
            body = {"model": "mine", "input": "Hello!", "stream": True}
            async with client.stream("POST", "/responses", json=body) as stream:
                assert stream.status_code == 200
                (group,) = groups_of_children(one.it.pid)
                one.end()
                text = "".join([chunk async for chunk in stream.aiter_text()])
                assert "response.incomplete" in text
                assert not group_is_gone(group)  # it is stubborn
                one.it.send_signal(signal.SIGINT)
        assert group_is_gone(group)
        assert not path.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="there are no Unix sockets")
async def test_a_server_listens_on_a_unix_socket() -> None:
    path = f"/tmp/v{os.getpid()}.sock"
    async with server("--listen", f"unix:{path}") as one, one.client() as client:
        assert one.url == f"unix:{path}"
        assert text_of(await respond(client, "Hello!"))
        assert os.path.exists(path)  # noqa: ASYNC240  # it is quick
    assert not os.path.exists(path)  # noqa: ASYNC240


async def test_to_listen_elsewhere_one_must_have_a_token_of_ones_own(tmp_path: Path) -> None:
    arguments = ("serve-http", "--listen", "0.0.0.0", "--state-dir", str(tmp_path))
    refused = await run(*arguments, env={"VSCODELM_TOKEN": ""})
    assert refused.returncode == 1
    assert b"token of your own" in refused.stderr
    async with server("--listen", "0.0.0.0", "--state-dir", str(tmp_path)) as one:
        port = one.url.split(":")[2].split("/")[0]
        async with httpx.AsyncClient() as client:
            headers = {"authorization": f"Bearer {TOKEN}"}
            models = f"http://127.0.0.1:{port}/v1/models"
            assert (await client.get(models, headers=headers)).status_code == 200
            headers["host"] = f"evil.example:{port}"
            assert (await client.get(models, headers=headers)).status_code == 421
    assert b"others can reach this server" in one.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--token-file", "missing/of/" + "x" * 300), b"token file"),
        (("--listen", "unix:/missing/folder/s"), b"can't listen"),
        (("--permissions", "everything"), b"everything"),
        (("--config", "missing.toml"), b"missing.toml"),
    ],
)
async def test_a_wrong_option_is_told_in_one_line(
    arguments: tuple[str, ...], message: bytes
) -> None:
    wrong = await run("serve-http", *arguments, env={"VSCODELM_TOKEN": ""})
    assert wrong.returncode in (1, 2)
    assert message in wrong.stderr
    assert b"Traceback" not in wrong.stderr
