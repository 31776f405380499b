// What the built-in git extension knows of files, if it is there and switched on.

import * as vscode from "vscode";

/** Time for git to say which files it ignores; after that none counts as ignored. */
export const IGNORED_MS = 1_500;
const COMMITTED = "HEAD";

/** The part of a repository of the extension's that is used here. */
interface Repository {
  checkIgnore(paths: string[]): Promise<ReadonlySet<string>>;
  show(ref: string, path: string): Promise<string>;
}

interface Git {
  getRepository(uri: vscode.Uri): Repository | null;
  toGitUri(uri: vscode.Uri, ref: string): vscode.Uri;
}

function git(): Git | undefined {
  try {
    return vscode.extensions
      .getExtension<{ getAPI(version: 1): Git }>("vscode.git")
      ?.exports?.getAPI(1);
  } catch {
    return undefined; // it is switched off
  }
}

/** Return those of the files that git ignores. */
export async function ignoredByGit(paths: readonly string[]): Promise<ReadonlySet<string>> {
  const known = git();
  const byRepository = new Map<Repository, string[]>();
  for (const path of paths) {
    const repository = known?.getRepository(vscode.Uri.file(path));
    if (repository) {
      const its = byRepository.get(repository) ?? [];
      byRepository.set(repository, its);
      its.push(path);
    }
  }
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<ReadonlySet<string>>((resolve) => {
    timer = setTimeout(resolve, IGNORED_MS, new Set<string>());
  });
  const found = [...byRepository].map(([repository, its]) =>
    Promise.race([repository.checkIgnore(its).catch(() => new Set<string>()), late]),
  );
  const ignored = (await Promise.all(found)).flatMap((some) => [...some]);
  clearTimeout(timer);
  return new Set(ignored);
}

/** Return the address of a file's text in the last commit; undefined if it isn't in there. */
export async function committed(uri: vscode.Uri): Promise<vscode.Uri | undefined> {
  const known = git();
  const shown = known?.getRepository(uri)?.show(COMMITTED, uri.fsPath);
  const isThere = await shown?.then(
    () => true,
    () => false,
  );
  return isThere ? known?.toGitUri(uri, COMMITTED) : undefined;
}
