import type { Reporter, TestCase, TestModule } from "vitest/node";
import { notTestedLines } from "./needs/not-tested.ts";

/** Where it is set, as in `.ci/run`, a skipped test counts as a failed one. */
const runsAll = process.env["GRANGE_TEST_ALL"] === "1";
const slowestShown = 10;

/**
 * Ends the run with what was not tested, and then with one plain line that any reader can count on:
 * `N passed, N failed`, and `, N skipped` where tests were skipped.
 */
// Vitest loads a reporter by its default export.
// oxlint-disable-next-line import/no-default-export
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const count = (state: string) => tests.filter((test) => test.result().state === state).length;
    const brokenModules = modules.filter((module) => module.errors().length > 0).length;
    const skipped = tests.filter((test) => test.result().state === "skipped");
    const print = (line: string) => process.stdout.write(`${line}\n`);
    if (runsAll) {
      for (const line of slowestModules(modules)) print(line);
      for (const test of skipped) print(`skipped: ${test.fullName} (${reasonOf(test)})`);
    }
    for (const test of tests.filter((each) => each.diagnostic()?.flaky === true)) {
      print(`flaky: ${test.fullName} (passed at its second try)`);
    }
    const lacks = skipped.map((test) => ({
      title: test.fullName,
      lacks: test.meta().lacks ?? [],
    }));
    for (const line of notTestedLines(lacks)) print(line);
    const failed = count("failed") + brokenModules + errors.length;
    if (runsAll && skipped.length > 0) {
      print("GRANGE_TEST_ALL=1: skipped tests count as failed ones");
      process.exitCode = 1;
      print(`${count("passed")} passed, ${failed + skipped.length} failed`);
      return;
    }
    const also = skipped.length > 0 ? `, ${skipped.length} skipped` : "";
    print(`${count("passed")} passed, ${failed} failed${also}`);
  }
}

function slowestModules(modules: readonly TestModule[]): string[] {
  const timed = modules.map((module) => ({
    seconds: module.diagnostic().duration / 1_000,
    file: module.relativeModuleId,
  }));
  return timed
    .toSorted((a, b) => b.seconds - a.seconds)
    .slice(0, slowestShown)
    .map(({ seconds, file }) => `slow: ${seconds.toFixed(1).padStart(6)} s  ${file}`);
}

function reasonOf(test: TestCase): string {
  const lacks = test.meta().lacks ?? [];
  if (lacks.length > 0) return lacks.map(({ name, missing }) => `${name}: ${missing}`).join("; ");
  const result = test.result();
  return result.state === "skipped" ? (result.note ?? "no reason given") : "";
}
