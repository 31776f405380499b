import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

// The editor's module exists only inside the editor; tests get a fake, which its declarations check.
export default defineConfig({
  resolve: { alias: { vscode: fileURLToPath(new URL("test/vscode.ts", import.meta.url)) } },
  test: { include: ["test/**/*.test.ts"], testTimeout: 30_000, restoreMocks: true },
});
