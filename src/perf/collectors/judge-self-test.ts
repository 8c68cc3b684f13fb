import { binomialTail } from "./binomial-tail.ts";

/** The number of comparisons of equal artifacts, and how many of them found a difference. */
interface SelfTestCounts {
  readonly comparisons: number;
  readonly alarms: number;
}

/** Verdicts use p below 0.01; with twice as many alarms as that, the machine is not reliable. */
const mostAlarmRate = 0.02;
/**
 * A test fails only if a reliable machine would have so many alarms less often than this: in a few comparisons, one or
 * two alarms are chance.
 */
const leastLikely = 0.01;

interface SelfTestJudgement {
  /** False: nothing was compared, so that the test is no evidence in either direction. */
  readonly saysSomething: boolean;
  readonly passed: boolean;
  /** For people, when the test was not passed. */
  readonly sentence: string | null;
}

/**
 * Decides whether a collector that compared an artifact with itself may continue. A test without comparisons is no
 * failure.
 */
export function judgeSelfTest({ comparisons, alarms }: SelfTestCounts): SelfTestJudgement {
  if (binomialTail(alarms, comparisons, mostAlarmRate) >= leastLikely)
    return { saysSomething: comparisons > 0, passed: true, sentence: null };
  const percent = ((alarms / comparisons) * 100).toFixed(1);
  return {
    saysSomething: true,
    passed: false,
    sentence:
      `its self-test raised ${alarms === 1 ? "1 alarm" : `${alarms} alarms`} in ${comparisons} comparisons ` +
      `of an artifact with itself (${percent} %; with the allowed rate of ${mostAlarmRate * 100} %, chance does not explain this)`,
  };
}

export interface Duty {
  readonly outOfDuty: string | null;
  readonly outOfDutyByTest: boolean;
}

/**
 * Returns the effect of a self-test on a collector's duty. A person's decision stays, however good the results are; so
 * does the result of an earlier test, while later tests have nothing to compare.
 */
export function dutyAfterTest(
  before: Duty,
  { saysSomething, passed, sentence }: SelfTestJudgement,
): Duty {
  const isDecidedByPerson = before.outOfDuty !== null && !before.outOfDutyByTest;
  if (isDecidedByPerson || !saysSomething) return before;
  return passed
    ? { outOfDuty: null, outOfDutyByTest: false }
    : { outOfDuty: sentence, outOfDutyByTest: true };
}
