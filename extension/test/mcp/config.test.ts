import { expect, test } from "vitest";
import { entryDigest, readConfig } from "../../src/mcp/config.ts";

test("comments and trailing commas are read, and an empty file has no servers", () => {
  const text = `{
    // mine
    "servers": { "a": { "command": "x", }, /* no */ },
    "inputs": [{ "id": "k", "type": "promptString", "password": true }, 5, { "type": "x" },
      { "id": "p", "type": "pickString", "options": ["one", { "value": "two" }, 3] }],
  }`;
  const config = readConfig(text);
  expect([...config.servers]).toEqual([["a", { command: "x" }]]);
  expect(config.inputs.get("k")).toEqual({
    id: "k",
    type: "promptString",
    password: true,
    options: [],
  });
  expect(config.inputs.get("p")?.options).toEqual(["one", "two"]);
  expect(readConfig("").servers.size).toBe(0);
});

test.each([
  ['{\n"servers": {"a": }}', "in line 2"],
  ["[]", "must be an object"],
  ['{"servers": 5}', "must be an object"],
])("what is wrong with a file is said: %s", (text, words) => {
  expect(() => readConfig(text)).toThrow(words);
});

test("a digest changes with the entry and with the inputs that it names, and with nothing else", () => {
  const digest = (args: string[], description: string, other = "x") => {
    const config = readConfig(
      JSON.stringify({
        servers: { a: { command: "c", args, env: { K: "${input:k}" } }, b: { command: other } },
        inputs: [{ id: "k", type: "promptString", description }],
      }),
    );
    return entryDigest(config.servers.get("a"), config);
  };
  expect(digest([], "key")).toBe(digest([], "key", "y"));
  expect(digest(["-x"], "key")).not.toBe(digest([], "key"));
  expect(digest([], "another key")).not.toBe(digest([], "key"));
  const config = readConfig("");
  const withFile = (path: string, value: string) =>
    entryDigest({}, config, { path, variables: { A: value } });
  expect(withFile("/a", "1")).toBe(withFile("/a", "1"));
  const digests = [
    entryDigest({}, config),
    ...[withFile("/a", "1"), withFile("/b", "1"), withFile("/a", "2")],
  ];
  expect(new Set(digests).size).toBe(4);
});
