import { messageOf } from "#core/fault.ts";
import type { Check, CheckResult, Finding } from "./check.ts";

export interface Group {
  readonly name: string;
  readonly checks: readonly Check[];
}

/** A check that hangs counts as a failure. */
const longestMs = 20_000;

/** Runs all checks, group by group; an error that a check throws becomes its result. */
export async function* runChecks(groups: readonly Group[]): AsyncGenerator<CheckResult> {
  for (const group of groups) {
    const found = group.checks.map(async (check) => ({ check, finding: await findingOf(check) }));
    for (const each of found) {
      const { check, finding } = await each;
      yield {
        group: group.name,
        name: check.name,
        status: finding.status,
        detail: finding.detail,
        fix: finding.status === "ok" ? null : (finding.fix ?? check.fix),
      };
    }
  }
}

async function findingOf(check: Check): Promise<Finding> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Finding>((resolve) => {
    timer = setTimeout(() => {
      resolve({
        status: "warn",
        detail: `no answer within ${longestMs / 1_000} s`,
        fix: "Check which programs keep this machine busy, then run the check again",
      });
    }, longestMs);
  });
  try {
    return await Promise.race([check.run(), late]);
  } catch (reason) {
    return {
      status: "fail",
      detail: messageOf(reason),
      fix: undefined,
    };
  } finally {
    clearTimeout(timer);
  }
}
