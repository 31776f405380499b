import { defineConfig } from "vitest/config";
import { RESULTS } from "./e2e/places.ts";

// Real editors, one after the other; what they need is installed by e2e/install.ts.
export default defineConfig({
  test: {
    include: ["e2e/**/*.test.ts"],
    fileParallelism: false,
    testTimeout: 90_000,
    hookTimeout: 300_000,
    reporters: ["verbose", ["json", { outputFile: RESULTS }]],
  },
});
