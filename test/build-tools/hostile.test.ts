import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Farm, startFarm } from "../support/farm.ts";
import { hostileCases, tryHostile } from "./hostile-cases.ts";
import { openTarget, type Target } from "./hostile-target.ts";

let farm: Farm;
let target: Target;

beforeAll(async () => {
  farm = await startFarm({ workers: 0 });
  target = await openTarget(farm);
}, 120_000);
afterAll(async () => {
  await target?.stop();
  await farm?.stop();
});

describe("is refused, leaves nothing, and the next one is served", () => {
  test.each(hostileCases.map((hostile) => [hostile.name, hostile] as const))(
    "%s",
    async (_, hostile) => {
      const { got, added } = await tryHostile(hostile, target);

      expect([hostile.wanted].flat()).toContain(got);
      expect(added).toEqual([]);
    },
  );
});
