import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "web/**/*.test.ts", "test/**/*.test.ts"],
    globalSetup: ["test/support/global-database.ts"],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // End-to-end files mostly wait for processes; on two cores the default would be one at a time.
    maxWorkers: Math.max(2, availableParallelism() - 1),
  },
});
