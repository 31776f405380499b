// Gets uv where the user has none: its wheel from the user's package index, in the one version whose
// hash the extension knows. Nothing that has another hash is kept, let alone run.

import { randomUUID } from "node:crypto";
import { mkdir, open, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  INSTALL_STEP_MS,
  MAX_INDEX_PAGE_BYTES,
  MAX_UV_BYTES,
  MAX_UV_WHEEL_BYTES,
} from "../../limits.ts";
import { isExecutable } from "../executable.ts";
import { sha256, type UvPin } from "./bundle.ts";
import { InstallFailure } from "./failure.ts";
import { ACCEPTED, addressOf, decoded } from "./index_page.ts";
import { withoutCredentials } from "./redact.ts";
import type { Work } from "./work.ts";
import { fileIn } from "./zip.ts";

const PROGRAM = process.platform === "win32" ? "uv.exe" : "uv";

/** Return the uv of this version in a folder, fetched from the index if it isn't there yet. */
export async function obtainUv(
  pin: UvPin,
  index: string,
  folder: string,
  work: Work,
  platformOf = platformName,
): Promise<string> {
  const place = join(folder, pin.version);
  const program = join(place, PROGRAM);
  if (await isExecutable(program)) {
    return program;
  }
  const platform = await platformOf();
  const file = pin.files[platform];
  if (file === undefined) {
    throw new InstallFailure(
      "python",
      `uv isn't known for this system (${platform}). Install Python 3.11 or newer, with venv.`,
    );
  }
  if (!URL.canParse(index) || !["http:", "https:"].includes(new URL(index).protocol)) {
    // It isn't shown: a text that begins with no address may hold a password anywhere.
    throw new InstallFailure(
      "other",
      "uv can't be fetched: the address of your package index must begin with https:// or http://.",
    );
  }
  work.stage("Downloading uv");
  const page = `${index}/uv/`;
  const listed = await get(page, index, MAX_INDEX_PAGE_BYTES, work);
  const address = addressOf(file.name, listed.body.toString("utf8"), listed.type, listed.address);
  if (address === undefined) {
    throw new InstallFailure("missing", `${withoutCredentials(index)} doesn't have ${file.name}.`);
  }
  const wheel = await get(address, index, MAX_UV_WHEEL_BYTES, work);
  if (sha256(wheel.body) !== file.sha256) {
    throw new InstallFailure(
      "changed",
      `${file.name} from ${withoutCredentials(index)} differs from the one in this extension's list: its hash isn't the same.`,
    );
  }
  const unpacked = fileIn(wheel.body, `/scripts/${PROGRAM}`, MAX_UV_BYTES);
  await mkdir(place, { recursive: true });
  const written = join(place, randomUUID());
  try {
    await writeFile(written, unpacked, { mode: 0o755, flush: true });
    work.signal.throwIfAborted();
    await rename(written, program);
  } catch (error) {
    await rm(written, { force: true });
    throw error;
  }
  return program;
}

/**
 * Return the platform's name in the pins: that of Node, and whether the C library is musl. The editor's own
 * program says that, by what it is loaded with; Node's report would, too, and editors have switched it off.
 */
export async function platformName(program = process.execPath): Promise<string> {
  const name = `${process.platform}-${process.arch}`;
  if (process.platform !== "linux") {
    return name;
  }
  const file = await open(program);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEADER_BYTES), 0, HEADER_BYTES, 0);
    return buffer.subarray(0, bytesRead).includes("/ld-musl-") ? `${name}-musl` : name;
  } finally {
    await file.close();
  }
}

/** The headers of a program are in its beginning, and the name of its loader with them. */
const HEADER_BYTES = 8192;

interface Answer {
  body: Buffer;
  type: string;
  /** Its address after all redirects. */
  address: string;
}

async function get(address: string, index: string, limit: number, work: Work): Promise<Answer> {
  work.said(`> GET ${withoutCredentials(address)}`);
  const { href, headers } = request(address, index);
  const signal = AbortSignal.any([work.signal, AbortSignal.timeout(INSTALL_STEP_MS)]);
  const response = await fetch(href, { headers, signal });
  if (!response.ok) {
    throw refusal(response.status, withoutCredentials(index));
  }
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of response.body ?? []) {
    size += piece.length;
    if (size > limit) {
      throw new Error(`${withoutCredentials(address)} is larger than ${limit} bytes.`);
    }
    pieces.push(piece);
  }
  const type = response.headers.get("content-type") ?? "";
  return { body: Buffer.concat(pieces), type, address: response.url || href };
}

function refusal(status: number, place: string): InstallFailure {
  switch (status) {
    case 401:
    case 403:
    case 407:
      return new InstallFailure("refused", `${place} refuses access (HTTP ${status}).`);
    case 404:
    case 410:
      return new InstallFailure("missing", `${place} doesn't have uv (HTTP ${status}).`);
    default:
      return new InstallFailure("offline", `${place} doesn't work: it answers HTTP ${status}.`);
  }
}

/** Return the request's options: the index's password is only for the index's own server. */
function request(
  address: string,
  index: string,
): { href: string; headers: Record<string, string> } {
  const [url, home] = [new URL(address), new URL(index)];
  const login = url.username || url.origin !== home.origin ? url : home;
  const { username, password } = login;
  url.username = "";
  url.password = "";
  const text = `${decoded(username)}:${decoded(password)}`;
  const authorization = `Basic ${Buffer.from(text).toString("base64")}`;
  return {
    href: url.href,
    headers: { accept: ACCEPTED, ...(username ? { authorization } : {}) },
  };
}
