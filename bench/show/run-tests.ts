import { execFile } from "node:child_process";
import { readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";

const Report = z.object({
  testResults: z.array(
    z.object({
      message: z.string(),
      assertionResults: z.array(
        z.object({
          title: z.string(),
          status: z.string(),
          duration: z.number().nullish(),
          failureMessages: z.array(z.string()).nullish(),
        }),
      ),
    }),
  ),
});

/** How one test went. */
export interface TestResult {
  readonly title: string;
  readonly passed: boolean;
  readonly ms: number;
  /** The first line of what went wrong; empty when nothing did. */
  readonly why: string;
}

/** Runs test files by themselves and answers how each test in them went; a file that cannot run is a failed test. */
export async function runTests(...files: readonly string[]): Promise<TestResult[]> {
  const output = join(tmpdir(), `grange-show-${process.pid}-${Date.now()}.json`);
  const args = ["vitest", "run", ...files, "--reporter=json", `--outputFile=${output}`];
  // Its exit code says no more than the report, and a report is there in either case.
  await new Promise<void>((resolve) => {
    execFile("npx", ["--no-install", ...args], { maxBuffer: 2 ** 26 }, () => resolve());
  });
  try {
    const report = Report.parse(JSON.parse(await readFile(output, "utf8")));
    return report.testResults.flatMap(({ message, assertionResults }) =>
      assertionResults.length === 0
        ? [{ title: files.join(" "), passed: false, ms: 0, why: firstLine(message) }]
        : assertionResults.map((test) => ({
            title: test.title,
            passed: test.status === "passed",
            ms: test.duration ?? 0,
            why:
              test.status === "passed" ? "" : firstLine(test.failureMessages?.[0] ?? test.status),
          })),
    );
  } finally {
    await rm(output, { force: true });
  }
}

function firstLine(text: string): string {
  return text.trim().split("\n")[0] ?? "";
}
