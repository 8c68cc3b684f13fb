import { exactly, type Measurement } from "./row.ts";
import { runTests } from "./run-tests.ts";

/** Returns a row whose figure is the number of failed tests in the files for this property. */
export function byTests(title: string, ...files: readonly string[]): Measurement {
  return {
    title,
    long: false,
    async measure() {
      const results = await runTests(...files);
      const failed = results.filter(({ passed }) => !passed);
      const first =
        failed[0] === undefined ? "" : `; the first: ${failed[0].title}: ${failed[0].why}`;
      const how = `${results.length} tests of ${files.join(", ")}${first}`;
      return [exactly(`${title}: tests that failed`, failed.length, 0, "", how)];
    },
  };
}
