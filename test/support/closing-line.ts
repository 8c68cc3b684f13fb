import type { Reporter, TestCase, TestModule } from "vitest/node";
import { notTestedLines } from "./needs/not-tested.ts";

/** If set, as in `.ci/run`, a skipped test counts as a failed one. */
const runsAll = process.env["GRANGE_TEST_ALL"] === "1";
/** The names of needs without which the run still passes: what comes from a network that cannot be reached. */
const mayLack = new Set(process.env["GRANGE_TEST_MAY_LACK"]?.split(","));
const slowestShown = 10;
const mostFailuresShown = 20;

/**
 * Ends the run with the tests that were skipped and then with one line in a fixed format:
 * `N passed, N failed`, and `, N skipped` if tests were skipped.
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
      const tries = (test.diagnostic()?.retryCount ?? 0) + 1;
      print(`flaky: ${test.fullName} (passed at try ${tries})`);
    }
    const passed = count("passed");
    const failed = count("failed") + brokenModules + errors.length;
    const failures = [
      ...tests.filter((test) => test.result().state === "failed").map(lineOfTest),
      ...modules.flatMap((module) =>
        module.errors().map(({ message }) => `${module.relativeModuleId}: ${firstLine(message)}`),
      ),
      ...errors.map((error) => `outside any test: ${firstLine(messageOf(error))}`),
    ];
    const lacks = skipped.map((test) => ({ title: test.fullName, lacks: test.meta().lacks ?? [] }));
    for (const line of notTestedLines(lacks)) print(line);
    // Once more: a run of all tests has a long output.
    for (const line of failures.slice(0, mostFailuresShown)) print(`failed: ${line}`);
    const unexpected = lacks.filter(
      (each) => each.lacks.length === 0 || !each.lacks.every(({ name }) => mayLack.has(name)),
    );
    if (runsAll && unexpected.length > 0) {
      print("GRANGE_TEST_ALL=1: skipped tests count as failed ones");
      process.exitCode = 1;
      print(`${passed} passed, ${failed + unexpected.length} failed`);
      return;
    }
    const also = lacks.length > 0 ? `, ${lacks.length} skipped` : "";
    print(`${passed} passed, ${failed} failed${also}`);
  }
}

function lineOfTest(test: TestCase): string {
  const message = test.result().errors?.[0]?.message ?? "no reason given";
  return `${test.module.relativeModuleId} > ${test.fullName}: ${firstLine(message)}`;
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
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
