import { binomialTail } from "./binomial-tail.ts";

/** Equal artifacts that look different, in how many of how many comparisons. */
interface SelfTestCounts {
  readonly comparisons: number;
  readonly alarms: number;
}

/** Verdicts rest on p below 0.01; twice as many alarms as that are a machine that cannot be believed. */
const mostAlarmRate = 0.02;
/** So unlikely must the alarms be of a machine that raises no more: of a few comparisons, one or two are chance. */
const leastLikely = 0.01;

interface SelfTestJudgement {
  /** False: nothing was compared, so that the test is no evidence in either direction. */
  readonly saysSomething: boolean;
  readonly passed: boolean;
  /** For people, when the test was not passed. */
  readonly sentence: string | null;
}

/** Decides whether a collector that compared an artifact with itself may go on. Nothing to compare is no failure. */
export function judgeSelfTest({ comparisons, alarms }: SelfTestCounts): SelfTestJudgement {
  if (binomialTail(alarms, comparisons, mostAlarmRate) >= leastLikely)
    return { saysSomething: comparisons > 0, passed: true, sentence: null };
  const percent = ((alarms / comparisons) * 100).toFixed(1);
  return {
    saysSomething: true,
    passed: false,
    sentence:
      `its self-test raised ${alarms === 1 ? "1 alarm" : `${alarms} alarms`} in ${comparisons} comparisons ` +
      `of an artifact with itself (${percent} %; of ${mostAlarmRate * 100} %, as may be, that is no chance)`,
  };
}

export interface Duty {
  readonly outOfDuty: string | null;
  readonly outOfDutyByTest: boolean;
}

/**
 * Returns the effect of a self-test on a collector's duty. A decision of a person stays, however well the collector
 * measures; so does the result of an earlier test, while later ones have nothing to compare.
 */
export function dutyAfterTest(
  before: Duty,
  { saysSomething, passed, sentence }: SelfTestJudgement,
): Duty {
  const isSaidByPerson = before.outOfDuty !== null && !before.outOfDutyByTest;
  if (isSaidByPerson || !saysSomething) return before;
  return passed
    ? { outOfDuty: null, outOfDutyByTest: false }
    : { outOfDuty: sentence, outOfDutyByTest: true };
}
