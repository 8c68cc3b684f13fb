import type { TestProjectInlineConfiguration } from "vitest/config";
import type { TestGroup } from "./test-groups.ts";

/** A group of tests, and the directory that holds what its jobs declare. */
export interface DirectoryOfTests extends Pick<TestGroup, "jobs" | "project" | "paths"> {
  readonly directory: string;
}

/** Returns the Vitest project that runs the tests of a directory, from the one that runs them in the checkout. */
export function projectOfDirectory(
  { jobs, paths, directory }: DirectoryOfTests,
  inCheckout: NonNullable<TestProjectInlineConfiguration["test"]>,
): TestProjectInlineConfiguration {
  const include = paths.map((path) => (path.includes("*") ? path : `${path}/**/*.test.ts`));
  return {
    extends: true,
    root: directory,
    test: {
      ...inCheckout,
      name: jobs[0] ?? directory,
      ...(include.length === 0 ? {} : { include }),
      // All processes of tests start in the directory of the checkout.
      setupFiles: ["test/support/enter-directory.ts"],
    },
  };
}
