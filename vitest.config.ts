import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "web/**/*.test.ts", "test/**/*.test.ts"],
    globalSetup: ["test/support/global-database.ts"],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // What lands is not decided by one unlucky moment of a shared machine; a test that needed
    // its second try is named at the end of the run, to be put right.
    retry: process.env["CI"] === undefined ? 0 : 1,
    // End-to-end files mostly wait for processes; on two cores the default would be one at a time.
    maxWorkers: Math.max(2, availableParallelism() - 1),
  },
});
