import { expect, test } from "vitest";
import { hidden, secretsIn } from "../../src/inspection/hidden.ts";

test("known values are hidden, the longer ones first", () => {
  expect(hidden("a swordfish-2, a swordfish", ["swordfish", "swordfish-2"])).toBe(
    "a [redacted], a [redacted]",
  );
});

test("a short value is a word like others", () => {
  expect(hidden("it is true", ["true", ""])).toBe("it is true");
});

test.each([
  ["https://me:pw@host/x", "https://[redacted]@host/x"],
  ["Authorization: Bearer abc", "Authorization: [redacted]"],
  ["the key sk-ant-api03-0123456789", "the key [redacted]"],
  ["a risk-averse-person-writes", "a risk-averse-person-writes"],
])("what looks like a secret is hidden: %s", (text, without) => {
  expect(hidden(text, [])).toBe(without);
});

test("the secrets of a definition are found, wherever they stand", () => {
  const definition = {
    acp: {
      name: "Claude",
      command: "claude-code",
      env: [{ name: "TOKEN", value: "secret-value" }],
      args: ["--fast"],
    },
    open_responses: { baseUrl: "http://host", apiKey: "another-key", headers: { "X-A": "third" } },
    nothing: null,
    count: 3,
  };
  expect(secretsIn(definition)).toEqual(["secret-value", "another-key", "third"]);
  expect(secretsIn({ A: "value" }, "variable")).toEqual(["value"]);
  expect(secretsIn(undefined)).toEqual([]);
});

test("paths and addresses in variables are needed, unless their name says that they are secret", () => {
  const variables = {
    PYTHONPATH: "/home/me/project",
    HTTP_PROXY: "http://proxy:3128",
    WITH_KEY: "http://proxy/?key=abcdef",
    MY_TOKEN: "/abcdef",
  };
  expect(secretsIn(variables, "variable")).toEqual(["http://proxy/?key=abcdef", "/abcdef"]);
});
