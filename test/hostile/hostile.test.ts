import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type HostileCase, isFull, type OpenSuite } from "./case.ts";
import { isAlive, pidOf } from "./run-suite.ts";
import { hostileSuites } from "./suites.ts";

const open = new Map<string, OpenSuite<unknown>>();

// After all suites, not after each: suites that attack one farm share it.
afterAll(async () => {
  for (const suite of open.values()) await suite.stop();
});

describe.each(hostileSuites)("$interface", (suite) => {
  const target = () => open.get(suite.interface)?.target;
  beforeAll(async () => {
    open.set(suite.interface, await suite.open({ full: isFull }));
  });
  const together = suite.cases.filter(({ alone }) => alone !== true);
  const alone = suite.cases.filter((each) => each.alone === true);

  const attempt = async (hostile: HostileCase<unknown>) => hostile.run(target());

  // Some wait for workers, which all suites share.
  test.concurrent.each(together)("$name", async (hostile) => {
    await expect(attempt(hostile)).resolves.toBeUndefined();
  });
  test.each(alone)("$name", async (hostile) => {
    await expect(attempt(hostile)).resolves.toBeUndefined();
  });

  test(`has at least ${suite.atLeast} cases, and the attacked process still runs`, () => {
    const pid = pidOf(target());

    expect(new Set(suite.cases.map(({ name }) => name)).size).toBe(suite.cases.length);
    expect(suite.cases.length).toBeGreaterThanOrEqual(suite.atLeast);
    expect(pid === undefined || isAlive(pid)).toBe(true);
  });
});
