import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import {
  type Entry,
  type NamedTest,
  type Paper,
  papers,
  readPapers,
} from "../../../test/support/papers/read-papers.ts";
import {
  testsInFile,
  testsMeant,
  type WrittenTest,
} from "../../../test/support/papers/tests-in-file.ts";
import type { Measurement, Row } from "../row.ts";
import { runTests, type TestResult } from "../run-tests.ts";

const document = "docs/papers.md";

/**
 * The number of sentences of each paper with named tests. `test/papers.test.ts` checks that these exist and contain
 * assertions.
 */
export const sentencesListed: Measurement = {
  title: "sentences with a listed test",
  long: false,
  measure: async () => {
    const { entries } = readPapers(await readFile(document, "utf8"));
    return rowsOf(entries, "listed", ({ shownBy }) =>
      shownBy.kind === "tests" ? undefined : `open: ${shownBy.reason}`,
    );
  },
};

/** Runs all tests that the document names, and counts the sentences whose tests all passed. */
export const sentencesPassing: Measurement = {
  title: "sentences with a passing test",
  long: true,
  measure: async () => {
    const { entries } = readPapers(await readFile(document, "utf8"));
    const files = new Set(entries.flatMap(testsOf).map(({ file }) => file));
    await installTools();
    const results = await runTests(...files);
    const resultsOf = (of: string) => results.filter(({ file }) => file === of);
    const written = new Map([...files].map((file) => [file, testsInFile(file)]));
    return rowsOf(entries, "passing", (entry) => {
      if (entry.shownBy.kind === "open") return `open: ${entry.shownBy.reason}`;
      return entry.shownBy.tests
        .map(({ file, part }) => whyNot(testsMeant(written.get(file) ?? [], part), resultsOf(file)))
        .find((why) => why !== undefined);
    });
  },
};

/** Installs the packages of tools that some tests use; a test without its tool is skipped, and does not count. */
async function installTools(): Promise<void> {
  const env = { ...process.env, GRANGE_TEST_ALL: "1" };
  await promisify(execFile)("node", ["scripts/install-test-packages.mjs"], { env });
}

const testsOf = ({ shownBy }: Entry): readonly NamedTest[] =>
  shownBy.kind === "tests" ? shownBy.tests : [];

/** Returns why a named test does not count: it did not run, was skipped, or failed. */
function whyNot(meant: readonly WrittenTest[], results: readonly TestResult[]): string | undefined {
  const ran = results.filter(({ fullName }) => meant.some((test) => isRunOf(fullName, test)));
  if (ran.length === 0) return `did not run: ${meant[0]?.fullName ?? "a test that is missing"}`;
  const failed = ran.find(({ passed }) => !passed);
  return failed && `${failed.fullName}: ${failed.why}`;
}

/** Whether a test that ran matches a written name with placeholders. */
function isRunOf(fullName: string, { fullName: written }: WrittenTest): boolean {
  const holes = /\$[\w.]+|%[a-z#]|\*/g;
  const pattern = written
    .split(holes)
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"))
    .join("[^]*");
  return new RegExp(`^${pattern}$`).test(fullName);
}

function rowsOf(
  entries: readonly Entry[],
  what: string,
  whyNotOf: (entry: Entry) => string | undefined,
): Row[] {
  return Object.entries(papers).flatMap(([paper, title]) => {
    const all = entries.filter((entry) => entry.paper === (paper as Paper));
    const missing = all.flatMap((entry) => {
      const why = whyNotOf(entry);
      return why === undefined ? [] : [`${entry.name} (${why})`];
    });
    return {
      name: `${title}: sentences with a ${what} test`,
      figure: all.length - missing.length,
      unit: `of ${all.length}`,
      goal: "all",
      holds: all.length > 0 && missing.length === 0,
      how: `docs/papers.md${missing.length === 0 ? "" : `; without: ${missing.join("; ")}`}`,
    };
  });
}
