import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { WholeFarmsFirst } from "./test/support/whole-farms-first.ts";

/** Named by each project: named above them, too, it would be run once more. */
const globalSetup = ["test/support/global-setup.ts"];

export default defineConfig({
  // Not below node_modules: jobs share that, and each change of it would be a new input.
  cacheDir: ".cache/vite",
  test: {
    // Limits that only what hangs comes to: with forty processes for two CPUs, a start of a farm was seen to take half a
    // minute, and tests of whole farms more than two. No test has a lower limit of its own.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 30_000 } },
    sequence: { sequencer: WholeFarmsFirst },
    // What lands is not decided by unlucky moments of a shared machine; a test that needed
    // another try is named at the end of the run, to be put right.
    retry: process.env["CI"] === undefined ? 0 : 2,
    // End-to-end files mostly wait for processes; on two cores the default would be one at a time. With one file more than
    // cores, the processors were busy for 63 % of a run.
    maxWorkers: availableParallelism() + 2,
    // Some workers of tests have no sandbox on purpose, and CI is root.
    env: { GRANGE_ALLOW_ROOT_JOBS: "1" },
    projects: [
      {
        extends: true,
        // Modules keep no state outside what they open, so one process may run many files: most of their time was imports.
        test: {
          name: "modules",
          include: ["src/**/*.test.ts", "web/**/*.test.ts"],
          isolate: false,
          globalSetup,
        },
      },
      { extends: true, test: { name: "whole", include: ["test/**/*.test.ts"], globalSetup } },
    ],
  },
});
