import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { mostSharedBytes } from "#grpc/server.ts";
import { hostileCases, tryHostile } from "../../../test/build-tools/hostile-cases.ts";
import { openTarget } from "../../../test/build-tools/hostile-target.ts";
import { type Farm, startFarm } from "../../../test/support/farm.ts";
import { quantile } from "../quantile.ts";
import { atMost, exactly, forInformation, type Measurement, type Row } from "../row.ts";
import type { Attack } from "./attacker.ts";
import { type HonestClient, honestClient, type Spent } from "./honest-client.ts";

/** The maximum that a server may store for others, and as much for the garbage of creating it. */
const mostGrowthMiB = (2 * mostSharedBytes) / 1_048_576;
const honestCalls = 40;
const rounds = 3;

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

/** Attacks that run while honest clients work; each is a separate process. */
const attacks = [
  ["1,000 uploads that stop", "slow-uploads"],
  ["1,000 readers of 4 MiB that do not read", "slow-readers"],
  ["1,000 calls that never say what", "half-open"],
  ["1,000 batches without their last byte", "held-batches"],
  ["200 connections that say nothing, 200 slow PUTs", "slow-http"],
  ["FindMissing of 50,000", "many-digests"],
  ["FindMissing of 2,000,000 empty digests", "noise"],
  ["batches of 2,000,000 empty blobs", "noisy-batches"],
  ["zstd bombs of 64 MiB", "bombs"],
  ["a connection for every call", "connections"],
  ["1,000 small calls at once on one connection", "many-calls"],
  ["three floods at once", "floods"],
] as const;

async function attackRows(): Promise<Row[]> {
  const sink = fork(beside("sink.ts"));
  const attacker = fork(beside("attacker.ts"));
  try {
    const [[sinkUrl]] = await Promise.all([once(sink, "message"), once(attacker, "message")]);
    const rows: Row[] = [];
    for (const each of attacks) rows.push(...(await attackRow(each, attacker, sinkUrl)));
    return rows;
  } finally {
    await Promise.all([killed(sink), killed(attacker)]);
  }
}

async function attackRow(
  [title, kind]: (typeof attacks)[number],
  attacker: ChildProcess,
  sinkUrl: string,
): Promise<Row[]> {
  // Memory that one attack has used is not released for the next.
  const farm = await startFarm({ workers: 0 });
  const honest = await honestClient(farm.url, () => mainThreadMs(farm));
  try {
    await honest.work(honestCalls);
    const idle = await serverMiB(farm);
    const alone = median(await honest.work(honestCalls), "ms");
    const ours: Spent[] = [];
    const others: Spent[] = [];
    let most = 0;
    let pace = 0;
    let longestClearing = 0;
    for (let round = 0; round < rounds; round++) {
      const look = async () => {
        most = Math.max(most, await serverMiB(farm).catch(() => 0));
      };
      const watching = setInterval(() => void look(), 200);
      const attacked = await underAttack(honest, attacker, { url: farm.url, kind });
      clearInterval(watching);
      ours.push(...attacked.spent);
      pace = attacked.callsPerSecond;
      // The clean-up after an attack is not part of the comparison.
      longestClearing = Math.max(longestClearing, await secondsUntil(honest, 1.5 * alone));
      const elsewhere = await underAttack(honest, attacker, {
        url: sinkUrl,
        kind,
        pace: Math.max(pace, 0.1),
      });
      others.push(...elsewhere.spent);
    }
    const [during, meanwhile] = [median(ours, "ms"), median(others, "ms")];
    const [busy, usual] = [median(ours, "serverMs"), median(others, "serverMs")];
    const sameElsewhere =
      "while the same attacker does as many of the same calls to a sink on the same machine, by turns";
    const how =
      `${rounds} × ${honestCalls} × FindMissing and a batch of 10 small blobs: p50 ${during.toFixed(1)} ms under attack` +
      ` (${pace.toFixed(1)} calls/s), ${meanwhile.toFixed(1)} ${sameElsewhere}; ${alone.toFixed(1)} with nobody else`;
    return [
      atMost(
        `hostile: ${title}: growth of memory`,
        most - idle,
        mostGrowthMiB,
        "MiB",
        `PSS of the server at most, from ${Math.round(idle)} MiB; twice what it may hold of all connections' messages`,
      ),
      atMost(`hostile: ${title}: honest clients slowed`, during / meanwhile, 2, "×", how),
      forInformation(
        `hostile: ${title}: work of the server before an honest answer`,
        busy / usual,
        "×",
        `CPU of its main thread, which waits for no core: ${busy.toFixed(1)} ms under attack, ${usual.toFixed(1)} otherwise`,
      ),
      atMost(
        `hostile: ${title}: slowed for after it`,
        longestClearing,
        5,
        "s",
        "until half of 10 honest calls take at most 1.5 times what they took before",
      ),
    ];
  } finally {
    await honest.stop();
    await farm.stop();
  }
}

/** Measures how long honest calls take during an attack, and how many calls the attacker completes. */
async function underAttack(honest: HonestClient, attacker: ChildProcess, attack: Attack) {
  await told(attacker, attack);
  const since = performance.now();
  const spent = await honest.work(honestCalls);
  const seconds = (performance.now() - since) / 1_000;
  return { spent, callsPerSecond: Number(await told(attacker, "stop")) / seconds };
}

async function secondsUntil(honest: HonestClient, usualMs: number): Promise<number> {
  const since = performance.now();
  const passed = () => (performance.now() - since) / 1_000;
  while (median(await honest.work(10), "ms") > usualMs && passed() < 20);
  return passed();
}

/** Resolves with the attacker's answer to a command. */
function told(attacker: ChildProcess, what: Attack | "stop"): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const gone = () => reject(new Error("the attacker has gone"));
    attacker.once("exit", gone);
    attacker.once("message", (said) => {
      attacker.off("exit", gone);
      resolve(said);
    });
    attacker.send(what);
  });
}

async function killed(child: ChildProcess): Promise<void> {
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
}

function beside(file: string): string {
  return new URL(file, import.meta.url).pathname;
}

function median(spent: readonly Spent[], of: keyof Spent): number {
  return quantile(
    spent.map((each) => each[of]),
    0.5,
  );
}

/** Returns the CPU time of its main thread. On a busy machine, this is more reliable than a clock. */
function mainThreadMs({ server }: Farm): number {
  const text = readFileSync(`/proc/${server.pid}/task/${server.pid}/schedstat`, "utf8");
  return Number(text.split(" ")[0]) / 1e6;
}

/** PSS: shared pages are counted once among those that share them. */
async function serverMiB({ server }: Farm): Promise<number> {
  const text = await readFile(`/proc/${server.pid}/smaps_rollup`, "utf8");
  return Number(/^Pss:\s+(\d+) kB/m.exec(text)?.[1] ?? 0) / 1_024;
}
