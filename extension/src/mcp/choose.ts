// The user chooses which MCP servers agents are given. To one of a folder they agree after they have
// seen its whole entry; what it asks for is asked once.

import * as vscode from "vscode";
import { withoutUnseen } from "../unseen.ts";
import type { McpInput } from "./config.ts";
import { type Listed, type McpServers, mayNeedLogin, why } from "./servers.ts";

/** The longest entry that can be shown whole; to what can't be seen nobody can agree. */
const MAX_SHOWN = 2000;
const ALLOW = "Allow";
const REVIEW = "Review";

/** Let the user choose; what isn't chosen any more is given to no agent. */
export async function chooseMcpServers(servers: McpServers): Promise<void> {
  const listed = await servers.list();
  if (listed.length === 0) {
    void vscode.window.showInformationMessage(
      "There are no MCP servers: neither your mcp.json nor a folder's .vscode/mcp.json has any.",
    );
    return;
  }
  const items = listed.map((one) => ({
    label: one.name,
    description: placeOf(one),
    detail: detailOf(one),
    picked: one.state === "allowed",
    one,
  }));
  const chosen = await vscode.window.showQuickPick(items, {
    canPickMany: true,
    title: "Which MCP servers do agents get?",
    placeHolder: "New chats get the servers that you tick",
    matchOnDescription: true,
  });
  if (chosen === undefined) {
    return;
  }
  for (const item of items) {
    const { one } = item;
    if (!chosen.includes(item)) {
      if (one.state !== "off") {
        await servers.forbid(one);
      }
    } else if (one.state !== "allowed" || one.resolved.missing.length > 0) {
      await grant(servers, one);
    }
  }
  await servers.refresh();
}

/** Tell the user of entries that are others than those which they agreed to. */
export async function reviewChanged(servers: McpServers, changed: Listed[]): Promise<void> {
  const names = changed.map(({ name }) => `"${name}"`).join(", ");
  const pressed = await vscode.window.showWarningMessage(
    `MCP servers of the folder have changed: ${names}. Agents don't get them until you agree again.`,
    REVIEW,
  );
  if (pressed !== REVIEW) {
    return;
  }
  for (const one of changed) {
    await grant(servers, one);
  }
  await servers.refresh();
}

async function grant(servers: McpServers, one: Listed): Promise<void> {
  const { place, name, resolved, inputs, state } = one;
  if ("reason" in resolved) {
    void vscode.window.showWarningMessage(`Agents can't be given "${name}": ${why(resolved)}.`);
    return;
  }
  if (place.folder !== undefined && state !== "allowed" && !(await agrees(one))) {
    return;
  }
  for (const input of inputs.filter(({ id }) => resolved.missing.some((one) => one === id))) {
    const answer = await ask(name, input);
    if (answer === undefined) {
      return;
    }
    await servers.keep(place, input.id, answer);
  }
  await servers.allow(one);
}

async function agrees({ place, name, entry, resolved: { envFile } }: Listed): Promise<boolean> {
  const variables = Object.entries(envFile?.variables ?? {});
  const lines = variables.map(([variable, value]) => `${variable}=${JSON.stringify(value)}`);
  const file = envFile && `${envFile.path} sets these variables:\n${lines.join("\n")}`;
  const shown = [JSON.stringify(entry, null, 2), ...(file === undefined ? [] : [file])].join(
    "\n\n",
  );
  if (shown.length > MAX_SHOWN) {
    const its = envFile ? "The entry and the envFile" : "The entry";
    void vscode.window.showWarningMessage(
      `${its} of "${name}" in ${place.file} can't be shown whole, so the server can't be allowed.`,
    );
    return false;
  }
  const detail = `${place.file}\n\n${visible(shown)}\n\nYou are asked again if any of this changes.`;
  const question = `Give agents the MCP server "${visible(name)}" of this folder? They will run its command, or connect to its address, as shown below.`;
  const options = { modal: true, detail };
  return (await vscode.window.showWarningMessage(question, options, ALLOW)) === ALLOW;
}

/** Characters that aren't seen, or turn others round, could hide what is agreed to. */
function visible(text: string): string {
  return withoutUnseen(text, (one) =>
    one === "\n" ? one : `⟨U+${one.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0")}⟩`,
  );
}

function ask(server: string, input: McpInput): Thenable<string | undefined> {
  const title = `MCP server "${server}": ${input.description ?? input.id}`;
  if (input.type === "pickString") {
    return vscode.window.showQuickPick(input.options, { title, ignoreFocusOut: true });
  }
  return vscode.window.showInputBox({
    title,
    prompt: "VS Code keeps it in its secret storage. Agents that are given the server get it.",
    password: input.password,
    value: input.default ?? "",
    ignoreFocusOut: true,
  });
}

function placeOf({ place: { folder }, state }: Listed): string {
  const from = folder === undefined ? "your mcp.json" : `.vscode/mcp.json of ${folder}`;
  return state === "changed" ? `${from}, changed since you agreed` : from;
}

function detailOf({ resolved }: Listed): string {
  if ("reason" in resolved) {
    return `Can't be given to agents: ${why(resolved)}.`;
  }
  if (resolved.missing.length > 0) {
    const ids = resolved.missing.join(", ");
    return `Asks you once for ${ids}.`;
  }
  if (!("server" in resolved)) {
    return "";
  }
  const { server } = resolved;
  if ("command" in server) {
    return `A program: ${server.command}`;
  }
  return `An ${server.type} server.${mayNeedLogin(resolved) ? " If it needs a login, agents can't use it." : ""}`;
}
