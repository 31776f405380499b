// Where mcp.json files are: the user's own, which belongs to the profile of the window, and those of the
// window's folders.

import { readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import * as vscode from "vscode";
import { messageOf } from "../chat/failures.ts";
import { MAX_SETTINGS_BYTES } from "../limits.ts";
import { type Entry, entriesIn, isObject } from "./entries.ts";

/** A file with its entries. */
export interface McpFile {
  /** `user`, or the address of the folder: whose the file is. */
  place: string;
  /** As the user reads it. */
  origin: string;
  path: string;
  /** The folder that `${workspaceFolder}` means in it; undefined: there is none. */
  folder: string | undefined;
  entries: Entry[];
  /** What is wrong with it as a whole. */
  problem: string | undefined;
}

export const USER = "user";
const DEFAULT_PROFILE = "__default__profile__";

/** Return the files of the window, read. One that isn't there has no entries. */
export async function readFiles(globalStorage: string): Promise<McpFile[]> {
  return Promise.all((await placesOf(globalStorage)).map(readOne));
}

type Place = Pick<McpFile, "place" | "origin" | "path" | "folder">;

/** Return where the files of the window are, those that aren't there yet, too. */
export async function placesOf(globalStorage: string): Promise<Place[]> {
  const folders = (vscode.workspace.workspaceFolders ?? []).filter(
    ({ uri }) => uri.scheme === "file",
  );
  const user = {
    place: USER,
    origin: "your mcp.json",
    path: join(await userFolder(globalStorage), "mcp.json"),
    folder: folders[0]?.uri.fsPath,
  };
  return [
    user,
    ...folders.map(({ uri }) => ({
      place: `folder:${uri.fsPath}`,
      origin: `the folder ${uri.fsPath.split(/[\\/]/).at(-1)}`,
      path: join(uri.fsPath, ".vscode", "mcp.json"),
      folder: uri.fsPath,
    })),
  ];
}

/**
 * Return the folder with the user's files. `globalStorage` is that of an extension, which is always below
 * the folder of the default profile; the file storage.json beside it says which profile the window has.
 */
async function userFolder(globalStorage: string): Promise<string> {
  const storages = dirname(globalStorage);
  const user = dirname(storages);
  let profile: string | undefined;
  try {
    const storage = JSON.parse(await readFile(join(storages, "storage.json"), "utf8"));
    const { workspaceFile, workspaceFolders = [] } = vscode.workspace;
    const only = workspaceFolders.length === 1 ? workspaceFolders[0]?.uri : undefined;
    profile = profileOf(storage, (workspaceFile ?? only)?.toString());
  } catch {
    // A remote machine has no such file, and then no profile of its own.
  }
  return profile === undefined ? user : join(user, "profiles", profile);
}

/** Return the folder of the profile that has an mcp.json of its own; undefined: the default one. */
export function profileOf(storage: unknown, workspace: string | undefined): string | undefined {
  const { profileAssociations, userDataProfiles } = isObject(storage) ? storage : {};
  const { workspaces } = isObject(profileAssociations) ? profileAssociations : {};
  const id = isObject(workspaces) && workspace !== undefined ? workspaces[workspace] : undefined;
  if (typeof id !== "string" || id === DEFAULT_PROFILE || !/^[\w-]+$/.test(id)) {
    return undefined;
  }
  const profiles = Array.isArray(userDataProfiles) ? userDataProfiles.filter(isObject) : [];
  const profile = profiles.find(({ location }) => location === id);
  const { useDefaultFlags } = profile ?? {};
  return isObject(useDefaultFlags) && useDefaultFlags.mcp === true ? undefined : id;
}

async function readOne(place: Place): Promise<McpFile> {
  const none = { ...place, entries: [], problem: undefined };
  try {
    if ((await stat(place.path)).size > MAX_SETTINGS_BYTES) {
      return { ...none, problem: "it is too large" };
    }
    return { ...none, entries: entriesIn(await readFile(place.path, "utf8")) };
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === "ENOENT";
    return { ...none, problem: isMissing ? undefined : messageOf(error) };
  }
}
