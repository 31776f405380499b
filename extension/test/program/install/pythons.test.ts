import { expect, test } from "vitest";
import { findTools } from "../../../src/program/install/pythons.ts";
import type { InstallStep } from "../../../src/program/install/run.ts";
import { type Here, machine, Told } from "./machine.ts";

function tools(here: Here) {
  const { run, find } = machine(here);
  return findTools(run, "/storage", new Told(), find);
}

test("uv is taken with the Python that it finds, else a Python with venv", async () => {
  expect(await tools({ programs: ["uv", "python3"] })).toEqual({
    kind: "uv",
    uv: "/usr/bin/uv",
    python: "/usr/bin/python3",
  });
  expect(await tools({ programs: ["python"] })).toEqual({
    kind: "venv",
    python: "/usr/bin/python",
  });
});

test("a uv that stands for nothing is none", async () => {
  const broken = { "uv --version": "pyenv: uv: command not found" };
  expect(await tools({ programs: ["uv", "python3"], broken })).toMatchObject({ kind: "venv" });
});

test.each([
  ["CPython 3 10 True", "is Python 3.10, and one from 3.11 to before 3.15 is needed"],
  ["CPython 2 7 True", "is Python 2.7"],
  ["CPython 3 15 True", "is Python 3.15"],
  ["PyPy 3 11 True", "is PyPy, not CPython"],
  [
    "CPython 3 12 False",
    "is Python 3.12 without venv (Debian and Ubuntu have it in the package python3.12-venv)",
  ],
])("a Python that says %j doesn't fit: it %s", async (said, why) => {
  const pythons = { "/usr/bin/python3": `${said}\n` };
  expect(await tools({ programs: ["python3"], pythons })).toEqual({
    kind: "none",
    why: expect.stringContaining(`/usr/bin/python3 ${why}`),
  });
});

test.each(["CPython 3 11 True", "CPython 3 14 True"])("one that says %j does", async (said) => {
  const pythons = { "/usr/bin/python3": `${said}\n` };
  expect(await tools({ programs: ["python3"], pythons })).toMatchObject({ kind: "venv" });
});

test("without anything the words say what is missing", async () => {
  expect(await tools({ programs: [] })).toMatchObject({ why: "there is no Python on PATH" });
  const broken = { python3: "" };
  expect(await tools({ programs: ["python3"], broken })).toMatchObject({
    why: "/usr/bin/python3 can't be run",
  });
  expect(await tools({ programs: ["uv"], hasPython: false })).toEqual({
    kind: "none",
    uv: "/usr/bin/uv",
    why: "uv finds no Python from 3.11 on here",
  });
});

test("macOS's own Python is never run: it may only open a window that offers developer tools", async () => {
  const ran: InstallStep[] = [];
  const { run, find } = machine({ programs: ["python3"] }, ran);
  const on = (platform: NodeJS.Platform, other = find) =>
    findTools(run, "/storage", new Told(), other, platform);
  expect(await on("darwin")).toEqual({
    kind: "none",
    why: "/usr/bin/python3 is macOS's own, which is too old",
  });
  expect(ran).toEqual([]);
  const brew = async (name: string) =>
    name === "python3.12" ? "/opt/brew/python3.12" : find(name);
  expect(await on("darwin", brew)).toEqual({ kind: "venv", python: "/opt/brew/python3.12" });
  expect(await on("linux")).toMatchObject({ kind: "venv" });
});

test("who cancels while it is looked for isn't told that there is none", async () => {
  const told = new Told("go");
  const { find } = machine({ programs: ["uv"] });
  const run = async () => {
    told.stage("go");
    throw new Error("killed");
  };
  await expect(findTools(run, "/storage", told, find)).rejects.toThrow("was cancelled");
});
