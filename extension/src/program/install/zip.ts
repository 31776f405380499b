// One file out of a zip archive, which a wheel is. The archive's own list of its files is followed, and
// nothing is unpacked that wasn't asked for.

import { inflateRawSync } from "node:zlib";

const END = 0x06054b50;
const ENTRY = 0x02014b50;
const LOCAL = 0x04034b50;
const END_BYTES = 22;
const ENTRY_BYTES = 46;
const LOCAL_BYTES = 30;
const STORED = 0;
const DEFLATED = 8;

/** Return the content of the first file whose path ends so. Throws if the archive hasn't got one. */
export function fileIn(archive: Buffer, ending: string, limit: number): Buffer {
  const end = archive.lastIndexOf(Buffer.from([0x50, 0x4b, 0x05, 0x06]));
  if (end < 0 || end + END_BYTES > archive.length || archive.readUInt32LE(end) !== END) {
    throw new Error("It isn't a zip archive.");
  }
  let at = archive.readUInt32LE(end + 16);
  for (let left = archive.readUInt16LE(end + 10); left > 0; left--) {
    if (at + ENTRY_BYTES > archive.length || archive.readUInt32LE(at) !== ENTRY) {
      throw new Error("The zip archive is damaged.");
    }
    const [name, extra, comment] = [28, 30, 32].map((place) => archive.readUInt16LE(at + place));
    const path = archive.toString("utf8", at + ENTRY_BYTES, at + ENTRY_BYTES + (name ?? 0));
    if (path.endsWith(ending)) {
      return contentOf(archive, at, limit);
    }
    at += ENTRY_BYTES + (name ?? 0) + (extra ?? 0) + (comment ?? 0);
  }
  throw new Error(`The zip archive has no ${ending}.`);
}

function contentOf(archive: Buffer, entry: number, limit: number): Buffer {
  const method = archive.readUInt16LE(entry + 10);
  const size = archive.readUInt32LE(entry + 20);
  const local = archive.readUInt32LE(entry + 42);
  if (local + LOCAL_BYTES > archive.length || archive.readUInt32LE(local) !== LOCAL) {
    throw new Error("The zip archive is damaged.");
  }
  const names = archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
  const start = local + LOCAL_BYTES + names;
  const data = archive.subarray(start, start + size);
  switch (method) {
    case STORED:
      return data;
    case DEFLATED:
      return inflateRawSync(data, { maxOutputLength: limit });
    default:
      throw new Error(`The zip archive uses an unknown compression method (${method}).`);
  }
}
