import { expect, test } from "vitest";
import { pageOf } from "../../src/elicitation/page.ts";

test("the address stays as it is, so that its parameters do", () => {
  const address =
    "https://example.org/login?redirect_uri=http%3A%2F%2Flocalhost%3A1%2F&state=a%26b";
  expect(pageOf(address)).toEqual({ address, host: "example.org", warnings: [] });
});

test.each([
  ["https://example.org:8443/", "example.org:8443", []],
  ["http://127.0.0.1:3000/", "127.0.0.1:3000", ["not encrypted"]],
  ["https://gïthub.com/", "xn--gthub-cta.com", ["the name has letters that aren't ASCII"]],
  ["https://раураl.com/", expect.stringMatching(/^xn--/), [expect.any(String)]],
  ["https://github.com@evil.example/", "evil.example", [expect.stringContaining("user name")]],
  ["https://github.com\\@evil.example/", "github.com", []],
  ["HTTPS://EXAMPLE.org", "example.org", []],
  ["https://[::1]/", "[::1]", []],
])("%s goes to %s", (address, host, warnings) => {
  expect(pageOf(address)).toMatchObject({ host, warnings });
});

test.each([
  ["file:///etc/passwd", 'begins with "file:"'],
  ["command:workbench.action.quit", 'begins with "command:"'],
  ["vscode://publisher.extension/run", 'begins with "vscode:"'],
  ["javascript:alert(1)", 'begins with "javascript:"'],
  ["data:text/html,hello", 'begins with "data:"'],
  ["example.org", "can't be read"],
  ["https://", "can't be read"],
  [3, "can't be read"],
])("%s isn't opened, and the reason is told", (address, why) => {
  expect(() => pageOf(address)).toThrow(why);
});

test("the end of a long host is shown, which says whose it is", () => {
  const { host } = pageOf(`https://github.com.${"login.".repeat(20)}evil.example:8443/`);
  expect(host).toHaveLength(60);
  expect(host).toMatch(/^….*login\.evil\.example:8443$/);
  const fits = `${"a".repeat(52)}.example`;
  expect(pageOf(`https://${fits}/`).host).toBe(fits);
});
