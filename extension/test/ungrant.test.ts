import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ungrant, ungranted } from "../e2e/ungrant.ts";

const WINDOW = "out/vs/code/browser/workbench/workbench.js";
const FILES = [
  "out/server-main.js",
  "out/vs/workbench/api/node/extensionHostProcess.js",
  "out/vs/workbench/api/worker/extensionHostWorkerMain.js",
  WINDOW,
];

/** As in the bundles of 1.139, between other code. */
function host(name = "Oe"): string {
  return (
    `constructor(t){this.dependency=t}};function ${name}(i,t){return!0}` +
    `function M(i,t){if(!${name}(i,t))throw new Error(\`Extension '\${i.identifier.value}' ` +
    "CANNOT use API proposal: ${t}. Its package.json#enabledApiProposals`)}function on(){return!0}"
  );
}

const FILTER = "this._envEnablesProposedApiForAll=!0,this._productEnabledExtensions=new Map";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "vscodelm-ungrant-"));
  for (const file of FILES) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), file === WINDOW ? host("uc") + FILTER : host());
  }
});

afterEach(() => rmSync(folder, { recursive: true }));

/** Run the check of a bundle, as an extension with these proposals that uses one of them. */
function use(source: string, enabledApiProposals: string[] | undefined, used: string): void {
  const check = source.slice(source.indexOf("function"));
  new Function("extension", "used", `${check};M(extension,used)`)(
    { identifier: { value: "some.extension" }, enabledApiProposals },
    used,
  );
}

test.each(["Oe", "$", "a$1", "_"])(
  "an extension has the proposals that were left to it (%s)",
  (name) => {
    expect(() => use(host(name), undefined, "chatProvider")).not.toThrow();
    const source = ungranted(host(name), false);
    expect(() => use(source, ["chatProvider"], "chatProvider")).not.toThrow();
    expect(() => use(source, ["chatProvider"], "embeddings")).toThrow("CANNOT use API proposal");
    expect(() => use(source, [], "chatProvider")).toThrow("CANNOT use API proposal");
    expect(() => use(source, undefined, "chatProvider")).toThrow("CANNOT use API proposal");
  },
);

test("the window leaves nobody what they declare", () => {
  const source = ungranted(host("uc") + FILTER, true);
  expect(source).toContain("ProposedApiForAll=!1,this._product");
  expect(source).not.toContain("ProposedApiForAll=!0");
});

test("every program of an installed editor is changed, and none of them twice", () => {
  expect(ungrant(folder)).toEqual(FILES);
  const texts = FILES.map((file) => readFileSync(join(folder, file), "utf8"));
  for (const text of texts) {
    expect(text).toContain("enabledApiProposals?.includes");
  }
  expect(ungrant(folder)).toEqual([]);
  expect(FILES.map((file) => readFileSync(join(folder, file), "utf8"))).toEqual(texts);
  expect(readdirSync(dirname(join(folder, WINDOW)))).toEqual(["workbench.js"]);
});

test.each([
  ["the check is not there", (text: string) => text.replace("CANNOT use", "may not use")],
  ["what it asks isn't the grant", (text: string) => text.replace("return!0", "return q(i,t)")],
  ["two functions are asked", (text: string) => text + host("Other")],
  ["the grant is there twice", (text: string) => `${text}function uc(a,b){return!0}`],
  ["the window grants in another way", (text: string) => text.replace("ForAll=!0", "ForAll=q()")],
])("an editor is refused in which %s", (_what, change) => {
  const file = join(folder, WINDOW);
  const before = change(readFileSync(file, "utf8"));
  writeFileSync(file, before);
  expect(() => ungrant(folder)).toThrow(/workbench\.js isn't as expected: /);
  expect(readFileSync(file, "utf8")).toBe(before);
});
