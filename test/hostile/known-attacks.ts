import assert from "node:assert/strict";
import { type HostileCase as Attack, tryHostile } from "../build-tools/hostile-cases.ts";

import type { HostileCase } from "./case.ts";
import type { HostileFarm } from "./hostile-farm.ts";

/**
 * An attack on what build tools speak: refused with the code that it wants, nothing is left of it,
 * and an honest client is served after it. By itself, since what is left is counted.
 */
export function tried(attacks: readonly Attack[]): HostileCase<HostileFarm>[] {
  return attacks.map((attack, at) => ({
    // Names are cut to be read; two that were told apart by their ends are by their places.
    name:
      attacks.findIndex(({ name }) => name === attack.name) === at
        ? attack.name
        : `${attack.name} (${at})`,
    alone: true,
    async run(farm, clock) {
      const { got, added, ms } = await tryHostile(attack, farm);
      clock?.took(ms);
      isOneOf(got, ...[attack.wanted].flat());
      assert.deepEqual(added, []);
    },
  }));
}

/** The answer that a call got is one of these. */
export function isOneOf(got: string, ...wanted: readonly string[]): void {
  assert(wanted.includes(got), `${got} instead of ${wanted.join(" or ")}`);
}
