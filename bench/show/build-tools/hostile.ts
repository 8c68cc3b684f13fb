import { fork } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { hostileCases, tryHostile } from "../../../test/build-tools/hostile-cases.ts";
import { openTarget } from "../../../test/build-tools/hostile-target.ts";
import { type Farm, startFarm } from "../../../test/support/farm.ts";
import { quantile } from "../quantile.ts";
import { atMost, exactly, type Measurement, type Row } from "../row.ts";
import { type HonestClient, honestClient } from "./honest-client.ts";

/** What a server may take more under attack, whatever the attack. */
const mostGrowthMiB = 700;
const honestCalls = 300;

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

/** What attackers do at the same time as honest clients work; each is a process of its own. */
const attacks = [
  ["1,000 uploads that stop", "slow-uploads"],
  ["1,000 readers of 4 MiB that do not read", "slow-readers"],
  ["1,000 calls that never say what", "half-open"],
  ["1,000 batches without their last byte", "held-batches"],
  ["200 connections that say nothing, 200 slow PUTs", "slow-http"],
  ["floods: FindMissing of 50,000, bombs, noise", "flood"],
] as const;

async function attackRows(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [title, kind] of attacks) {
    // What one attack has made a server take, it does not give back for the next.
    const farm = await startFarm({ workers: 0 });
    const honest = await honestClient(farm.url);
    try {
      await honest.work(honestCalls);
      const idle = await serverMiB(farm);
      const before = await p50(honest);
      const { during, most } = await underAttack(farm, honest, kind);
      const after = await p50(honest);
      const usual = Math.max(before, after);
      const how = `${honestCalls} × FindMissing and a batch of 10 small blobs: p50 ${before.toFixed(1)} ms before, ${during.toFixed(1)} during, ${after.toFixed(1)} after`;
      rows.push(
        atMost(
          `hostile: ${title}: growth of memory`,
          most - idle,
          mostGrowthMiB,
          "MiB",
          `PSS of the server at most, from ${Math.round(idle)} MiB`,
        ),
        atMost(`hostile: ${title}: honest clients slowed`, during / usual, 2, "×", how),
      );
    } finally {
      await honest.stop();
      await farm.stop();
    }
  }
  return rows;
}

async function underAttack(farm: Farm, honest: HonestClient, kind: string) {
  const attacker = fork(new URL("./attacker.ts", import.meta.url).pathname, [farm.url, kind]);
  try {
    // It says when everything is open.
    await once(attacker, "message");
    let most = 0;
    const watching = setInterval(async () => {
      most = Math.max(most, await serverMiB(farm));
    }, 200);
    const during = await p50(honest);
    clearInterval(watching);
    most = Math.max(most, await serverMiB(farm));
    return { during, most };
  } finally {
    const gone = once(attacker, "exit");
    attacker.kill("SIGKILL");
    await gone;
  }
}

async function p50(honest: HonestClient): Promise<number> {
  return quantile(await honest.work(honestCalls), 0.5);
}

/** PSS: shared pages are counted once among those that share them. */
async function serverMiB({ server }: Farm): Promise<number> {
  const text = await readFile(`/proc/${server.pid}/smaps_rollup`, "utf8");
  return Number(/^Pss:\s+(\d+) kB/m.exec(text)?.[1] ?? 0) / 1_024;
}
