import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";
import { type DirectoryOfTests, projectOfDirectory } from "./scripts/test/project-of-directory.ts";
import { LongFilesFirst } from "./test/support/long-files-first.ts";

/** Named by each project: named above them, too, it would be run once more. */
const globalSetup = ["test/support/global-setup.ts"];

/**
 * What runs in the checkout itself.
 *
 * Modules keep no state outside what they open, so one process runs many files: imports were most of the time of the first
 * project, and a sixth of the second.
 */
const inCheckout = {
  modules: { include: ["src/**/*.test.ts", "web/**/*.test.ts"], isolate: false, globalSetup },
  whole: { include: ["test/**/*.test.ts"], isolate: false, globalSetup },
};

export default defineConfig({
  // Not below node_modules: jobs share that, and each change of it would be a new input.
  cacheDir: ".cache/vite",
  test: {
    // Limits that only what hangs comes to: with forty processes for two CPUs, a start of a farm was seen to take half a
    // minute, and tests of whole farms more than two. No test has a lower limit of its own.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 30_000 } },
    sequence: { sequencer: LongFilesFirst },
    // What lands is not decided by unlucky moments of a shared machine; a test that needed
    // another try is named at the end of the run, to be put right.
    retry: process.env["CI"] === undefined ? 0 : 2,
    // End-to-end files mostly wait for processes; on two cores the default would be one at a time. With one file more than
    // cores, the processors were busy for 63 % of a run.
    maxWorkers: availableParallelism() + 2,
    // Some workers of tests have no sandbox on purpose, and CI is root.
    env: { GRANGE_ALLOW_ROOT_JOBS: "1" },
    projects: projects(process.env["GRANGE_TEST_GROUPS"]),
  },
});

/** Returns the two projects of the checkout, or one for each directory that `npm test` made for jobs. */
function projects(groups: string | undefined): TestProjectInlineConfiguration[] {
  if (groups === undefined)
    return Object.entries(inCheckout).map(([name, test]) => ({
      extends: true,
      test: { name, ...test },
    }));
  const directories = JSON.parse(readFileSync(groups, "utf8")) as DirectoryOfTests[];
  return directories.map((each) =>
    projectOfDirectory(each, each.project === "modules" ? inCheckout.modules : inCheckout.whole),
  );
}
