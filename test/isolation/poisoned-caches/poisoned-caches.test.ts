import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { testedTools } from "../../build-tools/caches/all-tools.ts";
import { curl } from "../../support/needs/machine-needs.ts";
import { needs } from "../../support/needs/needs.ts";
import { poisonOverHttp, protocols } from "./over-http.ts";
import { attackers, openPoisonFarm, type PoisonFarm } from "./poison-farm.ts";
import { poisonWithTool } from "./with-real-tool.ts";

let farm: PoisonFarm;
beforeAll(async () => {
  if (curl.missing === undefined) farm = await openPoisonFarm();
});
afterAll(() => farm?.stop());

describe.each(protocols.map((protocol) => [protocol.tool, protocol] as const))(
  "%s over HTTP",
  (_, protocol) => {
    test.each(attackers)(
      "a protected build never reads what a %s wrote",
      needs(curl),
      async (who) => {
        expect(await poisonOverHttp(farm, protocol, who)).toEqual([]);
      },
    );
  },
);

// One layout of ccache and one mode of Turborepo: their domains do not differ.
const tools = testedTools.filter(({ name }) =>
  ["ccache, layout flat", "Gradle", "Turborepo", "Nx"].includes(name),
);

describe.each(tools.map((tool) => [tool.name, tool] as const))("the real %s", (_, tool) => {
  test("a protected build takes nothing from any attacker", needs(curl, tool.need), async () => {
    expect(await poisonWithTool(farm, tool)).toEqual(
      Object.fromEntries(attackers.map((attacker) => [attacker, []])),
    );
  });
});
