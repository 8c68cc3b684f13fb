import type { HostileSuite } from "../../../test/hostile/case.ts";
import { openClosedFarm } from "../../../test/hostile/closed-farm.ts";
import { openFarm } from "../../../test/hostile/open-farm.ts";
import { runSuite } from "../../../test/hostile/run-suite.ts";
import { hostileSuites } from "../../../test/hostile/suites.ts";
import { atMost, exactly, forInformation, type Measurement, type Row } from "../row.ts";

/** The maximum growth of an attacked process: research/ux-reliability.md B4. */
const mostGrownMiB = 64;

const options = { full: false };
const how = "each case of test/hostile against a running farm, over its real interface";

/** Every interface that can be attacked, on one open farm and one closed one. */
export const hostileInputs: Measurement = {
  title: "hostile inputs, by interface",
  long: false,
  async measure() {
    const rows: Row[] = [];
    const held = await Promise.all([openFarm(options), openClosedFarm(options)]);
    try {
      for (const suite of hostileSuites) rows.push(...(await rowsOf(suite)));
    } finally {
      for (const farm of held) await farm.stop();
    }
    return rows;
  },
};

async function rowsOf(suite: HostileSuite): Promise<Row[]> {
  const outcome = await runSuite(suite, options);
  const { cases, atLeast, failed, process, slowest } = outcome;
  const refused = cases - failed.length;
  const rows: Row[] = [
    {
      name: `${suite.interface}: refused as they should be`,
      figure: refused,
      unit: `of ${cases}`,
      goal: `all, and at least ${atLeast}`,
      holds: failed.length === 0 && cases >= atLeast,
      how: failed.length === 0 ? how : failed.map(({ name, why }) => `${name}: ${why}`).join("; "),
    },
    forInformation(`${suite.interface}: the slowest`, slowest.ms, "ms", slowest.name),
  ];
  if (process === undefined) return rows;
  const { isAlive, mibBefore, mibAfter } = process;
  return [
    ...rows,
    exactly(
      `${suite.interface}: the attacked process lives`,
      isAlive ? "yes" : "no",
      "yes",
      "",
      how,
    ),
    atMost(
      `${suite.interface}: memory that it kept`,
      Math.max(0, mibAfter - mibBefore),
      mostGrownMiB,
      "MiB",
      "resident, before the first case and after the last",
    ),
  ];
}
