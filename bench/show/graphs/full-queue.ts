import { type ClaimTimes, measureClaims } from "../../claims.ts";
import { atMost, type Measurement, type Row } from "../row.ts";

const queued = 100_000;
const blocked = 100_000;
const claims = 400;
/** Like a busy farm: forty graphs and builds, for eight platforms. */
const load = { queued, claims, lanes: 40, requirementsKinds: 8 };

export const fullQueue: Measurement = {
  title: "a full queue: 100,000 ready and 100,000 blocked jobs",
  long: false,
  async measure() {
    const without = await measureClaims({ ...load, blocked: 0 });
    const withBlocked = await measureClaims({ ...load, blocked });
    return [
      ...rows("nothing blocked", without),
      ...rows("100,000 blocked", withBlocked),
      unmoved(without, withBlocked),
    ];
  },
};

function rows(when: string, times: ClaimTimes): Row[] {
  const how = `${claims} claims by a worker that serves all of 8 platforms, 40 lanes, while others submit, claim and finish; p50 ${times.p50.toFixed(1)} ms`;
  return [
    atMost(`claim with 100,000 queued, ${when}: p99`, times.p99, 50, "ms", how),
    atMost(
      `taking 16 ready jobs, ${when}: p99`,
      times.ready.p99,
      50,
      "ms",
      `the same run; p50 ${times.ready.p50.toFixed(1)} ms`,
    ),
  ];
}

/** Medians are compared, because on a busy machine two p99 differ by chance. */
function unmoved(without: ClaimTimes, withBlocked: ClaimTimes): Row {
  return atMost(
    "what blocked jobs add to a claim: median with / median without",
    withBlocked.p50 / without.p50,
    1.25,
    "×",
    "the two runs above, one after the other",
  );
}
