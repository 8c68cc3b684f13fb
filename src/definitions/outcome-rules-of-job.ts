import type { FailureRule, NumberRule, OutcomeRules } from "#core/outcome-rules.ts";
import type { OutcomeKeys } from "./outcome-keys.ts";

/**
 * Returns the success and failure rules of a job, in the form of its action.
 *
 * Exit codes that count as success are not included: the script turns them into 0 (`job-script.ts`). Neither is
 * `retry`, which changes no result.
 */
export function rulesOf({ success, failure, errors }: OutcomeKeys): OutcomeRules {
  const numbers = Object.entries(success?.numbers ?? {});
  const failures = Object.entries(failure ?? {});
  return {
    ...(success?.patterns?.length ? { success: success.patterns } : {}),
    ...(numbers.length === 0
      ? {}
      : { numbers: Object.fromEntries(numbers.map(([name, rule]) => [name, numberRule(rule)])) }),
    ...(failures.length === 0
      ? {}
      : {
          failures: Object.fromEntries(failures.map(([name, known]) => [name, failureRule(known)])),
        }),
    ...(errors?.length ? { errors } : {}),
  };
}

/** Returns a rule with defaults left out, so that two spellings with the same meaning are the same action. */
function numberRule({ pattern, min, max, optional }: NumberRule): NumberRule {
  return {
    pattern,
    ...(min === undefined ? {} : { min }),
    ...(max === undefined ? {} : { max }),
    ...(optional === true ? { optional } : {}),
  };
}

function failureRule({
  patterns = [],
  "exit-codes": exitCodes = [],
  outcomes = [],
  fails,
}: NonNullable<OutcomeKeys["failure"]>[string]): FailureRule {
  return {
    ...(patterns.length === 0 ? {} : { patterns }),
    ...(exitCodes.length === 0 ? {} : { exitCodes }),
    ...(outcomes.length === 0 ? {} : { outcomes }),
    ...(fails === true ? { fails } : {}),
  };
}
