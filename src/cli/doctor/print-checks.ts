import { type ExitCode, exitCodes } from "../exit-code.ts";
import type { Session } from "../session.ts";
import type { CheckResult } from "./check.ts";
import { type Group, runChecks } from "./run-checks.ts";

/**
 * Runs checks and prints each result as soon as it is known, or all results as JSON. Fails when a check fails, not for
 * a warning.
 */
export async function printChecks(
  groups: readonly Group[],
  { answer }: Session["terminal"],
  options: { readonly json?: boolean },
): Promise<ExitCode> {
  const results: CheckResult[] = [];
  for await (const result of runChecks(groups)) {
    if (options.json !== true) {
      if (result.group !== results.at(-1)?.group) answer.line(answer.paint.bold(result.group));
      for (const line of resultLines(result, answer.paint)) answer.line(line);
    }
    results.push(result);
  }
  const count = (status: CheckResult["status"]) =>
    results.filter((result) => result.status === status).length;
  const summary = { ok: count("ok"), warn: count("warn"), fail: count("fail") };
  if (options.json === true)
    answer.line(JSON.stringify({ summary, checks: results }, undefined, 2));
  else answer.line(`${summary.ok} ok, ${summary.warn} warnings, ${summary.fail} errors`);
  return summary.fail === 0 ? exitCodes.ok : exitCodes.failed;
}

function resultLines(
  { status, name, detail, fix }: CheckResult,
  paint: Session["terminal"]["answer"]["paint"],
): string[] {
  const signs = { ok: paint.green("✓"), warn: paint.yellow("!"), fail: paint.red("✗") };
  return [
    `  ${signs[status]} ${name}: ${detail}`,
    ...(fix === null ? [] : [`      ${paint.dim("→")} ${fix}`]),
  ];
}
