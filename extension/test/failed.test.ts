import { expect, test } from "vitest";
import { failedFiles } from "../e2e/failed.ts";

test("what didn't pass is run once more, file by file", () => {
  const testResults = [
    { name: "/e2e/one.test.ts", status: "passed" },
    { name: "/e2e/two.test.ts", status: "failed" },
    { name: "/e2e/three.test.ts", status: "failed" },
  ];
  expect(failedFiles(JSON.stringify({ testResults }))).toEqual([
    "/e2e/two.test.ts",
    "/e2e/three.test.ts",
  ]);
});
