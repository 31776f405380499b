import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { UnknownBuild, wire, wiredHost, wiredWindow } from "../e2e/agent_host/wire.ts";

/** As in the bundles of 1.139, with other names, between other code. */
const HOST =
  'let a=new Q;p=await Y({hostLaunchKind:R,byok:{kind:"renderer",bridgeRegistry:r$1}}),n.add(p);' +
  "i.value=new g$($.telemetryService);let b=1;";
const WINDOW =
  '[k]:{type:"boolean",agentHost:{key:E,scope:"local"}},[l]:{agentHost:{key:M}};' +
  'var U$1=make("agentHostByokLmHandler");var A=class{};A=I([m(0,U)],A);ft(A.ID,A,gt.AfterRestored);' +
  "we(U$1,h,1);var z=1;";

test("the host hands its registry of windows to the server", () => {
  const source = wiredHost(HOST);
  expect(source).toMatch(
    /g\$\(\$\.telemetryService\);.*\(await import\("file:.*host_end\.mjs"\)\)/,
  );
  expect(source).toContain(".serve(r$1);let b=1;");
});

test("the window makes a contribution, which gets the handler", () => {
  const source = wiredWindow(WINDOW);
  const made = source.slice(source.indexOf("we(U$1"), source.indexOf("var z"));
  const handed: unknown[] = [];
  const page = { agentHostModels: (handler: unknown) => handed.push(handler) };
  const names = ["globalThis", "we", "U$1", "h", "I", "m", "ft", "gt"];
  const decorate = (injected: [number, unknown][], made: unknown) => ({ injected, made });
  const inject = (at: number, service: unknown) => [at, service];
  const registered: unknown[] = [];
  type Made = { injected: [number, unknown][]; made: new (handler: unknown) => object };
  const register = (_id: string, { injected, made }: Made, phase: unknown) => {
    registered.push(injected, phase);
    new made("the handler");
  };
  const values = [page, () => {}, "service", {}, decorate, inject, register, { AfterRestored: 3 }];
  new Function(...names, made)(...values);
  expect(registered).toEqual([[[0, "service"]], 3]);
  expect(handed).toEqual(["the handler"]);
});

test("the setting that allows such models is sent to every host", () => {
  expect(wiredWindow(WINDOW)).toContain('agentHost:{key:E,scope:"ambient"}');
});

test.each([
  ["no registry", () => wiredHost(HOST.replace("renderer", "other")), "the registry of windows"],
  ["two starts", () => wiredHost(HOST + HOST.slice(HOST.indexOf("i.value"))), "is there 2 times"],
  ["no handler", () => wiredWindow(WINDOW.replace("ByokLm", "Other")), "the handler of the models"],
  ["no registration", () => wiredWindow(WINDOW.replace(",h,1", ",h,0")), "handler's registration"],
  ["no example", () => wiredWindow(WINDOW.replace("AfterRestored", "Eventually")), "contribution"],
  ["no setting", () => wiredWindow(WINDOW.replace("local", "other")), "the setting of the host"],
])("a build with %s is refused with the reason", (_what, act, reason) => {
  expect(act).toThrow(UnknownBuild);
  expect(act).toThrow(reason);
});

test("an installed editor is joined once, and a refusal names the file", () => {
  const folder = mkdtempSync(join(tmpdir(), "vscodelm-wire-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const host = join(folder, "out/vs/platform/agentHost/node/agentHostMain.js");
  const window = join(folder, "out/vs/code/browser/workbench/workbench.js");
  for (const [file, source] of [
    [host, HOST],
    [window, WINDOW],
  ] as const) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, source);
  }
  expect(wire(folder)).toBe(true);
  const joined = readFileSync(window, "utf8");
  expect(wire(folder)).toBe(false);
  expect(readFileSync(window, "utf8")).toBe(joined);
  writeFileSync(host, "something else");
  expect(() => wire(folder)).toThrow(host);
});
