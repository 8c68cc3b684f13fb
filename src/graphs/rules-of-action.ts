import { canonicalJson } from "#core/canonical-json.ts";
import { LineMatcher } from "#core/line-patterns/line-matcher.ts";
import { compileRules } from "#core/outcome-rules.ts";
import type { JobDefinition } from "#definitions/job-definition.ts";
import { rulesOf } from "#definitions/outcome-rules-of-job.ts";
import { shownLines } from "./job-script.ts";

/**
 * What a job's action says about success and failure, as canonical JSON; undefined when it says nothing.
 *
 * A job without rules is the same action as ever. Of the lines with which the script shows its own
 * commands, those are named that a pattern fits: `./test || echo FAILED` is no failure yet.
 */
export function rulesOfAction(job: JobDefinition): string | undefined {
  const rules = rulesOf(job);
  if (Object.keys(rules).length === 0) return undefined;
  const matcher = new LineMatcher(compileRules(rules).map(({ compiled }) => compiled));
  const shown = new Set(
    (job.commands ?? []).flatMap(shownLines).filter((line) => matcher.in(line).length > 0),
  );
  return canonicalJson({ ...rules, ...(shown.size === 0 ? {} : { shown: [...shown] }) });
}
