import { randomUUID } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rest } from "#core/resting.ts";
import { isAlive, ownOwner } from "#machine/owner.ts";
import { type CpuLoads, withLoad } from "./choose-cpus.ts";
import { cpuListText, parseCpuList } from "./cpu-list.ts";

/** CPUs that a worker has claimed until it exits. */
export interface ClaimedCpus {
  readonly cpus: readonly number[];
  giveUp(): void;
}

const lockName = "lock";
/**
 * Choosing takes a millisecond. After this number of attempts the worker continues without exclusive CPUs, which is
 * slow but correct.
 */
const mostTries = 200;
const tryEveryMs = 10;

/**
 * Claims CPUs among the workers that share a directory: each worker records its CPUs in its own file, and only one at a
 * time chooses, by the records of the others. Records of dead workers do not count.
 */
export async function claimCpus(
  directory: string,
  choose: (loads: CpuLoads) => readonly number[],
): Promise<ClaimedCpus> {
  mkdirSync(directory, { recursive: true });
  const file = join(directory, `${ownOwner()}~${randomUUID()}`);
  const unlock = await lock(join(directory, lockName));
  try {
    const cpus = choose(loadsOf(claimsIn(directory)));
    writeFileSync(file, cpuListText(cpus));
    return { cpus, giveUp: () => rmSync(file, { force: true }) };
  } finally {
    unlock();
  }
}

async function lock(file: string): Promise<() => void> {
  for (let tries = 0; tries < mostTries; tries++) {
    try {
      writeFileSync(file, ownOwner(), { flag: "wx" });
      return () => rmSync(file, { force: true });
    } catch {
      const owner = textIn(file);
      if (owner !== "" && !isAlive(owner)) rmSync(file, { force: true });
      await rest(tryEveryMs);
    }
  }
  return () => {};
}

function claimsIn(directory: string): number[][] {
  return readdirSync(directory).flatMap((name) => {
    if (name === lockName) return [];
    if (isAlive(name.split("~")[0] ?? "")) return [parseCpuList(textIn(join(directory, name)))];
    rmSync(join(directory, name), { force: true });
    return [];
  });
}

/** Empty when the claim has just been released. */
function textIn(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

function loadsOf(claims: readonly (readonly number[])[]): CpuLoads {
  return claims.reduce<CpuLoads>((loads, cpus) => withLoad(loads, cpus, cpus.length), new Map());
}
