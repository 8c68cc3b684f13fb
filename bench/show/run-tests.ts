import { execFile } from "node:child_process";
import { readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { z } from "zod";

const Report = z.object({
  testResults: z.array(
    z.object({
      name: z.string(),
      message: z.string(),
      assertionResults: z.array(
        z.object({
          title: z.string(),
          fullName: z.string(),
          status: z.string(),
          duration: z.number().nullish(),
          failureMessages: z.array(z.string()).nullish(),
        }),
      ),
    }),
  ),
});

/** The result of one test. */
export interface TestResult {
  readonly title: string;
  /** With the names of the `describe`s around it. */
  readonly fullName: string;
  /** Its file, relative to the checkout. */
  readonly file: string;
  readonly passed: boolean;
  readonly ms: number;
  /** The first line of the failure; empty for a success. */
  readonly why: string;
}

/** Runs test files separately and returns the result of each test; a file that cannot run is a failed test. */
export async function runTests(...files: readonly string[]): Promise<TestResult[]> {
  const output = join(tmpdir(), `grange-show-${process.pid}-${Date.now()}.json`);
  const args = ["vitest", "run", ...files, "--reporter=json", `--outputFile=${output}`];
  // Its exit code contains no more information than the report, which exists in either case.
  await new Promise<void>((resolve) => {
    execFile("npx", ["--no-install", ...args], { maxBuffer: 2 ** 26 }, () => resolve());
  });
  try {
    const report = Report.parse(JSON.parse(await readFile(output, "utf8")));
    return report.testResults.flatMap(({ name, message, assertionResults }) => {
      const file = relative(process.cwd(), name);
      if (assertionResults.length === 0)
        return [
          { title: file, fullName: file, file, passed: false, ms: 0, why: firstLine(message) },
        ];
      return assertionResults.map((test) => ({
        title: test.title,
        fullName: test.fullName,
        file,
        passed: test.status === "passed",
        ms: test.duration ?? 0,
        why: test.status === "passed" ? "" : firstLine(test.failureMessages?.[0] ?? test.status),
      }));
    });
  } finally {
    await rm(output, { force: true });
  }
}

function firstLine(text: string): string {
  return text.trim().split("\n")[0] ?? "";
}
