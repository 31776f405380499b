// A command as a person types it, split into words by its quotes, as a shell would; nothing is filled in.

import { split } from "shlex";

/** Throws if it has no end. On Windows a backslash is a character of paths, and nothing else. */
export function splitCommand(line: string, platform: NodeJS.Platform): string[] {
  try {
    return split(platform === "win32" ? withoutEscapes(line) : line);
  } catch (error) {
    const isEscape = (error as Error).message.includes("escape");
    throw new Error(isEscape ? "Nothing follows the last backslash." : "A quote isn't closed.");
  }
}

/** Double the backslashes, but those between single quotes, where each stands for itself. */
function withoutEscapes(line: string): string {
  return line.replace(/'[^']*'|"[^"]*"|\\/g, (found) =>
    found.startsWith("'") ? found : found.replaceAll("\\", "\\\\"),
  );
}
