import { expect, test } from "vitest";
import { explain, InstallFailure } from "../../../src/program/install/failure.ts";
import { ProgramFailed } from "../../../src/program/install/run.ts";
import { Cancelled } from "../../../src/program/install/work.ts";

const PLACE = "The package index https://me:secret@index.example/simple";

/** What uv 0.13, pip 23 and 25, Python and Node have said, shortened. */
const SAID: [string, string][] = [
  ["offline", "error: Request failed after 3 retries in 4.7s\n  cause: tcp connect error"],
  ["offline", "  cause: client error (Connect)\n  cause: dns error\n  cause: error resolving DNS"],
  [
    "offline",
    "WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError(...: [Errno -2] Name or service not known')\nERROR: Could not find a version that satisfies the requirement anyio==4.16.0 (from versions: none)\nERROR: No matching distribution found for anyio==4.16.0",
  ],
  ["missing", "ERROR: No matching distribution found for anyio==99.16.0"],
  [
    "missing",
    "  cause: Because there is no version of anyio==99.16.0 and you require anyio==99.16.0",
  ],
  ["missing", "  cause: Because cryptography==50.0.2 has no usable wheels and you require it"],
  ["changed", "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE. If you"],
  [
    "changed",
    "error: Failed to download `anyio==4.16.0`\n  cause: Hash mismatch for `anyio==4.16.0`",
  ],
  ["full", "OSError: [Errno 28] No space left on device: '/tmp/a' -> '/b'"],
  ["full", "  cause: failed to copy file from /a to /b: No space left on device (os error 28)"],
  ["full", "ENOSPC: no space left on device, write"],
  ["full", "EDQUOT: quota exceeded"],
  ["certificate", "  cause: invalid peer certificate: UnknownIssuer"],
  [
    "certificate",
    "SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] certificate'",
  ],
  ["refused", "  cause: HTTP status client error (403 Forbidden) for url (https://index.example)"],
  ["refused", "ERROR: HTTP error 401 while getting https://index.example/a.whl"],
  ["refused", "ERROR: 407 Client Error: Proxy Authentication Required for url: https://index"],
];

test.each(SAID)("what installers say has a reason: %s of %j", (reason, said) => {
  const explained = explain(new ProgramFailed("uv exited with status 1: no", said), PLACE);
  expect(explained).toBeInstanceOf(InstallFailure);
  expect(explained).toMatchObject({ reason });
  expect(explained.message).not.toContain("secret");
  expect(explained.message).toMatch(
    /^(The .*https:\/\/\*\*\*@index\.example\/simple|A file from|The disk)/,
  );
});

test("each reason has words of its own", () => {
  const words = new Set(
    SAID.map(([, said]) => explain(new ProgramFailed("", said), PLACE).message),
  );
  expect(words.size).toBe(new Set(SAID.map(([reason]) => reason)).size);
});

test.each([
  ["offline", "ENOTFOUND"],
  ["offline", "UND_ERR_CONNECT_TIMEOUT"],
  ["certificate", "SELF_SIGNED_CERT_IN_CHAIN"],
])("what `fetch` hides in its cause is found: %s", (reason, code) => {
  const cause = Object.assign(new Error("it failed"), { code });
  expect(explain(new TypeError("fetch failed", { cause }), PLACE)).toMatchObject({ reason });
});

test("a request that took too long is a network that doesn't work", () => {
  const late = new DOMException("The operation was aborted due to timeout", "TimeoutError");
  expect(explain(late, PLACE)).toMatchObject({ reason: "offline" });
});

test("what isn't known stays as it is", () => {
  const unknown = new ProgramFailed("uv exited with status 1: odd", "odd");
  expect(explain(unknown, PLACE)).toBe(unknown);
  const cancelled = new Cancelled();
  expect(explain(cancelled, PLACE)).toBe(cancelled);
  const known = new InstallFailure("python", "no Python");
  expect(explain(known, PLACE)).toBe(known);
  expect(explain("odd", PLACE).message).toBe("odd");
});
