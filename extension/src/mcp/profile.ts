// Which profile a window has. VS Code doesn't tell extensions: the storage of an extension is always that of
// the default profile. But beside it storage.json says which profile each workspace has.

import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import * as vscode from "vscode";
import { isObject } from "../json.ts";

const DEFAULT_PROFILE = "__default__profile__";

/** Return the user's `mcp.json` in the window's profile; `storage` is that of the extension. */
export function userFile(storage: string): string {
  const user = dirname(dirname(storage));
  let profile: string | undefined;
  try {
    const { workspaceFile, workspaceFolders = [] } = vscode.workspace;
    const only = workspaceFolders.length === 1 ? workspaceFolders[0]?.uri : undefined;
    const text = readFileSync(join(dirname(storage), "storage.json"), "utf8");
    profile = profileOf(JSON.parse(text), (workspaceFile ?? only)?.toString());
  } catch {
    // A remote machine has no such file, and then no profile of its own.
  }
  return join(profile === undefined ? user : join(user, "profiles", profile), "mcp.json");
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
  const { useDefaultFlags } = profiles.find(({ location }) => location === id) ?? {};
  return isObject(useDefaultFlags) && useDefaultFlags.mcp === true ? undefined : id;
}
