import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { MOST_BYTES, openText, RELOAD_MS } from "../../src/edits/open_text.ts";
import { openBuffer } from "../window.ts";

let folder: string;
let file: string;
let buffer: ReturnType<typeof openBuffer> | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "texts-"));
  file = join(folder, "a.py");
  await writeFile(file, "disk\n");
});

afterEach(async () => {
  vi.useRealTimers();
  buffer?.close();
  buffer = undefined;
  await rm(folder, { recursive: true });
});

test("a file that isn't open is read from the disk", async () => {
  expect(await openText(file)).toEqual({ text: "disk\n", isDirty: false });
});

test("text that isn't saved is what the user sees", async () => {
  buffer = openBuffer(file, "typed", true);
  expect(await openText(file)).toEqual({ text: "typed", isDirty: true });
});

test("a new file that isn't saved has a text, too", async () => {
  const path = join(folder, "new");
  buffer = openBuffer(path, "typed", true);
  expect(await openText(path)).toEqual({ text: "typed", isDirty: true });
});

test("line ends and a byte order mark aren't a change", async () => {
  await writeFile(file, "\ufeffa\r\nb");
  buffer = openBuffer(file, "a\nb");
  expect((await openText(file)).isDirty).toBe(false);
});

test("a change by another program is returned when the editor has taken it over", async () => {
  buffer = openBuffer(file, "before\n");
  let isSettled = false;
  const reading = openText(file).finally(() => {
    isSettled = true;
  });
  await vi.waitFor(() => expect(isSettled).toBe(false));
  buffer.change("still before\n");
  await new Promise((resolve) => setImmediate(resolve));
  expect(isSettled).toBe(false);
  buffer.change("disk\n");
  expect(await reading).toEqual({ text: "disk\n", isDirty: false });
});

test("an editor that doesn't take a change over isn't waited for for long", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  buffer = openBuffer(file, "before\n");
  const reading = openText(file);
  await vi.advanceTimersByTimeAsync(RELOAD_MS);
  expect(await reading).toEqual({ text: "disk\n", isDirty: false });
});

test("a missing file has no text", async () => {
  expect(await openText(join(folder, "no"))).toEqual({ text: null, isDirty: false });
});

test.each([
  [() => folder, "It is a folder."],
  [() => "a.py", "The path isn't absolute."],
  [() => 7, "The path isn't absolute."],
])("what is no file is refused %#", async (path, why) => {
  await expect(openText(path())).rejects.toThrow(why);
});

test.each([
  ["binary", Buffer.from([65, 0, 66]), "It is binary."],
  ["in another encoding", Buffer.from([0xe4, 0x20]), "It isn't text in UTF-8."],
  ["too large", Buffer.alloc(MOST_BYTES + 1, 65), "It has more than 16 MB."],
])("a file that is %s is refused", async (_, bytes, why) => {
  await writeFile(file, bytes);
  await expect(openText(file)).rejects.toThrow(why);
});
