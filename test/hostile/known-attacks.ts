import assert from "node:assert/strict";
import { type HostileCase as Attack, tryHostile } from "../build-tools/hostile-cases.ts";

import type { HostileCase } from "./case.ts";
import type { HostileFarm } from "./hostile-farm.ts";

/**
 * An attack on the protocols of build tools: it is refused with the expected code, leaves nothing,
 * and an honest client is served afterwards. It runs alone, because the remaining data is counted.
 */
export function tried(attacks: readonly Attack[]): HostileCase<HostileFarm>[] {
  return attacks.map((attack, at) => ({
    // Names are cut; two that differ only at their ends get numbers.
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

/** Checks that the response of a call is one of these. */
export function isOneOf(got: string, ...wanted: readonly string[]): void {
  assert(wanted.includes(got), `${got} instead of ${wanted.join(" or ")}`);
}
