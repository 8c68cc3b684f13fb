import { canonicalJson } from "#core/canonical-json.ts";
import { LineMatcher } from "#core/line-patterns/line-matcher.ts";
import { compileRules } from "#core/outcome-rules.ts";
import type { JobDefinition } from "#definitions/job-definition.ts";
import { rulesOf } from "#definitions/outcome-rules-of-job.ts";
import { shownLines } from "./job-script.ts";

/**
 * Returns a job's rules about success and failure, as canonical JSON; undefined when it has none.
 *
 * Adding no rules leaves the action unchanged. The lines with which the script prints its own commands are listed where
 * a pattern matches them: printing `./test || echo FAILED` is not yet a failure.
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
