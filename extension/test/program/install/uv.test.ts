import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import {
  INSTALL_STEP_MS,
  MAX_INDEX_PAGE_BYTES,
  MAX_UV_BYTES,
  MAX_UV_WHEEL_BYTES,
} from "../../../src/limits.ts";
import { sha256, type UvPin } from "../../../src/program/install/bundle.ts";
import { explain } from "../../../src/program/install/failure.ts";
import { obtainUv, platformName } from "../../../src/program/install/uv.ts";
import { zip } from "./archive.ts";
import { Told } from "./machine.ts";

const PROGRAM = Buffer.from("#!/bin/sh\necho uv\n");
const WHEEL = zip([{ path: "uv-1.2.3.data/scripts/uv", content: PROGRAM }]);
const NAME = "uv-1.2.3-py3-none-any.whl";
const PIN: UvPin = {
  version: "1.2.3",
  files: { "any-cpu": { name: NAME, sha256: sha256(WHEEL) } },
};

let folder: string;
let server: Server;
let index: string;
let asked: IncomingMessage[];
let answer: (path: string, response: ServerResponse) => void;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "vscodelm-uv-"));
  asked = [];
  answer = inHtml;
  server = createServer((request, response) => {
    asked.push(request);
    answer(request.url ?? "", response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  index = `http://127.0.0.1:${(server.address() as AddressInfo).port}/simple`;
});

afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await rm(folder, { recursive: true });
});

function inHtml(path: string, response: ServerResponse): void {
  if (path === "/simple/uv/") {
    response.setHeader("content-type", "text/html");
    response.end(`<a href="../../files/${NAME}">${NAME}</a>`);
  } else {
    response.end(WHEEL);
  }
}

function inJson(path: string, response: ServerResponse): void {
  if (path === "/simple/uv/") {
    response.setHeader("content-type", "application/vnd.pypi.simple.v1+json");
    response.end(JSON.stringify({ files: [{ url: `/files/${NAME}` }] }));
  } else {
    response.end(WHEEL);
  }
}

const obtain = (told = new Told(), pin = PIN) =>
  obtainUv(pin, index, folder, told, async () => "any-cpu");

test.each([
  ["HTML", inHtml],
  ["JSON", inJson],
])("uv is fetched from an index in %s, once", async (_, how) => {
  answer = how;
  const told = new Told();
  const program = await obtain(told);
  expect(program).toBe(join(folder, "1.2.3/uv"));
  expect((await readFile(program)).equals(PROGRAM)).toBe(true);
  expect((await stat(program)).mode & 0o111).toBe(0o111);
  expect(told.stages).toEqual(["Downloading uv"]);
  expect(asked.map(({ url }) => url)).toEqual(["/simple/uv/", `/files/${NAME}`]);
  expect(await obtain()).toBe(program);
  expect(asked).toHaveLength(2);
  expect(await readdir(join(folder, "1.2.3"))).toEqual(["uv"]);
});

test("a wheel whose hash differs is refused, and nothing of it is kept", async () => {
  const other = zip([{ path: "uv-1.2.3.data/scripts/uv", content: Buffer.from("evil") }]);
  const pinned = { name: NAME, sha256: sha256(other) };
  const pin = { ...PIN, files: { "any-cpu": pinned } };
  await expect(obtain(new Told(), pin)).rejects.toMatchObject({ reason: "changed" });
  expect(await readdir(folder)).toEqual([]);
});

test("the index's name and password are sent to it, and are not in the log", async () => {
  index = index.replace("http://", "http://me:s%20cret@");
  const told = new Told();
  await obtain(told);
  const login = `Basic ${Buffer.from("me:s cret").toString("base64")}`;
  expect(asked.map(({ headers }) => headers.authorization)).toEqual([login, login]);
  expect(told.lines.join("\n")).not.toContain("cret");
  expect(told.lines[0]).toContain("://***@127.0.0.1");
});

test("a password with a bare % in it is sent as it is", async () => {
  index = index.replace("http://", "http://me:100%@");
  await obtain();
  const login = `Basic ${Buffer.from("me:100%").toString("base64")}`;
  expect(asked.map(({ headers }) => headers.authorization)).toEqual([login, login]);
});

test.each(["me:secret@index.example/simple", "secret", "file:///secret"])(
  "%j is no address of an index, and nothing of it is told",
  async (address) => {
    index = address;
    const told = new Told();
    const refused = await obtain(told).catch((error) => explain(error, "The package index"));
    expect(String(refused)).toContain("must begin with https:// or http://");
    expect(String(refused) + told.lines.join("")).not.toContain("secret");
  },
);

test("another server, which has the files, isn't given the index's password", async () => {
  const [other, there] = [createServer(), [] as (string | undefined)[]];
  other.on("request", (request, response) => {
    there.push(request.headers.authorization);
    response.end(WHEEL);
  });
  other.listen(0, "127.0.0.1");
  await once(other, "listening");
  const address = `http://127.0.0.1:${(other.address() as AddressInfo).port}/${NAME}`;
  answer = (_, response) => {
    response.setHeader("content-type", "text/html");
    response.end(`<a href="${address}">`);
  };
  index = index.replace("http://", "http://me:secret@");
  await obtain();
  expect(there).toEqual([undefined]);
  other.closeAllConnections();
  other.close();
});

test.each([
  [401, "refused"],
  [403, "refused"],
  [404, "missing"],
  [503, "offline"],
])("an index that answers %s is %s", async (status, reason) => {
  answer = (_, response) => {
    response.statusCode = status;
    response.end();
  };
  const failure = await obtain().catch((error) => error);
  expect(failure).toMatchObject({ reason, message: expect.stringContaining(`HTTP ${status}`) });
});

test("an index that doesn't have the pinned file says which", async () => {
  answer = (_, response) => response.end("");
  await expect(obtain()).rejects.toThrow(`doesn't have ${NAME}`);
});

test("an index that isn't there is told as such", async () => {
  server.close();
  const failure = await obtain().catch((error) => explain(error, "The index"));
  expect(failure).toMatchObject({ reason: "offline" });
});

test("a page without end is cut off", async () => {
  const piece = Buffer.alloc(MAX_INDEX_PAGE_BYTES / 8);
  answer = (_, response) => {
    for (let sent = 0; sent < 9; sent++) {
      response.write(piece);
    }
    response.end();
  };
  await expect(obtain()).rejects.toThrow(`larger than ${MAX_INDEX_PAGE_BYTES} bytes`);
});

test("a wheel that says to unpack to more than a program can be is an error", async () => {
  const huge = zip([{ path: "uv-1.2.3.data/scripts/uv", content: Buffer.alloc(MAX_UV_BYTES + 1) }]);
  expect(huge.length).toBeLessThan(MAX_UV_WHEEL_BYTES);
  answer = (path, response) =>
    path === "/simple/uv/" ? inHtml(path, response) : response.end(huge);
  const pin = { ...PIN, files: { "any-cpu": { name: NAME, sha256: sha256(huge) } } };
  await expect(obtain(new Told(), pin)).rejects.toThrow();
  expect(await readdir(folder)).toEqual([]);
});

test("who cancels a download ends it at once", async () => {
  const told = new Told("go");
  answer = (_, response) => {
    response.write("half");
    told.stage("go");
  };
  await expect(obtain(told)).rejects.toThrow("was cancelled");
  expect(await readdir(folder)).toEqual([]);
  expect(INSTALL_STEP_MS).toBeGreaterThan(60_000); // the other end of it
});

test("a system for which no uv is pinned says what to install", async () => {
  const obtained = obtainUv(PIN, index, folder, new Told(), async () => "sunos-sparc");
  await expect(obtained).rejects.toThrow("uv isn't known for this system (sunos-sparc)");
});

test.runIf(process.platform === "linux")("a program says which C library it has", async () => {
  const header = (loader: string) => Buffer.concat([Buffer.alloc(600), Buffer.from(loader)]);
  const program = join(folder, "node");
  await writeFile(program, header("/lib/ld-musl-x86_64.so.1"));
  expect(await platformName(program)).toBe(`linux-${process.arch}-musl`);
  await writeFile(program, header("/lib64/ld-linux-x86-64.so.2"));
  expect(await platformName(program)).toBe(`linux-${process.arch}`);
});

test("editors have switched off Node's report, and nothing here needs it", async () => {
  vi.spyOn(process.report, "getReport").mockReturnValue(undefined as never);
  expect(await platformName()).toContain(process.platform);
});

test("this system has a pinned uv", async () => {
  const pins = new URL("../../../pins/uv.json", import.meta.url);
  expect(JSON.parse(await readFile(pins, "utf8")).files[await platformName()]).toBeDefined();
});
