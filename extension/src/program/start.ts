// Starts the program. A failure becomes words for the user, whether the system reports it at once
// or later. The words contain no value of the environment.

import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { Failure } from "../chat/failures.ts";

/** The command that is started, and its folder. */
export interface Launch {
  command: string;
  args: string[];
  env: NodeJS.ProcessEnv;
  cwd: string;
}

/** Start it. Throws `Failure` if that is known to be impossible; else its event `error` may still come. */
export function start(launch: Launch): ChildProcessWithoutNullStreams {
  const { command, args, env, cwd } = launch;
  checkLaunch(launch);
  let child: ReturnType<typeof spawn>;
  try {
    child = spawn(command, args, { env, cwd, stdio: "pipe", windowsHide: true });
  } catch (error) {
    throw new Failure("Unavailable", `vscodelm can't be started: ${whyNotStarted(launch, error)}.`);
  }
  if (!child.stdin || !child.stdout || !child.stderr) {
    child.once("error", () => {}); // it comes later, and says the same
    throw new Failure(
      "Unavailable",
      "vscodelm can't be started: the system has no more open files or processes for the editor.",
    );
  }
  return child as ChildProcessWithoutNullStreams;
}

/** Return why it wasn't started. Systems say only that "something" isn't there. */
export function whyNotStarted({ command, cwd }: Launch, error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  switch (code) {
    case "ENOENT":
      if (!existsSync(cwd)) {
        return `there is no folder ${cwd}`;
      }
      return existsSync(command)
        ? `the interpreter of ${command} is missing`
        : `there is no program ${command}`;
    case "EACCES":
      return `there is no permission to run ${command}`;
    case "E2BIG":
      return "its arguments or its environment are too long";
    default:
      return message;
  }
}

/** Throw `Failure` for a null character, which no system accepts. It names only the place. */
export function checkLaunch({ command, args, env, cwd }: Launch): void {
  const texts: [string, string][] = [
    ["the program's path", command],
    ["the working folder", cwd],
    ...args.map((arg, index): [string, string] => [`argument ${index + 1}`, arg]),
    ...Object.entries(env).flatMap(([name, value]): [string, string][] => [
      ["the name of an environment variable", name],
      [`the environment variable ${JSON.stringify(name)}`, value ?? ""],
    ]),
  ];
  const unfit = texts.find(([, text]) => text.includes("\0"));
  if (unfit !== undefined) {
    throw new Failure("NotFound", `vscodelm can't be started: ${unfit[0]} holds a NUL character.`);
  }
}
