import { expect, test } from "vitest";
import { addressOf } from "../../../src/program/install/index_page.ts";

const PAGE = "https://index.example/simple/uv/";
const JSON_TYPE = "application/vnd.pypi.simple.v1+json";

test.each([
  ["../../files/uv-1.whl#sha256=ab", "https://index.example/files/uv-1.whl"],
  ["https://files.example/a/uv-1.whl?x=1&amp;y=2", "https://files.example/a/uv-1.whl?x=1&y=2"],
])("a link in HTML is followed from the page: %s", (link, expected) => {
  const page = `<a href="http://[">odd</a><a href='other.whl'>other</a>\n<a HREF="${link}">uv</a>`;
  expect(addressOf("uv-1.whl", page, "text/html; charset=utf-8", PAGE)).toBe(expected);
});

test("a file in JSON is found by its name, also where that is escaped", () => {
  const files = [null, {}, { url: 3 }, { url: "uv-1%2Blocal.whl" }, { url: "uv-2%ZZ.whl" }];
  const page = JSON.stringify({ files });
  expect(addressOf("uv-1+local.whl", page, JSON_TYPE, PAGE)).toBe(`${PAGE}uv-1%2Blocal.whl`);
  expect(addressOf("uv-2%ZZ.whl", page, JSON_TYPE, PAGE)).toBe(`${PAGE}uv-2%ZZ.whl`);
  expect(addressOf("uv-3.whl", page, JSON_TYPE, PAGE)).toBeUndefined();
});

test.each(["", "null", "[]", "{", '{"files": 3}'])("a page that says %j lists nothing", (page) => {
  expect(addressOf("uv-1.whl", page, JSON_TYPE, PAGE)).toBeUndefined();
  expect(addressOf("uv-1.whl", page, "text/html", PAGE)).toBeUndefined();
});
