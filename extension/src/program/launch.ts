// Finds the command that starts vscodelm: from the settings, on PATH, or the extension's own.

import { Failure } from "../chat/failures.ts";
import type { ProcessSettings } from "../configuration.ts";
import type { Launch } from "./start.ts";

interface Programs {
  /** Return a program on PATH. */
  onPath(): Promise<string | undefined>;
  /** Return the one in the extension's own environment. */
  own(): Promise<string | undefined>;
  /** Ask whether to make that environment, and make it; undefined if the user doesn't want it. */
  install(): Promise<string | undefined>;
}

interface LaunchSources {
  settings: ProcessSettings;
  programs: Programs;
  secrets: Record<string, string>;
  environment: NodeJS.ProcessEnv;
  logLevel: string;
  folder: string;
}

export async function launchOf(sources: LaunchSources, mayAsk: boolean): Promise<Launch> {
  const { settings, secrets, environment, logLevel, folder } = sources;
  const trace = settings.traceDirectory ? ["--trace-dir", settings.traceDirectory] : [];
  return {
    command: await findProgram(sources, mayAsk),
    args: ["--log-level", logLevel, ...trace, ...settings.arguments],
    env: {
      ...environment,
      ...settings.environment,
      ...namedSecrets(secrets),
      ...(Object.keys(settings.endpoints).length > 0 && {
        VSCODELM_ENDPOINTS: JSON.stringify(settings.endpoints),
      }),
    },
    cwd: folder,
  };
}

/** Return the secrets with their names: vscodelm gives each only to the agents that name it. */
function namedSecrets(secrets: Record<string, string>): Record<string, string> {
  return { ...secrets, VSCODELM_SECRETS: Object.keys(secrets).join(",") };
}

export async function findProgram(
  { settings, programs }: Pick<LaunchSources, "settings" | "programs">,
  mayAsk: boolean,
): Promise<string> {
  const found = settings.path || (await programs.onPath()) || (await programs.own());
  const program = found || (mayAsk ? await programs.install() : undefined);
  if (!program) {
    throw new Failure(
      "NotFound",
      "vscodelm, the program behind these models, isn't installed. " +
        'Run "vscodelm: Install vscodelm for This Extension", or set "vscodelm.path".',
    );
  }
  return program;
}
