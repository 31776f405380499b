// A lock between windows, which are separate processes: a file that exists while one of them works.
// The working window touches the file again and again. After a crash the file goes stale, and
// another window takes the lock.

import { randomUUID } from "node:crypto";
import { type FileHandle, link, open, readFile, rename, rm, stat, utimes } from "node:fs/promises";
import { hostname } from "node:os";
import { LOCK_BEAT_MS, LOCK_STALE_MS } from "../../limits.ts";

export interface Clock {
  now(): number;
  wait(milliseconds: number): Promise<void>;
  /** Run something again and again, until the returned function is called. */
  every(milliseconds: number, run: () => void): () => void;
}

export const realClock: Clock = {
  now: () => performance.now(),
  wait: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
  every: (milliseconds, run) => {
    const timer = setInterval(run, milliseconds);
    return () => clearInterval(timer);
  },
};

const LOOK_MS = 500;

interface Holder {
  host: string;
  pid: number;
  id: string;
}

/** Do some work while the lock is held. `waited` tells it whether somebody else has just done theirs. */
export async function withLock<T>(
  file: string,
  work: (waited: boolean) => Promise<T>,
  clock: Clock = realClock,
): Promise<T> {
  const own = JSON.stringify({ host: hostname(), pid: process.pid, id: randomUUID() });
  let waited = false;
  let seen: string | undefined;
  let since = clock.now();
  while (!(await isTaken(file, own))) {
    waited = true;
    const sign = await lifeSign(file);
    if (sign !== seen) {
      seen = sign;
      since = clock.now();
    }
    if (isLeft(sign) || clock.now() - since >= LOCK_STALE_MS) {
      await removeLeft(file, sign);
      seen = undefined;
      waited = false; // for nobody, or for somebody who didn't finish
    } else {
      await clock.wait(LOOK_MS);
    }
  }
  const stopBeating = clock.every(LOCK_BEAT_MS, () => {
    const now = new Date();
    utimes(file, now, now).catch(() => {}); // another window that took it meanwhile owns it
  });
  try {
    return await work(waited);
  } finally {
    stopBeating();
    if ((await textOf(file)) === own) {
      await rm(file, { force: true });
    }
  }
}

async function isTaken(file: string, own: string): Promise<boolean> {
  let handle: FileHandle;
  try {
    handle = await open(file, "wx");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") {
      return false;
    }
    throw error;
  }
  try {
    await handle.writeFile(own);
    return true;
  } catch (error) {
    await rm(file, { force: true }); // on a full disk it would be a lock of nobody's
    throw error;
  } finally {
    await handle.close();
  }
}

/** Return what changes as long as the holder lives: its clock isn't ours, so only a change says anything. */
async function lifeSign(file: string): Promise<string | undefined> {
  try {
    const { mtimeMs } = await stat(file);
    return `${mtimeMs} ${await readFile(file, "utf8")}`;
  } catch {
    return undefined; // it was released just now
  }
}

/** Whether the holder's process is known to be gone. */
function isLeft(sign: string | undefined): boolean {
  try {
    const { host, pid } = JSON.parse(holderIn(sign)) as Holder;
    if (host !== hostname()) {
      return false;
    }
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}

/**
 * Remove a lock that was left. `sign` is the state that was seen: if another window has taken the
 * lock since, the window keeps it.
 */
export async function removeLeft(file: string, sign: string | undefined): Promise<void> {
  const aside = `${file}.${randomUUID()}`;
  try {
    await rename(file, aside);
  } catch {
    return; // somebody else has removed it
  }
  if ((await textOf(aside)) !== holderIn(sign)) {
    await link(aside, file).catch(() => {});
  }
  await rm(aside, { force: true });
}

function holderIn(sign: string | undefined): string {
  return sign?.slice(sign.indexOf(" ") + 1) ?? "";
}

function textOf(file: string): Promise<string | undefined> {
  return readFile(file, "utf8").catch(() => undefined);
}
