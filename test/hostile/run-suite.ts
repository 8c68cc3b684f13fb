import { messageOf } from "#core/fault.ts";
import type { HostileCase, HostileSuite, OpenOptions } from "./case.ts";
import { residentMiB } from "./hostile-farm.ts";

/** The outcome of a suite, for a table. */
interface SuiteOutcome {
  readonly interface: string;
  readonly atLeast: number;
  readonly cases: number;
  /** The failed cases, with reasons. */
  readonly failed: readonly { readonly name: string; readonly why: string }[];
  readonly seconds: number;
  /** The slowest case, including its preparation unless the case reports its refusal separately. */
  readonly slowest: { readonly name: string; readonly ms: number };
  /** The attacked process, if it is a separate one. */
  readonly process?:
    | { readonly isAlive: boolean; readonly mibBefore: number; readonly mibAfter: number }
    | undefined;
}

const atOnce = 5;

/** Opens a suite, runs all its cases, and returns the outcome. */
export async function runSuite(suite: HostileSuite, options: OpenOptions): Promise<SuiteOutcome> {
  const opened = await suite.open(options);
  try {
    const { target } = opened;
    const pid = pidOf(target);
    const mibBefore = pid === undefined ? 0 : await residentMiB(pid);
    const since = performance.now();
    const failed: { name: string; why: string }[] = [];
    let slowest = { name: "none", ms: 0 };
    const attempt = async (hostile: HostileCase<unknown>) => {
      const from = performance.now();
      let told: number | undefined;
      const took = (ms: number) => {
        told = ms;
      };
      try {
        await hostile.run(target, { took });
        const ms = told ?? performance.now() - from;
        if (ms > slowest.ms) slowest = { name: hostile.name, ms };
      } catch (reason) {
        failed.push({ name: hostile.name, why: messageOf(reason) });
      }
    };
    const together = suite.cases.filter(({ alone }) => alone !== true).values();
    const lane = async () => {
      for (const each of together) await attempt(each);
    };
    await Promise.all(Array.from({ length: atOnce }, lane));
    for (const each of suite.cases) if (each.alone === true) await attempt(each);
    const seconds = (performance.now() - since) / 1_000;
    const process =
      pid === undefined
        ? undefined
        : {
            isAlive: isAlive(pid),
            mibBefore,
            mibAfter: isAlive(pid) ? await residentMiB(pid) : 0,
          };
    const { atLeast, cases } = suite;
    return {
      interface: suite.interface,
      atLeast,
      cases: cases.length,
      failed,
      seconds,
      slowest,
      process,
    };
  } finally {
    await opened.stop();
  }
}

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Returns the id of the attacked process, if a suite's target has one. */
export function pidOf(target: unknown): number | undefined {
  const pid: unknown =
    typeof target === "object" && target !== null ? Reflect.get(target, "pid") : undefined;
  return typeof pid === "number" ? pid : undefined;
}
