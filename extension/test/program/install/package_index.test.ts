import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  configuredIndex,
  DEFAULT_INDEX,
  namedIndex,
  pipFiles,
} from "../../../src/program/install/package_index.ts";

let home: string;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "vscodelm-home-"));
});

afterEach(() => rm(home, { recursive: true }));

const index = (env: NodeJS.ProcessEnv, platform: NodeJS.Platform = "win32") =>
  configuredIndex({ env: { PROGRAMDATA: join(home, "shared"), ...env }, home, platform });

test("the index is uv's, else pip's, else the public one", async () => {
  expect(await index({})).toBe(DEFAULT_INDEX);
  const env = { PIP_INDEX_URL: "https://pip/simple/" };
  expect(await index(env)).toBe("https://pip/simple");
  expect(await index({ ...env, UV_INDEX_URL: "https://old/" })).toBe("https://old");
  const both = { ...env, UV_INDEX_URL: "https://old/", UV_DEFAULT_INDEX: "https://uv" };
  expect(await index(both)).toBe("https://uv");
});

test("the name that uv lets an index have is no part of its address", async () => {
  expect(await index({ UV_DEFAULT_INDEX: "corp-1=https://uv/simple" })).toBe("https://uv/simple");
  expect(await index({ UV_DEFAULT_INDEX: "https://uv/a=https:b" })).toBe("https://uv/a=https:b");
});

test("pip's settings are read where pip has them", async () => {
  const file = join(home, ".config/pip/pip.conf");
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, "[global]\nindex-url = https://mirror/simple\n");
  expect(await index({}, "linux")).toBe("https://mirror/simple");
  const named = join(home, "named.ini");
  await writeFile(named, "[install]\nindex-url = https://named/simple\n");
  expect(await index({ PIP_CONFIG_FILE: named }, "linux")).toBe("https://named/simple");
});

test("each system has its own files", () => {
  const files = (platform: NodeJS.Platform, env = {}) => pipFiles({ env, home: "/h", platform });
  expect(files("linux", { XDG_CONFIG_HOME: "/x" })[0]).toBe("/x/pip/pip.conf");
  expect(files("darwin")).toContain("/h/Library/Application Support/pip/pip.conf");
  expect(files("linux")).not.toContain("/Library/Application Support/pip/pip.conf");
  expect(files("win32", { APPDATA: "/r" })).toEqual([
    "/r/pip/pip.ini",
    "/h/pip/pip.ini",
    "C:/ProgramData/pip/pip.ini",
  ]);
});

test.each([
  ["[global]\nindex-url = https://a/simple", "https://a/simple"],
  ["[global]\nindex_url: https://a/simple\r\n", "https://a/simple"],
  ["[install]\nindex-url=https://b\n[global]\nindex-url=https://a", "https://b"],
  ["[search]\nindex-url = https://a", undefined],
  ["[global]\n# index-url = https://a\nextra-index-url = https://b", undefined],
  ["[global]\nindex-url =", undefined],
  ["", undefined],
])("%j names %s", (text, expected) => expect(namedIndex(text)).toBe(expected));
