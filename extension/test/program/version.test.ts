import { expect, test } from "vitest";
import { RpcError } from "../../src/program/connection.ts";
import { checkVersion, OLDEST, whyRefused } from "../../src/program/version.ts";

const answer = (version: string) => ({ serverInfo: { name: "vscodelm", version } });

test.each([OLDEST, "0.1.1", "0.2", "1", "0.10.0", "0.1.0.dev3"])("%s is new enough", (version) => {
  expect(() => checkVersion("v", answer(version))).not.toThrow();
});

test.each(["0.0.99", "0.0", "0", "", "newest"])("%j is too old, and is said to be", (version) => {
  expect(() => checkVersion("/bin/v", answer(version))).toThrow(`/bin/v is ${version};`);
});

test.each([{}, null, { serverInfo: {} }])("who says %j is of an unknown version", (said) => {
  expect(() => checkVersion("v", said as never)).toThrow("v is of an unknown version");
});

test("the package's own vscodelm is new enough", async () => {
  const { version } = (await import("../../package.json")).default;
  expect(() => checkVersion("v", answer(version))).not.toThrow();
});

test("only who doesn't know the handshake is a stranger", () => {
  const crash = new Error("it exited");
  expect(whyRefused("v", crash)).toBe(crash);
  const refusal = new RpcError(-32602, "bad");
  expect(whyRefused("v", refusal)).toBe(refusal);
  expect(whyRefused("v", new RpcError(-32601, "?"))).toMatchObject({ kind: "NotFound" });
});
