import { messageOf } from "#core/fault.ts";
import type { Check, CheckResult, Finding } from "./check.ts";

export interface Group {
  readonly name: string;
  readonly checks: readonly Check[];
}

/** A check that hangs says as much as one that fails. */
const longestMs = 20_000;

/** Asks all questions, group by group; one that throws is answered by its error. */
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
        fix: finding.status === "ok" ? null : finding.fix,
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
        fix: "See what this machine is busy with, then ask again",
      });
    }, longestMs);
  });
  try {
    return await Promise.race([check.run(), late]);
  } catch (reason) {
    return {
      status: "fail",
      detail: messageOf(reason),
      fix: "The check itself did not work; the sentence before says why",
    };
  } finally {
    clearTimeout(timer);
  }
}
