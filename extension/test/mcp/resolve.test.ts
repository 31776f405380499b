import { sep } from "node:path";
import { expect, test } from "vitest";
import { entriesIn } from "../../src/mcp/entries.ts";
import {
  environmentIn,
  NotGiven,
  resolve,
  type Surroundings,
  whyNot,
} from "../../src/mcp/resolve.ts";

const AROUND: Surroundings = {
  folder: "/work/app",
  workingFolder: "/work/app",
  userHome: "/home/me",
  env: { API_KEY: "from-outside", LEVEL: "debug" },
  input: async (id) => ({ key: "typed", mode: "fast" })[id],
  find: async (command) => ({ npx: "/bin/npx", "/work/app/run": "/work/app/run" })[command],
  read: async (path) => {
    if (path === "/work/app/.env") {
      return "A=from file\nB='two words'\n# C=no\n";
    }
    throw new Error("no such file");
  },
};
const INPUTS = [
  { id: "key", type: "promptString" },
  { id: "mode", type: "pickString", options: ["fast"] },
  { id: "later", type: "promptString" },
  { id: "run", type: "command", command: "x" },
];

function entry(fields: object) {
  const [found] = entriesIn(JSON.stringify({ servers: { it: fields }, inputs: INPUTS }));
  return found as NonNullable<typeof found>;
}

async function resolved(fields: object, around: Partial<Surroundings> = {}) {
  return resolve(entry(fields), { ...AROUND, ...around });
}

test("a program gets its file on PATH, and all that its entry names", async () => {
  const env = { B: "${env:LEVEL}", N: 5, GONE: null, KEY: "${input:key}" };
  const fields = {
    command: "npx",
    args: ["-y", "${userHome}${/}x"],
    env,
    cwd: "${workspaceFolder}",
  };
  expect(await resolved({ ...fields, envFile: "${workspaceFolder}/.env" })).toEqual({
    name: "it",
    command: "/bin/npx",
    args: ["-y", `/home/me${sep}x`],
    env: [
      { name: "A", value: "from file" },
      { name: "B", value: "debug" },
      { name: "N", value: "5" },
      { name: "KEY", value: "typed" },
    ],
    secrets: ["typed"],
  });
});

test.each([
  [{ url: "https://x/${workspaceFolderBasename}" }, "http", "https://x/app"],
  [{ type: "sse", url: "http://x" }, "sse", "http://x"],
])("an address is called: %j", async (fields, type, url) => {
  const headers = { Authorization: "Bearer ${env:API_KEY}" };
  expect(await resolved({ ...fields, headers })).toEqual({
    name: "it",
    type,
    url,
    headers: [{ name: "Authorization", value: "Bearer from-outside" }],
    secrets: ["from-outside"],
  });
});

test("what is chosen from a list is no secret, and a variable that isn't set is empty", async () => {
  const server = await resolved({ command: "npx", args: ["${input:mode}", "${env:NONE}"] });
  expect(server).toEqual({ name: "it", command: "/bin/npx", args: ["fast", ""], env: [] });
});

test.each([
  [{}, "neither a command nor a url"],
  [{ type: "odd", command: "npx" }, "its type isn't known"],
  [{ url: "https://x", oauth: { clientId: "c" } }, "OAuth"],
  [{ command: "npx", sandboxEnabled: true }, "sandbox"],
  [{ command: "npx", args: ["${config:x}"] }, "the variable ${config:x} isn't known here"],
  [{ command: "npx", args: ["${workspaceFolder:lib}"] }, "${workspaceFolder:lib} isn't known"],
  [{ command: "npx", args: ["${input:gone}"] }, "doesn't describe the input gone"],
  [{ command: "npx", args: ["${input:run}"] }, "its input run isn't asked for"],
  [{ command: 5 }, "its command is no text"],
  [{ command: "npx", args: "s3cret" }, "its args are no list"],
  [{ command: "npx", env: { A: ["s3cret"] } }, "its env is no object"],
  [{ command: "npx", envFile: 5 }, "its envFile or its cwd is no text"],
  [{ command: "npx", envFile: "/${input:key}" }, "its envFile depends on an input"],
  [{ url: "unix:///s3cret" }, "its url isn't one of http"],
  [{ url: "https://x", headers: ["s3cret"] }, "its headers are no object"],
])("an agent isn't given %j", async (fields, reason) => {
  expect(whyNot(entry(fields))).toContain(reason);
  expect(whyNot(entry(fields))).not.toContain("s3cret");
  await expect(resolved(fields)).rejects.toThrow(NotGiven);
});

test.each([
  [{ command: "gone" }, "its command isn't found"],
  [{ command: "npx", cwd: "/elsewhere" }, "another working folder"],
  [{ command: "npx", envFile: "${workspaceFolder}/none" }, "its envFile can't be read"],
  [{ command: "npx", envFile: ".env" }, "its envFile is no absolute path"],
  [{ command: "npx", args: ["${input:later}"] }, "it needs its input later"],
  [{ url: "${input:key}" }, "its url isn't one of http"],
])("what is known only here is a reason, too: %j", async (fields, reason) => {
  expect(whyNot(entry(fields))).toBeUndefined();
  await expect(resolved(fields)).rejects.toThrow(reason);
});

test("without a folder there is none to fill in", async () => {
  const fields = { command: "npx", args: ["${workspaceFolder}"] };
  await expect(resolved(fields, { folder: undefined })).rejects.toThrow("none is open");
});

test("the variables of the environment that an entry gets are known", () => {
  const fields = { command: "npx", args: ["${env:A}${env:B}"], env: { X: "${env:A}${userHome}" } };
  expect(environmentIn(entry(fields))).toEqual(["A", "B"]);
});
