import { hostileCases, tryHostile } from "../../../test/build-tools/hostile-cases.ts";
import { openTarget } from "../../../test/build-tools/hostile-target.ts";
import { startFarm } from "../../../test/support/farm.ts";
import { atMost, exactly, forInformation, type Measurement, type Row } from "../row.ts";
import { type Abuse, type Abuser, abuses, startAbuser } from "./abuses.ts";

/** What a server may hold of all connections' messages, and more than as much for the garbage of creating it. */
const mostGrowthMiB = 200;

export const hostile: Measurement = {
  title: "hostile clients",
  long: false,
  async measure() {
    return [...(await casesRow()), ...(await attackRows())];
  },
};

async function casesRow(): Promise<Row[]> {
  const farm = await startFarm({ workers: 0 });
  const target = await openTarget(farm);
  try {
    const failed: string[] = [];
    for (const each of hostileCases) {
      const { isAsWanted, added, got } = await tryHostile(each, target);
      if (!isAsWanted || added.length > 0)
        failed.push(`${each.name}: ${got}, left ${added.length}`);
    }
    const all = hostileCases.length;
    const how = `each by itself, with an honest client after it; ${failed.join("; ") || "none failed"}`;
    return [
      exactly(
        "hostile: cases refused with the right code, nothing stored",
        all - failed.length,
        all,
        "",
        how,
      ),
    ];
  } finally {
    await target.stop();
    await farm.stop();
  }
}

async function attackRows(): Promise<Row[]> {
  const abuser = await startAbuser();
  try {
    const rows: Row[] = [];
    for (const abuse of abuses) rows.push(...(await attackRow(abuse, abuser)));
    return rows;
  } finally {
    await abuser.stop();
  }
}

async function attackRow(abuse: Abuse, abuser: Abuser): Promise<Row[]> {
  const [title] = abuse;
  const seen = await abuser.measure(abuse);
  return [
    atMost(
      `hostile: ${title}: growth of memory`,
      seen.growthMiB,
      mostGrowthMiB,
      "MiB",
      `PSS of the server at most, from ${Math.round(seen.idleMiB)} MiB`,
    ),
    atMost(
      `hostile: ${title}: honest clients slowed`,
      seen.duringMs / seen.meanwhileMs,
      2,
      "×",
      seen.how,
    ),
    forInformation(
      `hostile: ${title}: work of the server before an honest answer`,
      seen.busyMs / seen.usualMs,
      "×",
      `CPU of its main thread, which waits for no core: ${seen.busyMs.toFixed(1)} ms under attack, ${seen.usualMs.toFixed(1)} otherwise`,
    ),
    atMost(
      `hostile: ${title}: slowed for after it`,
      seen.clearingSeconds,
      5,
      "s",
      "until half of 10 honest calls take at most 1.5 times what they took before",
    ),
  ];
}
