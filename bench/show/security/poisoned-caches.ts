import { testedTools } from "../../../test/build-tools/caches/all-tools.ts";
import { poisonOverHttp, protocols } from "../../../test/isolation/poisoned-caches/over-http.ts";
import {
  attackers,
  openPoisonFarm,
  type PoisonFarm,
} from "../../../test/isolation/poisoned-caches/poison-farm.ts";
import { poisonWithTool } from "../../../test/isolation/poisoned-caches/with-real-tool.ts";
import type { Measurement, Row } from "../row.ts";

interface Attempt {
  readonly name: string;
  readonly fell: readonly string[];
}

/** Eight tools × three attackers: over HTTP, and with the real tools that this machine has. */
export const poisonedCaches: Measurement = {
  title: "poisoned caches",
  long: false,
  async measure() {
    const farm = await openPoisonFarm();
    try {
      return [
        rowOf(
          "poisoned caches: 8 tools × 3 attackers, over HTTP",
          await overHttp(farm),
          protocols.length * attackers.length,
          "an entry is written and deleted before and after the CI writes it; what protected builds read is compared",
        ),
        ...(await withRealTools(farm)),
      ];
    } finally {
      await farm.stop();
    }
  },
};

async function overHttp(farm: PoisonFarm): Promise<Attempt[]> {
  const attempts: Attempt[] = [];
  for (const protocol of protocols) {
    for (const attacker of attackers) {
      const fell = await poisonOverHttp(farm, protocol, attacker);
      attempts.push({ name: `${protocol.tool}, ${attacker}`, fell });
    }
  }
  return attempts;
}

async function withRealTools(farm: PoisonFarm): Promise<Row[]> {
  const installed = testedTools.filter(({ need }) => need.missing === undefined);
  const absent = testedTools.filter(({ need }) => need.missing !== undefined);
  const attempts: Attempt[] = [];
  for (const tool of installed) {
    const fallen = await poisonWithTool(farm, tool);
    for (const attacker of attackers)
      attempts.push({ name: `${tool.name}, ${attacker}`, fell: fallen[attacker] });
  }
  const how = `each attacker builds first, then the CI; tools: ${installed.map(({ name }) => name).join("; ")}`;
  const missing = absent.map(({ name, need }) => `${name} (${need.missing})`).join("; ");
  return [
    rowOf(
      "poisoned caches: with the real tools × 3 attackers",
      attempts,
      attempts.length,
      missing === "" ? how : `${how}. Not here: ${missing}`,
    ),
  ];
}

function rowOf(name: string, attempts: readonly Attempt[], all: number, how: string): Row {
  const fallen = attempts.filter(({ fell }) => fell.length > 0);
  return {
    name,
    figure: attempts.length - fallen.length,
    unit: `of ${all} held`,
    goal: "all",
    holds: fallen.length === 0 && attempts.length === all && all > 0,
    how: [how, ...fallen.map((each) => `${each.name}: ${each.fell.join(", ")}`)].join("; "),
  };
}
