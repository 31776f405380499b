import { expect, test } from "vitest";
import { entriesIn } from "../../src/mcp/entries.ts";
import { profileOf } from "../../src/mcp/files.ts";

const FILE = `// the user's
{
  "servers": {
    /* with a key */
    "issues": { "command": "npx", "env": { "KEY": "\${input:key}-\${input:key}", "URL": "http://x//y" } },
    "odd": 5,
  },
  "inputs": [
    { "id": "key", "type": "promptString", "description": "A key", "password": true },
    { "id": "unused" },
    { "id": "mode", "type": "pickString", "options": ["a", { "label": "B", "value": "b" }, 5] },
    "odd",
  ],
}`;

test("comments and trailing commas are as in VS Code, and an entry knows its inputs", () => {
  const [issues, odd] = entriesIn(FILE);
  expect(issues?.fields.command).toBe("npx");
  expect(issues?.inputs).toEqual([
    {
      ...{ id: "key", type: "promptString", description: "A key", password: true },
      ...{ fallback: undefined, options: [] },
    },
  ]);
  expect(odd).toEqual({ name: "odd", fields: {}, inputs: [], unknownInputs: [] });
});

test("an input has its options, and one that the file lacks is told", () => {
  const text = FILE.replace('"odd": 5', '"odd": { "url": "${input:mode}${input:gone}" }');
  const odd = entriesIn(text)[1];
  expect(odd?.inputs[0]?.options).toEqual(["a", "b"]);
  expect(odd?.unknownInputs).toEqual(["gone"]);
});

test.each([
  ["", []],
  ["{}", []],
  ["[]", []],
  ['{"inputs": "odd", "servers": {"a": {}}}', ["a"]],
])("%j has these entries: %j", (text, names) => {
  expect(entriesIn(text).map(({ name }) => name)).toEqual(names);
});

test.each([
  ['{"servers": {\n"a": }}', "it is no JSON: ValueExpected in line 2"],
  ['{"servers": {"a": {"env": {"KEY": "s3cret', "it is no JSON: UnexpectedEndOfString in line 1"],
  ['{"servers": ["s3cret"]}', "`servers` is no object"],
])("%j is refused, and no value of it is told", (text, reason) => {
  expect(() => entriesIn(text)).toThrow(reason);
  expect(() => entriesIn(text)).not.toThrow("s3cret");
});

const STORAGE = {
  profileAssociations: {
    workspaces: {
      "file:///own": "a1",
      "file:///shared": "b2",
      "file:///plain": "__default__profile__",
    },
  },
  userDataProfiles: [
    { location: "a1", name: "Own" },
    { location: "b2", name: "Shared", useDefaultFlags: { mcp: true } },
  ],
};

test.each([
  ["file:///own", "a1"],
  ["file:///shared", undefined],
  ["file:///plain", undefined],
  ["file:///other", undefined],
  [undefined, undefined],
])("the window of %s has the profile %s", (workspace, profile) => {
  expect(profileOf(STORAGE, workspace)).toBe(profile);
});

test("a storage that says something odd means the default profile", () => {
  const of = (id: unknown) => ({ profileAssociations: { workspaces: { x: id } } });
  for (const storage of [undefined, 5, {}, of(5), of("../../elsewhere")]) {
    expect(profileOf(storage, "x")).toBeUndefined();
  }
});
