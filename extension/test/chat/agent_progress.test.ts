import { expect, test } from "vitest";
import { AgentProgress } from "../../src/chat/agent_progress.ts";

test("the tool asks nobody, and its result is empty", () => {
  const tool = new AgentProgress();
  expect(tool.prepareInvocation()).not.toHaveProperty("confirmationMessages");
  expect(tool.invoke().content).toEqual([]);
});
