import type { Reporter, TestModule } from "vitest/node";

/**
 * Ends the run with one plain line that any reader can count on:
 * `N passed, N failed`, and `, N skipped` with each skipped test named above it.
 */
// Vitest loads a reporter by its default export.
// oxlint-disable-next-line import/no-default-export
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const count = (state: string) => tests.filter((test) => test.result().state === state).length;
    const brokenModules = modules.filter((module) => module.errors().length > 0).length;
    const skipped = tests.filter((test) => test.result().state === "skipped");
    for (const test of skipped) {
      const result = test.result();
      const note = result.state === "skipped" ? (result.note ?? "no reason given") : "";
      process.stdout.write(`skipped: ${test.fullName} (${note})\n`);
    }
    for (const test of tests.filter((each) => each.diagnostic()?.flaky === true)) {
      process.stdout.write(`flaky: ${test.fullName} (passed at its second try)\n`);
    }
    const failed = count("failed") + brokenModules + errors.length;
    const also = skipped.length > 0 ? `, ${skipped.length} skipped` : "";
    process.stdout.write(`${count("passed")} passed, ${failed} failed${also}\n`);
  }
}
