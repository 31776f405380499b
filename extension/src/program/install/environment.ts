// An environment of the extension's own, for users without vscodelm. It is made from the wheel in
// the extension, so it always fits, and nobody can publish another package under its name. Its
// packages come from the index, in the versions and with the hashes that the extension brings.
//
// Each is built in a folder of its own, because an environment can't be moved. A small file says
// which environment counts. It is replaced in one step when the new one is complete. Until then,
// and after a failure, the old one stays as it was. The one before is kept, because a program of
// another window may still run in it. A Python that is downloaded for an environment has a folder
// of its own, too, and the same file names it.

import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { isExecutable } from "../executable.ts";
import { Builder, type BuildPlaces, programOf } from "./builder.ts";
import { type Bundle, bundleName, readBundle } from "./bundle.ts";
import { explain, InstallFailure } from "./failure.ts";
import { type Clock, realClock, withLock } from "./lock.ts";
import { configuredIndex } from "./package_index.ts";
import { type Find, findTools, type Tools } from "./pythons.ts";
import { type Run, runStep } from "./run.ts";
import type { Work } from "./work.ts";

interface EnvironmentPlaces {
  /** The folder for files of the extension: the environments are folders in it. */
  storage: string;
  /** The folder with the wheel, and the pins of its dependencies. */
  bundle: string;
}

/** The tools of the machine that an environment is made with. */
export interface Machine {
  run?: Run;
  find?: Find;
  clock?: Clock;
  /** Return the address of the user's package index. */
  index?: () => Promise<string>;
}

/** Which environment counts. */
interface Current extends Built {
  /** The name of the bundle that it was made from. */
  bundle: string;
  previous?: Built;
}

/** The folder of an environment, and the folder of its Python, if that was downloaded. */
interface Built {
  folder: string;
  python?: string;
}

export class OwnEnvironment {
  private readonly run: Run;
  private readonly find: Find | undefined;
  private readonly clock: Clock;
  private readonly index: () => Promise<string>;

  constructor(
    private readonly places: EnvironmentPlaces,
    { run = runStep, find, clock = realClock, index = configuredIndex }: Machine = {},
  ) {
    this.run = run;
    this.find = find;
    this.clock = clock;
    this.index = index;
  }

  /** Return the program of the environment, if it is there and from this extension's bundle. */
  async program(): Promise<string | undefined> {
    const current = await this.current();
    const bundle = await bundleName(this.places.bundle);
    return current !== undefined && current.bundle === bundle
      ? this.programIn(current.folder)
      : undefined;
  }

  /** Return the program of the environment, if from an older bundle. */
  async anyProgram(): Promise<string | undefined> {
    const current = await this.current();
    return current && this.programIn(current.folder);
  }

  /** Whether one was made, if from an older bundle. */
  async exists(): Promise<boolean> {
    return (await this.current()) !== undefined;
  }

  /** Return the tools on this machine that can make one. */
  async tools(work: Work): Promise<Tools> {
    await mkdir(this.places.storage, { recursive: true });
    return findTools(this.run, this.places.storage, work, this.find);
  }

  /**
   * Make one, and have it count from then on. If another window makes one at the moment, that is waited
   * for, and taken. If it fails, or is cancelled, the one before counts as it did. Without a Python that
   * fits it fails with the reason `python`, unless it may download one.
   */
  async create(work: Work, mayDownload = false): Promise<void> {
    const bundle = await readBundle(this.places.bundle);
    work.stage("Looking for Python");
    const tools = await this.tools(work);
    const before = await this.current();
    if (tools.kind === "none" && !mayDownload && before?.python === undefined) {
      throw new InstallFailure("python", `vscodelm needs Python 3.11 or newer, and ${tools.why}.`);
    }
    await mkdir(this.folders.environments, { recursive: true });
    const lock = join(this.places.storage, "environment.lock");
    const clock = {
      ...this.clock,
      wait: (milliseconds: number) => {
        work.signal.throwIfAborted();
        work.stage("Waiting for another window");
        return this.clock.wait(milliseconds);
      },
    };
    const build = (waited: boolean) => this.createAlone(bundle, tools, waited, work);
    await withLock(lock, build, clock);
  }

  private async createAlone(
    bundle: Bundle,
    tools: Tools,
    waited: boolean,
    work: Work,
  ): Promise<void> {
    if (waited && (await this.program()) !== undefined) {
      work.said("Another window has installed it.");
      return;
    }
    const name = await bundleName(this.places.bundle);
    const before = await this.current();
    await this.sweep(before, bundle);
    const folder = randomUUID();
    const { environments, pythons } = this.folders;
    const note = join(environments, `${folder}.json`);
    const made = [join(environments, folder), join(pythons, folder), note];
    const machine = { run: this.run, index: this.index };
    const builder = new Builder(this.folders, bundle, machine, work);
    try {
      const python = await builder.build(folder, tools, before?.python);
      const built: Built = { folder, ...(python && { python }) };
      const previous = before && {
        folder: before.folder,
        ...(before.python && { python: before.python }),
      };
      work.signal.throwIfAborted();
      const current: Current = { ...built, bundle: name ?? "", ...(previous && { previous }) };
      await writeFile(note, JSON.stringify(current), { flush: true });
      await rename(note, this.pointer); // from here on it counts, in one step
    } catch (error) {
      for (const left of made) {
        await rm(left, { recursive: true, force: true }).catch(() => {}); // else the next one does
      }
      throw explain(error, "The disk");
    }
  }

  /** Remove the rests of interrupted installations, and all builds before the last. */
  private async sweep(current: Current | undefined, { uv }: Bundle): Promise<void> {
    const kept = [current, current?.previous];
    await sweepFolder(
      this.folders.environments,
      kept.map((built) => built?.folder),
    );
    await sweepFolder(
      this.folders.pythons,
      kept.map((built) => built?.python),
    );
    await sweepFolder(this.folders.uvs, [uv.version]);
  }

  private get folders(): BuildPlaces {
    const { storage } = this.places;
    const [environments, pythons, uvs] = ["environments", "pythons", "uv"].map((name) =>
      join(storage, name),
    ) as [string, string, string];
    return { storage, environments, pythons, uvs };
  }

  private get pointer(): string {
    return join(this.places.storage, "environment.json");
  }

  private async current(): Promise<Current | undefined> {
    try {
      const { bundle, previous, ...built } = JSON.parse(await readFile(this.pointer, "utf8"));
      const [one, before] = [builtOf(built), builtOf(previous)];
      const name = typeof bundle === "string" ? bundle : ""; // of an older extension's
      return one && { ...one, bundle: name, ...(before && { previous: before }) };
    } catch {
      return undefined; // there is none, or none that can be read
    }
  }

  private async programIn(folder: string): Promise<string | undefined> {
    const program = programOf(join(this.folders.environments, basename(folder)));
    return (await isExecutable(program)) ? program : undefined;
  }
}

/** Return a note about a build, undefined if it is of no use. */
function builtOf(note: unknown): Built | undefined {
  const { folder, python } = (note ?? {}) as Record<string, unknown>;
  return isName(folder) ? { folder, ...(isName(python) && { python }) } : undefined;
}

/** Whether it names a folder in another, and no place elsewhere. */
function isName(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value !== ".." && basename(value) === value;
}

async function sweepFolder(folder: string, kept: (string | undefined)[]): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((one) => !kept.includes(one))) {
    // Some systems don't remove files in use; they are removed the next time.
    await rm(join(folder, name), { recursive: true, force: true }).catch(() => {});
  }
}
