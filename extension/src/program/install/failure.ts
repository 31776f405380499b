// Why an installation failed, in one sentence for the user. Installers say it in many lines, each in its
// own way; these are the words of pip, of uv, of Python and of Node.

import { withoutCredentials } from "./redact.ts";
import { ProgramFailed } from "./run.ts";

type Reason =
  | "offline"
  | "certificate"
  | "refused"
  | "missing"
  | "changed"
  | "full"
  | "python"
  | "damaged"
  | "other";

/** A failure with advice for the user. */
export class InstallFailure extends Error {
  constructor(
    readonly reason: Reason,
    message: string,
  ) {
    super(message);
    this.name = "InstallFailure";
  }
}

/**
 * Patterns of reasons; the first match counts. A full disk or a changed file also ends a
 * connection.
 */
const SIGNS: [Reason, RegExp][] = [
  [
    "full",
    /No space left on device|Disk quota exceeded|not enough space on the disk|\bENOSPC\b|\bEDQUOT\b|os error (28|122)\b|Errno (28|122)\b/,
  ],
  ["changed", /DO NOT MATCH THE HASHES|Hash mismatch|hash mismatch/],
  [
    "certificate",
    /CERTIFICATE_VERIFY_FAILED|invalid peer certificate|SELF_SIGNED_CERT|UNABLE_TO_(GET_ISSUER_CERT|VERIFY_LEAF)|CERT_HAS_EXPIRED/,
  ],
  [
    "refused",
    /\b(401|403|407) (Client Error|Unauthorized|Forbidden|Proxy Authentication)|status client error \((401|403|407)|HTTP error (401|403|407)|authentication required/i,
  ],
  [
    "offline",
    /NewConnectionError|Name or service not known|Temporary failure in name resolution|getaddrinfo|dns error|tcp connect error|client error \(Connect\)|error sending request|Connection refused|ConnectTimeout|Read timed out|ReadTimeout|operation timed out|aborted due to timeout|connection broken by|\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT|UND_ERR_\w+)\b/,
  ],
  [
    "missing",
    /No matching distribution found|there is no version of|was not found in the package registry|no usable wheels|no wheels with a matching|building from source is disabled/,
  ],
];

/**
 * Return the words for the user about an error. `place` is where the files come from, such as an
 * index.
 */
export function explain(error: unknown, place: string): Error {
  if (error instanceof InstallFailure || !(error instanceof Error)) {
    return error instanceof Error ? error : new Error(String(error));
  }
  const words = textOf(error);
  const [reason] = SIGNS.find(([, sign]) => sign.test(words)) ?? ["other" as const];
  const what = withoutCredentials(place);
  return reason === "other" || reason === "python" || reason === "damaged"
    ? error
    : new InstallFailure(reason, SENTENCES[reason](what));
}

const SENTENCES: Record<Exclude<Reason, "other" | "python" | "damaged">, (at: string) => string> = {
  offline: (at) => `${at} can't be reached: the network is offline, or a proxy is missing.`,
  certificate: (at) => `The certificate of ${at} isn't trusted here. A proxy may have replaced it.`,
  refused: (at) => `${at} refuses access: its name and password are missing or wrong.`,
  missing: (at) =>
    `${at} doesn't have a version that this extension needs, or has none for this system.`,
  changed: (at) =>
    `A file from ${at} differs from the one in this extension's list: its hash isn't the same.`,
  full: () => "The disk is full.",
};

export function diskFull(): InstallFailure {
  return new InstallFailure("full", SENTENCES.full(""));
}

/** Return all that is known of an error: `fetch` hides the reason in its cause. */
function textOf(error: Error): string {
  const said = error instanceof ProgramFailed ? error.output : "";
  const { code } = error as NodeJS.ErrnoException;
  const cause = error.cause instanceof Error ? textOf(error.cause) : "";
  return `${error.message}\n${code ?? ""}\n${said}\n${cause}`;
}
