import { Fault, messageOf } from "#core/fault.ts";
import { compileRules, OutcomeRules } from "#core/outcome-rules.ts";
import { type Platform, rulesProperty } from "#core/platform.ts";

/**
 * The rules that an action carries; undefined when it has none.
 *
 * Throws `invalid_argument` for unusable rules, and for rules of a language newer than this worker: an ignored rule
 * would allow a wrong result into the cache.
 */
export function rulesOfAction(platform: Platform): OutcomeRules | undefined {
  const written = platform[rulesProperty];
  if (written === undefined) return undefined;
  const parsed = OutcomeRules.safeParse(jsonOf(written));
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const where = issue?.path.join(".") ?? "";
    throw new Fault("invalid_argument", `its rules cannot be used: ${where}: ${issue?.message}`);
  }
  compileRules(parsed.data);
  return parsed.data;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (reason) {
    throw new Fault("invalid_argument", `its rules are not JSON: ${messageOf(reason)}`);
  }
}
