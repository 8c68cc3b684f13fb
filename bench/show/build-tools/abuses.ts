import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { type Farm, startFarm } from "../../../test/support/farm.ts";
import { quantile } from "../quantile.ts";
import type { Attack } from "./attacker.ts";
import { type HonestClient, honestClient, ownWorkMs, type Spent } from "./honest-client.ts";

const honestCalls = 40;
const rounds = 3;

/** What one abuser does at full speed while an honest client works; the abuser is a process of its own. */
export const abuses = [
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

export type Abuse = (typeof abuses)[number];

/** The effect of an abuse on a server and on an honest client. */
interface Abused {
  /** Median times of an honest call, in ms: without others, under the abuse, and with the same load on a sink. */
  readonly aloneMs: number;
  readonly duringMs: number;
  readonly meanwhileMs: number;
  /** The same for the CPU time of the server's main thread. */
  readonly busyMs: number;
  readonly usualMs: number;
  /** Of a build of honest calls, with its own work between them: under the abuse, and with the load on the sink. */
  readonly buildMs: number;
  readonly usualBuildMs: number;
  readonly idleMiB: number;
  readonly growthMiB: number;
  readonly callsPerSecond: number;
  readonly clearingSeconds: number;
  readonly how: string;
}

/** The processes of an abuser: the attacker itself, and the sink to which it does the same for comparison. */
export interface Abuser {
  measure(abuse: Abuse): Promise<Abused>;
  stop(): Promise<void>;
}

export async function startAbuser(): Promise<Abuser> {
  const sink = fork(beside("sink.ts"));
  const attacker = fork(beside("attacker.ts"));
  const [[sinkUrl]] = await Promise.all([once(sink, "message"), once(attacker, "message")]);
  return {
    measure: (abuse) => measureAbuse(abuse, attacker, sinkUrl),
    async stop() {
      await Promise.all([killed(sink), killed(attacker)]);
    },
  };
}

async function measureAbuse(
  [, kind]: Abuse,
  attacker: ChildProcess,
  sinkUrl: string,
): Promise<Abused> {
  // Memory that one attack has used is not released for the next.
  const farm = await startFarm({ workers: 0 });
  const honest = await honestClient(farm.url, () => mainThreadMs(farm));
  try {
    await honest.work(honestCalls);
    const idleMiB = await serverMiB(farm);
    const aloneMs = median(await honest.work(honestCalls), "ms");
    const ours: Spent[] = [];
    const others: Spent[] = [];
    let most = 0;
    let pace = 0;
    let clearingSeconds = 0;
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
      clearingSeconds = Math.max(clearingSeconds, await secondsUntil(honest, 1.5 * aloneMs));
      const elsewhere = await underAttack(honest, attacker, {
        url: sinkUrl,
        kind,
        pace: Math.max(pace, 0.1),
      });
      others.push(...elsewhere.spent);
    }
    const [duringMs, meanwhileMs] = [median(ours, "ms"), median(others, "ms")];
    return {
      aloneMs,
      duringMs,
      meanwhileMs,
      busyMs: median(ours, "serverMs"),
      usualMs: median(others, "serverMs"),
      buildMs: buildMs(ours),
      usualBuildMs: buildMs(others),
      idleMiB,
      growthMiB: most - idleMiB,
      callsPerSecond: pace,
      clearingSeconds,
      how:
        `${rounds} × ${honestCalls} × FindMissing and a batch of 10 small blobs: p50 ${duringMs.toFixed(1)} ms under attack` +
        ` (${pace.toFixed(1)} calls/s), ${meanwhileMs.toFixed(1)} while the same attacker does as many of the same calls` +
        ` to a sink on the same machine, by turns; ${aloneMs.toFixed(1)} with nobody else`,
    };
  } finally {
    await honest.stop();
    await farm.stop();
  }
}

function buildMs(spent: readonly Spent[]): number {
  return spent.reduce((sum, { ms }) => sum + ms + ownWorkMs, 0);
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
