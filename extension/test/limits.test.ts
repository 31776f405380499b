import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import * as limits from "../src/limits.ts";

const at = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8");
const source = at("../src/limits.ts");
const page = at("../../docs/reference/limits.md");
const { missing, rows } = readPage();

/** Return the table of the extension's limits on the page: each with its value, its words and its test. */
function readPage() {
  const [, section = ""] = page.split("## The VS Code extension");
  const found = section
    .split("\n")
    .flatMap((line) => (line.startsWith("| `") ? [line.slice(2, -2).split(" | ")] : []))
    .map(([name = "", value, , , file = ""]) => ({
      name: name.slice(1, -1),
      value,
      file: file.slice(1, -1),
    }));
  return { rows: found, missing: Object.keys(limits).filter((name) => !section.includes(name)) };
}

/** Return a value with its unit, which the name says. */
function shown(name: string, value: number): string {
  const units: [number, string][] = name.endsWith("_BYTES")
    ? [
        [1024 ** 2, "MiB"],
        [1024, "KiB"],
      ]
    : [
        [60_000, "min"],
        [1_000, "s"],
        [1, "ms"],
      ];
  if (!/_(BYTES|MS)$/.test(name)) {
    return value.toLocaleString("en");
  }
  const [size, unit] = units.find(([size]) => value % size === 0) ?? [1, ""];
  return `${value / size} ${unit}`;
}

test("the page of limits has all of the extension's, with their values", () => {
  expect(missing).toEqual([]);
  expect(rows.map(({ name, value }) => [name, value]).sort()).toEqual(
    Object.entries(limits)
      .map(([name, value]) => [name, shown(name, value)])
      .sort(),
  );
});

test("each limit is used in the tests that the page names", () => {
  for (const { name, file } of rows) {
    expect(at(`../${file}`), `${file} for ${name}`).toContain(name);
  }
});

test("the words of each limit stand beside it", () => {
  const described = [...source.matchAll(/\/\*\* .+ \*\/\nexport const (\w+) =/g)];
  expect(described.map(([, name]) => name)).toEqual(
    [...source.matchAll(/export const (\w+)/g)].map(([, name]) => name),
  );
});
