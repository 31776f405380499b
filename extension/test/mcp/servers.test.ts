import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { McpServers } from "../../src/mcp/servers.ts";
import { Memory, Vault } from "../memory.ts";
import { fileChanged, openAnew, openFolder, person, window, workspace } from "../vscode.ts";

let user: string;
let folder: string;
let memory: Memory;
let vault: Vault;
let it: McpServers;
const open: McpServers[] = [];

beforeEach(async () => {
  openAnew();
  const root = await mkdtemp(join(tmpdir(), "vscodelm-mcp-"));
  user = join(root, "User");
  folder = join(root, "app");
  memory = new Memory();
  vault = new Vault();
  it = await begun();
});

afterEach(() => {
  for (const one of open.splice(0)) {
    one.dispose();
  }
});

/** A window that has just been opened. */
async function begun(): Promise<McpServers> {
  const storage = join(user, "globalStorage", "us.vscodelm");
  const one = new McpServers(storage, memory, vault, window.createOutputChannel() as never);
  open.push(one);
  await one.begin();
  return one;
}

async function write(path: string, servers: object, inputs: object[] = []): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `// mine\n${JSON.stringify({ servers, inputs })}`);
}

const own = (servers: object, inputs?: object[]) => write(join(user, "mcp.json"), servers, inputs);
const file = () => join(folder, ".vscode", "mcp.json");
const ofFolder = (servers: object, inputs?: object[]) => write(file(), servers, inputs);
const NODE = { command: process.execPath };

async function choose(...names: string[]): Promise<string[]> {
  person.ticks.push(names);
  await it.choose();
  return (await it.servers()).map(({ name }) => name);
}

test("nothing is handed over before the user has chosen it", async () => {
  await own({ a: NODE, b: { url: "https://b" } });
  it = await begun();
  expect(await it.servers()).toEqual([]);
  expect(await choose("b")).toEqual(["b"]);
  expect(person.lines).toEqual([`|your mcp.json|${process.execPath}`, "|your mcp.json|https://b"]);
  expect(person.asked.at(-1)).toContain("MCP servers that agents get: b.");
  it = await begun();
  expect(await it.servers()).toEqual([{ name: "b", type: "http", url: "https://b", headers: [] }]);
  expect(it.names).toEqual(["b"]);
});

test("who leaves the list changes nothing, and who ticks nothing takes all back", async () => {
  await own({ a: NODE });
  expect(await choose("a")).toEqual(["a"]);
  await it.choose();
  expect(it.names).toEqual(["a"]);
  expect(person.lines.at(-1)).toMatch(/^x\|/);
  expect(await choose()).toEqual([]);
});

test("where there is no server, that is said", async () => {
  await it.choose();
  expect(person.asked[0]).toContain("There is no MCP server");
  expect(person.lists).toEqual([]);
});

test("what can't be handed over is listed with the reason, and isn't by being ticked", async () => {
  await own({ far: { url: "https://far", oauth: { clientId: "c" } }, a: NODE });
  expect(await choose("a", "far")).toEqual(["a"]);
  expect(person.lists[0]).toEqual(["a", "Agents can't be given these", "far"]);
  expect(person.lines.at(-1)).toContain("Can't be given: VS Code logs in to it with OAuth");
  expect(person.asked[0]).toContain("Agents can't be given far: VS Code logs in");
});

test("an input is asked for once, kept as a secret, and forgotten with its server", async () => {
  const inputs = [
    { id: "key", type: "promptString", description: "A key.", password: true },
    { id: "mode", type: "pickString", options: ["slow", "fast"] },
  ];
  const args = ["${input:key}", "${input:mode}"];
  await own({ a: { ...NODE, args }, b: { ...NODE, args: ["${input:mode}"] } }, inputs);
  person.types = ["s3cret-value"];
  person.picks = ["fast"];
  expect(await choose("a", "b")).toEqual(["a", "b"]);
  const [a] = await it.servers();
  expect([a?.args, a?.secrets]).toEqual([["s3cret-value", "fast"], ["s3cret-value"]]);
  expect(person.boxes).toHaveLength(1);
  expect(person.boxes[0]).toMatchObject({
    password: true,
    prompt: expect.stringContaining("A key."),
  });
  await choose("a", "b");
  it = await begun();
  expect(it.names).toEqual(["a", "b"]);
  expect(person.boxes).toHaveLength(1);
  expect(JSON.stringify(memory.get("mcpServers"))).not.toContain("s3cret");
  expect(person.log.join()).not.toContain("s3cret");
  expect(await vault.keys()).toHaveLength(2);
  expect(await choose("b")).toEqual(["b"]);
  expect(await vault.keys()).toHaveLength(1);
});

test("who gives no value allows nothing", async () => {
  await own({ a: { ...NODE, args: ["${input:key}"] } }, [{ id: "key", type: "promptString" }]);
  expect(await choose("a")).toEqual([]);
  await own({ a: NODE });
  it = await begun();
  expect(it.names).toEqual([]);
});

test("an entry that needs a value later isn't handed over, and the log says why", async () => {
  await own({ a: NODE });
  await choose("a");
  await own({ a: { ...NODE, args: ["${input:key}"] } }, [{ id: "key", type: "promptString" }]);
  it = await begun();
  expect(it.names).toEqual([]);
  expect(person.log.join("\n")).toContain("aren't given the MCP server a: it needs its input key");
});

test("a folder's server needs consent, server by server, which shows what it is", async () => {
  const env = { KEY: "${env:HOME}" };
  await ofFolder({ a: { ...NODE, args: ["server.js"], env }, b: NODE });
  openFolder(folder);
  expect(await choose("a", "b")).toEqual([]);
  expect(person.asked.filter((text) => text.includes("of the folder app?"))).toHaveLength(2);
  expect(person.details[0]).toContain(`${process.execPath} server.js`);
  expect(person.details[0]).toContain("variables of your environment: HOME");
  person.presses = "Allow";
  expect(await choose("a")).toEqual(["a"]);
  expect(await choose("a", "b")).toEqual(["a", "b"]);
  expect(person.details).toHaveLength(4); // nobody is asked again about what is allowed
});

test("a folder's server that changes needs consent anew", async () => {
  await ofFolder({ a: { ...NODE, args: ["${input:x}"] } }, [{ id: "x", type: "promptString" }]);
  openFolder(folder);
  person.presses = "Allow";
  person.types = ["typed"];
  it = await begun();
  expect(await choose("a")).toEqual(["a"]);
  const changes = vi.fn();
  it.onDidChange(changes);
  await ofFolder({ a: { ...NODE, args: ["evil.js"] } });
  fileChanged(file());
  await vi.waitFor(() => expect(changes).toHaveBeenCalledOnce());
  expect(it.names).toEqual([]);
  await vi.waitFor(() => expect(person.asked.at(-1)).toContain("has changed since you let agents"));
  const asked = person.asked.length;
  fileChanged(file());
  it.onDidChange(changes);
  await it.begin();
  expect(person.asked).toHaveLength(asked); // once for each change
  await ofFolder({ a: { ...NODE, args: ["${input:x}"] } }, [{ id: "x", type: "promptString" }]);
  await it.begin();
  expect(it.names).toEqual(["a"]); // as it was when it was allowed
});

test("who looks at the change can allow it", async () => {
  await ofFolder({ a: NODE });
  openFolder(folder);
  person.presses = "Allow";
  await choose("a");
  await ofFolder({ a: { ...NODE, args: ["new.js"] } });
  const show = vi.spyOn(window, "showWarningMessage");
  show.mockImplementation(async (_: string, ...rest: unknown[]) => rest.at(-1) as string);
  await it.begin();
  await vi.waitFor(() => expect(it.names).toEqual(["a"]));
  expect((await it.servers())[0]?.args).toEqual(["new.js"]);
  expect(show).toHaveBeenCalledTimes(2);
});

test.each([
  ["its file of variables", { ".vscode/.env": "NODE_OPTIONS=--require=./evil.js" }],
  ["the description of its input", { ".vscode/mcp.json": "" }],
])("it has changed, too, with %s", async (_what, files) => {
  const path = "${workspaceFolder}${/}.vscode${/}.env";
  const input = { id: "mode", type: "pickString", options: ["a", "b"] };
  const servers = { a: { ...NODE, envFile: path, args: ["${input:mode}"] } };
  await ofFolder(servers, [input]);
  await writeFile(join(folder, ".vscode", ".env"), "A=1");
  openFolder(folder);
  person.presses = "Allow";
  person.picks = ["a"];
  expect(await choose("a")).toEqual(["a"]);
  for (const [name, text] of Object.entries(files)) {
    if (text) {
      await writeFile(join(folder, name), text);
    } else {
      await ofFolder(servers, [{ ...input, options: ["evil"] }]);
    }
  }
  await it.begin();
  expect(it.names).toEqual([]);
});

test("in a folder that isn't trusted none of its servers is there", async () => {
  await ofFolder({ a: NODE });
  await own({ mine: NODE });
  openFolder(folder);
  person.presses = "Allow";
  expect(await choose("a", "mine")).toEqual(["mine", "a"]);
  workspace.isTrusted = false;
  await it.begin();
  expect(it.names).toEqual(["mine"]);
  await choose("a", "mine");
  expect(person.lists.at(-1)).toEqual(["mine"]);
});

test("two servers of one name get two, and the user's keeps it", async () => {
  await ofFolder({ a: NODE });
  await own({ a: NODE });
  openFolder(folder);
  person.presses = "Allow";
  expect(await choose("a")).toEqual(["a", "a-2"]);
});

test("a change of the user's own file counts at once", async () => {
  await own({ a: NODE });
  await choose("a");
  await own({ a: { ...NODE, args: ["more"] } });
  const changes = vi.fn();
  it.onDidChange(changes);
  fileChanged(join(user, "mcp.json"));
  await vi.waitFor(() => expect(changes).toHaveBeenCalledOnce());
  expect((await it.servers())[0]?.args).toEqual(["more"]);
});

test("a file that is broken is told once, without what stands in it", async () => {
  await mkdir(user, { recursive: true });
  await writeFile(join(user, "mcp.json"), '{"servers": {"a": {"env": {"KEY": "s3cret');
  it = await begun();
  await it.begin();
  const told = person.log.filter((line) => line.includes("can't be read for MCP servers"));
  expect(told).toHaveLength(1);
  expect(told[0]).toContain("it is no JSON");
  expect(person.log.join()).not.toContain("s3cret");
});

test("a profile has its own file", async () => {
  openFolder(folder);
  await own({ a: NODE });
  await write(join(user, "profiles", "p1", "mcp.json"), { of_profile: NODE });
  const associations = { workspaces: { [String(workspace.workspaceFolders?.[0]?.uri)]: "p1" } };
  await mkdir(join(user, "globalStorage"), { recursive: true });
  await writeFile(
    join(user, "globalStorage", "storage.json"),
    JSON.stringify({ profileAssociations: associations }),
  );
  await choose();
  expect(person.lists.at(-1)).toEqual(["of_profile"]);
});
