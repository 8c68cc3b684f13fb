import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { aPrivateFarm } from "./private-farm.fixture.ts";
import {
  answersTellNothing,
  outcomeOfCall,
  readByDigest,
  readingCalls,
} from "./two-private-projects.fixture.ts";

let farm: Awaited<ReturnType<typeof aPrivateFarm>>;
beforeAll(async () => {
  farm = await aPrivateFarm();
});
afterAll(() => farm?.stop());

const requests = 1_000;

describe("who may read one project only", () => {
  test("learns by HTTP of another project what it learns of one that does not exist", async () => {
    const checked = await fc.check(answersTellNothing(farm), { numRuns: requests });

    expect(checked.failed ? fc.defaultReportMessage(checked) : "").toBe("");
  }, 300_000);

  test("reads its own", async () => {
    const response = await fetch(new URL(`/api/v1/graphs/${farm.ownGraph}`, farm.server.url), {
      headers: { authorization: `Bearer ${farm.token}` },
    });

    expect(response.status).toBe(200);
    await response.body?.cancel();
  });

  test("opens no output and no log of another repository by its digest", async () => {
    const { tried, different } = await readByDigest(farm);

    expect(different).toEqual([]);
    expect(tried).toBe(60);
  });

  test("learns nothing by gRPC", async () => {
    const calls = readingCalls(farm.asker("team/beta", farm.token));
    const different: string[] = [];
    for (const [name, call] of Object.entries(calls)) {
      const said = await outcomeOfCall(call, farm.theirs);
      const saidOfNothing = await outcomeOfCall(call, farm.nobodys);
      if (said !== saidOfNothing) different.push(`${name}: ${said}, of nothing ${saidOfNothing}`);
    }

    expect(different).toEqual([]);
    expect(Object.keys(calls).length).toBeGreaterThan(10);
  });
});
