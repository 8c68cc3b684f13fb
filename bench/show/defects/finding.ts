import type { Row } from "../row.ts";
import { runTests } from "../run-tests.ts";

/** A numbered finding of a review of commit 22f0a19, and the tests that reproduce it now. */
export interface Finding {
  /** The review and its number: `security 4`, `faults V2`. */
  readonly id: string;
  /** The behaviour at 22f0a19, in a few words. */
  readonly defect: string;
  /**
   * Test files that repeat the review's steps, and check the present behaviour. With `titled`, only the tests whose
   * title matches belong to this finding; no match is a row that does not hold.
   */
  readonly tests: readonly { readonly file: string; readonly titled?: RegExp }[];
  /** Other places in the code with the same cause, which were fixed. */
  readonly samePlaces: number;
  /** The part that is still as the review found it; empty if there is none. Such a row does not hold. */
  readonly left?: string;
}

/** Runs each test file once, and returns one row for each finding. */
export async function rowsOf(findings: readonly Finding[]): Promise<Row[]> {
  const files = [...new Set(findings.flatMap(({ tests }) => tests.map(({ file }) => file)))];
  const ran = new Map<string, Awaited<ReturnType<typeof runTests>>>();
  for (const file of files) ran.set(file, await runTests(file));
  return findings.map((finding) => {
    const tests = finding.tests.flatMap(({ file, titled }) =>
      (ran.get(file) ?? []).filter(({ title }) => titled === undefined || titled.test(title)),
    );
    const failed = tests.filter(({ passed }) => !passed);
    return {
      name: `${finding.id}: ${finding.defect}`,
      figure: `${tests.length - failed.length} of ${tests.length}`,
      unit: "reproductions held",
      goal: "all",
      holds: tests.length > 0 && failed.length === 0 && finding.left === undefined,
      how: [
        `same cause in ${finding.samePlaces} other places, fixed`,
        finding.tests.map(({ file }) => file).join(", "),
        ...failed.map(({ title, why }) => `failed: ${title}: ${why}`),
        ...(finding.left === undefined ? [] : [`not done: ${finding.left}`]),
      ].join("; "),
    };
  });
}
