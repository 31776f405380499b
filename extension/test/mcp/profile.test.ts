import { expect, test } from "vitest";
import { profileOf } from "../../src/mcp/profile.ts";

const STORAGE = {
  profileAssociations: {
    workspaces: {
      "file:///own": "a1",
      "file:///shared": "b2",
      "file:///plain": "__default__profile__",
    },
  },
  userDataProfiles: [
    { location: "a1", name: "Own" },
    { location: "b2", name: "Shared", useDefaultFlags: { mcp: true } },
  ],
};

test.each([
  ["file:///own", "a1"],
  ["file:///shared", undefined],
  ["file:///plain", undefined],
  ["file:///other", undefined],
  [undefined, undefined],
])("the window of %s has the profile %s", (workspace, profile) => {
  expect(profileOf(STORAGE, workspace)).toBe(profile);
});

test("a storage that says something odd means the default profile", () => {
  const of = (id: unknown) => ({ profileAssociations: { workspaces: { x: id } } });
  for (const storage of [undefined, 5, {}, of(5), of("../../elsewhere")]) {
    expect(profileOf(storage, "x")).toBeUndefined();
  }
});
