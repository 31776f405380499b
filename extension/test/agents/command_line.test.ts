import { expect, test } from "vitest";
import { splitCommand } from "../../src/agents/command_line.ts";

test.each<[string, string[]]>([
  ["agent --acp", ["agent", "--acp"]],
  ["  agent\t--acp  ", ["agent", "--acp"]],
  [`'/my tools/agent' "--say=a b" ''`, ["/my tools/agent", "--say=a b", ""]],
  [`a"b c"d`, ["ab cd"]],
  [`"it's" 'a "b"'`, ["it's", 'a "b"']],
  ["a\\ b", ["a b"]],
  ["a|b >c $HOME `d` *.ts ~ # e", ["a|b", ">c", "$HOME", "`d`", "*.ts", "~", "#", "e"]],
  ["", []],
])("a shell's words of %j", (line, words) => {
  expect(splitCommand(line, "linux")).toEqual(words);
});

test.each<[string, string[]]>([
  ["C:\\tools\\agent.exe --acp", ["C:\\tools\\agent.exe", "--acp"]],
  [`"C:\\My Tools\\agent.exe" --in "C:\\a b\\"`, ["C:\\My Tools\\agent.exe", "--in", "C:\\a b\\"]],
  [`'C:\\My Tools\\agent.exe'`, ["C:\\My Tools\\agent.exe"]],
  ["\\\\server\\share\\agent", ["\\\\server\\share\\agent"]],
  [`"it's\\here"`, ["it's\\here"]],
])("on Windows the backslashes of %j stay", (line, words) => {
  expect(splitCommand(line, "win32")).toEqual(words);
});

test.each(["linux", "win32"] as const)("on %s a quote must be closed", (platform) => {
  for (const line of [`a "b`, "a 'b", `"a' b`]) {
    expect(() => splitCommand(line, platform)).toThrow("A quote isn't closed.");
  }
});

test("a backslash at the end needs something to follow, but on Windows", () => {
  expect(() => splitCommand("a \\", "linux")).toThrow("Nothing follows the last backslash.");
  expect(splitCommand("a\\", "win32")).toEqual(["a\\"]);
});
