import { afterAll, beforeAll, expect, test } from "vitest";
import { allEndpoints } from "#api/endpoints/all-endpoints.ts";
import { aFarmOfCallers, callerNames, unexpected } from "./endpoints-by-principals.fixture.ts";
import { methodRights } from "./grpc/method-rights.ts";

let farm: Awaited<ReturnType<typeof aFarmOfCallers>>;
beforeAll(async () => {
  farm = await aFarmOfCallers();
});
afterAll(() => farm?.stop());

test.each(callerNames)("%s gets of each endpoint what the table states", async (name) => {
  const cells = await farm.endpointsBy(name);

  expect(unexpected(cells)).toEqual([]);
  expect(cells.length).toBe(Object.keys(allEndpoints).length);
});

test.each(callerNames)(
  "%s gets of each gRPC method what the table states",
  async (name) => {
    const cells = await farm.methodsBy(name);

    expect(unexpected(cells)).toEqual([]);
    expect(cells.length).toBe(Object.keys(methodRights).length);
  },
  60_000,
);
