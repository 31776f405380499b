import { configDefaults, defineConfig } from "vitest/config";
import { RESULTS } from "./e2e/places.ts";

/** What takes long and changes seldom; SHORT=yes leaves it out. */
const LONG = ["e2e/managed_python.test.ts"];

// Real editors, one after the other; what they need is installed by e2e/install.ts.
export default defineConfig({
  test: {
    include: ["e2e/**/*.test.ts"],
    exclude: [...configDefaults.exclude, ...(process.env.SHORT ? LONG : [])],
    fileParallelism: false,
    testTimeout: 90_000,
    hookTimeout: 300_000,
    reporters: ["verbose", ["json", { outputFile: RESULTS }]],
  },
});
