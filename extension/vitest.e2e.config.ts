import { configDefaults, defineConfig } from "vitest/config";
import { RESULTS } from "./e2e/places.ts";

/** What takes long and changes seldom; SHORT=yes leaves it out. */
const LONG = [
  "e2e/custom_endpoint.test.ts",
  "e2e/managed_python.test.ts",
  "e2e/pictures.test.ts",
  "e2e/real_edits.test.ts",
  "e2e/versions.test.ts",
  "e2e/listing.test.ts",
  "e2e/agent_host/chats.test.ts",
];

/** They run in an editor that is changed for them: `make test-agent-host`. */
const IN_AGENT_HOST = "e2e/agent_host/**/*.test.ts";
const isAgentHost = process.env.AGENT_HOST === "yes";

// Real editors, one after the other; what they need is installed by e2e/install.ts.
export default defineConfig({
  test: {
    include: [isAgentHost ? IN_AGENT_HOST : "e2e/*.test.ts"],
    exclude: [...configDefaults.exclude, ...(process.env.SHORT ? LONG : [])],
    fileParallelism: false,
    testTimeout: 90_000,
    hookTimeout: 300_000,
    reporters: ["verbose", ["json", { outputFile: RESULTS }]],
  },
});
