import { relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * The files that take longest, the longest first. With `GRANGE_TEST_ALL=1`, a run ends with the ten longest and their
 * times; compare this list with them from time to time.
 */
export const longFiles: readonly string[] = [
  "test/granary/tools.test.ts",
  "test/hostile/hostile.test.ts",
  "test/build-tools/bazel.test.ts",
  "test/browser/every-page.test.ts",
  "test/isolation/poisoned-caches/poisoned-caches.test.ts",
  "test/end-to-end/demo.test.ts",
  "test/end-to-end/lab-failures.test.ts",
  "test/isolation/sandbox-attacks/sandbox-attacks.test.ts",
  "test/simulation/simulation.test.ts",
  "test/end-to-end/forge.test.ts",
  "test/faults/backup.test.ts",
  "test/end-to-end/collector.test.ts",
  "test/build-tools/http-caches.test.ts",
  "test/build-tools/conformance/each-sandbox.test.ts",
  "test/browser/log.test.ts",
  // The longest beside the sources. Each is a small file: in the order of their sizes, they were the last ones of a run.
  "src/granary/front/real-tools.test.ts",
  "src/worker/image/oci/killed-worker.test.ts",
  "src/server/endpoints-by-principals.test.ts",
  "src/graphs/advancing/step-by-step.test.ts",
];

/**
 * Runs the longest files first, then the others that start whole farms, and then the many short ones beside the
 * sources.
 *
 * A fresh checkout has no durations of an earlier run. Vitest would order files by their sizes then, and some of the
 * longest are among the smallest: a run ended with one such file while all but one of the workers were idle.
 */
export class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}

/**
 * Files of one project with the same rank stay together: Vitest ends a process when the next file is of another. Long files
 * beside the sources are for this reason after all below `test/`.
 */
function rank({ moduleId, project }: TestSpecification): number {
  const path = relative(project.config.root, moduleId);
  const at = longFiles.indexOf(path);
  if (path.startsWith("test/")) return at >= 0 ? at : longFiles.length;
  return longFiles.length + (at >= 0 ? 1 : 2);
}
