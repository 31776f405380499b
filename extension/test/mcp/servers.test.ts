import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { beforeEach, expect, test, vi } from "vitest";
import { ENV_FILE_MS } from "../../src/limits.ts";
import { chooseMcpServers, reviewChanged } from "../../src/mcp/choose.ts";
import { userFile } from "../../src/mcp/profile.ts";
import { type Listed, McpServers } from "../../src/mcp/servers.ts";
import { Memory, Vault } from "../memory.ts";
import { fileChanged, openAnew, openFolder, person, watched, workspace } from "../vscode.ts";

let memory: Memory;
let vault: Vault;
let users: string;
let folder: string;
const lines: string[] = [];
const log = { info: (line: string) => lines.push(line), warn: (line: string) => lines.push(line) };

beforeEach(async () => {
  openAnew();
  lines.length = 0;
  memory = new Memory();
  vault = new Vault();
  users = join(await mkdtemp(join(tmpdir(), "vscodelm-mcp-")), "mcp.json");
  folder = await mkdtemp(join(tmpdir(), "vscodelm-folder-"));
});

function opened(): McpServers {
  return new McpServers(memory, vault, users, log as never);
}

async function write(file: string, servers: object, inputs: object[] = []): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `// mine\n${JSON.stringify({ servers, inputs })}`);
}

const own = () => join(folder, ".vscode", "mcp.json");
const names = (servers: McpServers) => servers.handed.map(({ name }) => name);
const FILES = { command: "/bin/files" };

test("the user's file is that of the profile in use", async () => {
  const user = dirname(users);
  const storage = join(user, "globalStorage", "x.y");
  expect(userFile(storage)).toBe(users);
  openFolder(folder);
  const workspaces = { [String(workspace.workspaceFolders?.[0]?.uri)]: "p1" };
  await mkdir(storage, { recursive: true });
  await writeFile(
    join(user, "globalStorage", "storage.json"),
    JSON.stringify({ profileAssociations: { workspaces } }),
  );
  expect(userFile(storage)).toBe(join(user, "profiles", "p1", "mcp.json"));
});

test("no server is handed over until the user ticks it, and none after they untick it", async () => {
  await write(users, { files: FILES, wiki: { url: "https://wiki/mcp" } });
  const servers = opened();
  const changed = vi.fn();
  servers.onDidChange(changed);
  await servers.ready();
  expect(names(servers)).toEqual([]);
  person.ticks.push(["wiki"]);
  await chooseMcpServers(servers);
  expect(names(servers)).toEqual(["wiki"]);
  expect(person.asked).toEqual([]);
  expect(person.explained.get("wiki")).toContain("If it needs a login, agents can't use it.");
  const another = opened();
  await another.ready();
  expect(names(another)).toEqual(["wiki"]);
  await chooseMcpServers(servers); // they leave the list
  expect(names(servers)).toEqual(["wiki"]);
  person.ticks.push([]);
  await chooseMcpServers(servers);
  expect(names(servers)).toEqual([]);
  expect(changed).toHaveBeenCalledTimes(2);
});

test("the user's own entry may change, and what isn't handed over is told with its reason", async () => {
  await write(users, { files: FILES, login: { url: "https://l", oauth: { clientId: "i" } } });
  const servers = opened();
  person.ticks.push(["files", "login"]);
  await chooseMcpServers(servers);
  expect(names(servers)).toEqual(["files"]);
  expect(person.explained.get("login")).toContain("OAuth");
  expect(person.asked.join()).toContain(
    'Agents can\'t be given "login": it needs a login by OAuth',
  );
  await write(users, { files: { command: "/bin/others" } });
  const changed = new Promise<void>((resolve) => servers.onDidChange(() => resolve()));
  await servers.foldersChanged();
  expect(servers.handed).toMatchObject([{ command: "/bin/others" }]);
  await changed;
  await write(users, { files: { command: "${env:NO_SUCH_VARIABLE}" } });
  fileChanged.fire();
  await servers.refresh();
  expect(names(servers)).toEqual([]);
  const said = lines.filter((line) => line.includes("NO_SUCH_VARIABLE"));
  expect(said).toHaveLength(1);
});

test("a folder's server needs consent to its entry as it is, and again when that changes", async () => {
  openFolder(folder);
  await write(own(), { files: FILES, other: FILES });
  const servers = opened();
  person.ticks.push(["files"]);
  await chooseMcpServers(servers);
  expect(names(servers)).toEqual([]);
  expect(person.asked).toHaveLength(1);
  person.presses = "Allow";
  person.ticks.push(["files"]);
  await chooseMcpServers(servers);
  expect(names(servers)).toEqual(["files"]);
  expect(person.details.at(-1)).toContain('"command": "/bin/files"');
  expect(person.details.at(-1)).toContain(own());
  const changed = vi.fn();
  servers.onDidChangeEntries(changed);
  await write(own(), { files: FILES, other: { command: "/bin/new" } });
  await servers.refresh();
  expect(names(servers)).toEqual(["files"]);
  await write(own(), { files: { command: "/bin/files", args: ["--evil"] } });
  await servers.refresh();
  await servers.refresh();
  expect(names(servers)).toEqual([]);
  expect(changed).toHaveBeenCalledTimes(1);
  const [entries] = changed.mock.calls[0] ?? [];
  person.presses = "Review";
  await reviewChanged(servers, entries);
  expect(person.details.at(-1)).toContain("--evil");
  expect(names(servers)).toEqual([]); // reviewed, but not allowed
  person.presses = "Allow";
  person.ticks.push(["files"]);
  await chooseMcpServers(servers);
  expect(names(servers)).toEqual(["files"]);
});

test("a folder's file of variables is a part of the consent", async () => {
  openFolder(folder);
  const variables = join(folder, ".env");
  await write(own(), { files: { ...FILES, envFile: "${workspaceFolder}/.env" } });
  await writeFile(variables, "# mine\nNODE_OPTIONS=--good\n");
  const servers = opened();
  person.presses = "Allow";
  person.ticks.push(["files"]);
  await chooseMcpServers(servers);
  expect(names(servers)).toEqual(["files"]);
  expect(person.details.at(-1)).toContain(`${variables} sets these variables:`);
  expect(person.details.at(-1)).toContain('NODE_OPTIONS="--good"');
  await writeFile(variables, "NODE_OPTIONS=--good\n"); // nothing that counts has changed
  await servers.refresh();
  expect(names(servers)).toEqual(["files"]);
  const changed = new Promise<Listed[]>((resolve) => servers.onDidChangeEntries(resolve));
  await writeFile(variables, "NODE_OPTIONS=--evil\n");
  const entries = await changed;
  expect(names(servers)).toEqual([]);
  expect(await servers.statuses()).toMatchObject([
    { name: "files", status: expect.stringContaining("waits for your consent") },
  ]);
  person.presses = "Review";
  await reviewChanged(servers, entries);
  expect(person.details.at(-1)).toContain('NODE_OPTIONS="--evil"');
  expect(names(servers)).toEqual([]);
  await writeFile(variables, `A=${"x".repeat(3000)}`);
  await servers.refresh();
  person.presses = "Allow";
  person.ticks.push(["files"]);
  await chooseMcpServers(servers);
  expect(names(servers)).toEqual([]);
  expect(person.asked.at(-1)).toContain("can't be shown whole");
});

test("a file of variables that is gone is no question", async () => {
  openFolder(folder);
  await write(own(), { files: { ...FILES, envFile: "${workspaceFolder}/.env" } });
  await writeFile(join(folder, ".env"), "A=1\n");
  const servers = opened();
  const changed = vi.fn();
  servers.onDidChangeEntries(changed);
  person.presses = "Allow";
  person.ticks.push(["files"]);
  await chooseMcpServers(servers);
  await rm(join(folder, ".env"));
  await servers.refresh();
  expect(names(servers)).toEqual([]);
  expect(lines.filter((line) => line.includes("ENOENT"))).toHaveLength(1);
  const back = new Promise<void>((resolve) => servers.onDidChange(resolve));
  await writeFile(join(folder, ".env"), "A=1\n");
  await back;
  expect(names(servers)).toEqual(["files"]);
  expect(changed).not.toHaveBeenCalled();
});

test("only the files that count are watched", async () => {
  openFolder(folder);
  const variables = join(folder, ".env");
  await write(users, { files: { ...FILES, envFile: variables } });
  await writeFile(variables, "A=1\n");
  const servers = opened();
  await servers.foldersChanged();
  expect([...watched].sort()).toEqual([users, own()].sort());
  person.ticks.push(["files"]);
  await chooseMcpServers(servers);
  const from = Date.now();
  const changed = new Promise<void>((resolve) => servers.onDidChange(resolve));
  await rm(variables);
  await changed;
  expect(Date.now() - from).toBeLessThan(10 * ENV_FILE_MS);
  expect(names(servers)).toEqual([]);
  workspace.workspaceFolders = undefined;
  await servers.foldersChanged();
  expect([...watched]).toEqual([users]);
  servers.dispose();
  await servers.refresh();
  expect([...watched]).toEqual([]);
});

test("the doctor is told each server's name and status, and nothing of its entry", async () => {
  const inputs = [{ id: "token", type: "promptString" }];
  const asking = { command: "/bin/asking", args: ["s3cret", "${input:token}"] };
  const login = { url: "https://s3cret.example", oauth: {} };
  await write(users, { files: { ...FILES, args: ["s3cret"] }, asking, login }, inputs);
  openFolder(folder);
  await write(own(), { build: FILES });
  const servers = opened();
  person.presses = "Allow";
  person.ticks.push(["files", "build"]);
  await chooseMcpServers(servers);
  await write(own(), { build: { command: "/bin/s3cret" } });
  expect(await servers.statuses()).toEqual([
    { name: "files", status: "handed over to agents" },
    { name: "asking", status: "not chosen for agents" },
    {
      name: "login",
      status: "can't be given to agents: it needs a login by OAuth, which VS Code can't hand over",
    },
    { name: "build", status: "waits for your consent: it has changed since you agreed" },
  ]);
  person.types.push("typed");
  person.ticks.push(["asking"]);
  await chooseMcpServers(servers);
  await vault.delete((await vault.keys())[0] ?? "");
  expect((await servers.statuses())[1]?.status).toBe("it needs an answer to token");
});

test("only of a server that may need a login the list and the doctor say so", async () => {
  const url = "https://wiki/mcp";
  await write(users, {
    key: { url, headers: { "X-Team": "a" } },
    login: { url, headers: { authorization: "Bearer b" } },
    files: FILES,
  });
  const servers = opened();
  person.ticks.push(["key", "login", "files"]);
  await chooseMcpServers(servers);
  expect((await servers.statuses()).map(({ status }) => status)).toEqual([
    "handed over to agents; if it needs a login, they can't use it",
    "handed over to agents",
    "handed over to agents",
  ]);
  const details = ["key", "login", "files"].map((name) => person.explained.get(name));
  expect(details).toEqual([
    "An http server. If it needs a login, agents can't use it.",
    "An http server.",
    "A program: /bin/files",
  ]);
});

test("nothing of a folder counts that isn't trusted", async () => {
  openFolder(folder);
  await write(own(), { files: FILES });
  const servers = opened();
  person.presses = "Allow";
  person.ticks.push(["files"]);
  await chooseMcpServers(servers);
  expect(names(servers)).toEqual(["files"]);
  workspace.isTrusted = false;
  await servers.refresh();
  expect(names(servers)).toEqual([]);
});

test("an entry that can't be shown whole can't be allowed, and nothing in one is hidden", async () => {
  openFolder(folder);
  const long = { command: "/bin/files", args: [" ".repeat(3000), "--evil"] };
  await write(own(), { long, turned: { command: "/bin/\u202efiles" } });
  const servers = opened();
  person.presses = "Allow";
  person.ticks.push(["long", "turned"]);
  await chooseMcpServers(servers);
  expect(names(servers)).toEqual(["turned"]);
  expect(person.asked[0]).toContain("can't be shown whole");
  expect(person.details[0]).toContain("/bin/⟨U+202E⟩files");
});

test("an answer is asked for once, kept as a secret, and forgotten with the server", async () => {
  const inputs = [
    { id: "key", type: "promptString", description: "Your key", password: true },
    { id: "size", type: "pickString", options: ["big", "small"] },
  ];
  await write(users, { files: { ...FILES, args: ["${input:key}", "${input:size}"] } }, inputs);
  const servers = opened();
  person.ticks.push(["files"]);
  await chooseMcpServers(servers); // they leave the box
  expect(names(servers)).toEqual([]);
  person.ticks.push(["files"]);
  person.types.push("hunter2");
  person.picks.push("small");
  await chooseMcpServers(servers);
  expect(servers.handed).toMatchObject([{ args: ["hunter2", "small"], secrets: ["hunter2"] }]);
  expect(person.boxes.at(-1)).toMatchObject({ password: true });
  expect(person.boxes.at(-1)?.title).toContain("Your key");
  person.ticks.push(["files"]);
  const asked = person.boxes.length;
  await chooseMcpServers(servers);
  const another = opened();
  await another.ready();
  expect(person.boxes).toHaveLength(asked);
  expect(another.handed).toEqual(servers.handed);
  expect(JSON.stringify(memory.get("mcpServers"))).not.toContain("hunter2");
  expect(lines.join()).not.toContain("hunter2");
  expect(await vault.keys()).toHaveLength(2);
  person.ticks.push([]);
  await chooseMcpServers(servers);
  expect(await vault.keys()).toEqual([]);
});

test("a folder's file gets no answer that was given for another file", async () => {
  const inputs = [{ id: "key", type: "promptString" }];
  const entry = { ...FILES, args: ["${input:key}"] };
  await write(users, { mine: entry }, inputs);
  await write(own(), { theirs: entry }, inputs);
  openFolder(folder);
  const servers = opened();
  person.presses = "Allow";
  person.types.push("hunter2");
  person.ticks.push(["mine"]);
  await chooseMcpServers(servers);
  person.ticks.push(["mine", "theirs"]);
  await chooseMcpServers(servers);
  expect(names(servers)).toEqual(["mine"]);
});

test("a file that can't be read is told once, and the others count", async () => {
  openFolder(folder);
  await write(users, { files: FILES });
  await mkdir(dirname(own()), { recursive: true });
  await writeFile(own(), "{");
  const servers = opened();
  person.ticks.push(["files"]);
  await chooseMcpServers(servers);
  expect(names(servers)).toEqual(["files"]);
  expect(lines.filter((line) => line.includes(own()))).toHaveLength(1);
});

test("without any server the user is told where they come from", async () => {
  await chooseMcpServers(opened());
  expect(person.asked.join()).toContain(".vscode/mcp.json");
});
