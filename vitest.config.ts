import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "web/**/*.test.ts", "test/**/*.test.ts"],
    globalSetup: ["test/support/global-database.ts"],
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
