import {
  aFarmOfCallers,
  callerNames,
  unexpected,
} from "#server/endpoints-by-principals.fixture.ts";
import type { Measurement, Row } from "../row.ts";

/** Each kind of caller calls each endpoint and each gRPC method. */
export const endpointsByPrincipals: Measurement = {
  title: "endpoints and gRPC methods by principal",
  long: false,
  async measure() {
    const farm = await aFarmOfCallers("own");
    try {
      return [
        await rowOf("endpoints", (name) => farm.endpointsBy(name)),
        await rowOf("gRPC methods", (name) => farm.methodsBy(name)),
      ];
    } finally {
      await farm.stop();
    }
  },
};

async function rowOf(
  what: string,
  cellsOf: (name: (typeof callerNames)[number]) => ReturnType<Farm["endpointsBy"]>,
): Promise<Row> {
  let cells = 0;
  const wrong: string[] = [];
  for (const name of callerNames) {
    const ofCaller = await cellsOf(name);
    cells += ofCaller.length;
    wrong.push(...unexpected(ofCaller).map((each) => `${name}: ${each}`));
  }
  const how = `a private farm; the tables of rights say what is expected; callers: ${callerNames.join(", ")}`;
  return {
    name: `${what} × ${callerNames.length} principals: answers as expected`,
    figure: cells - wrong.length,
    unit: `of ${cells}`,
    goal: "all",
    holds: wrong.length === 0 && cells > 0,
    how: [how, ...wrong.slice(0, 5)].join("; "),
  };
}

type Farm = Awaited<ReturnType<typeof aFarmOfCallers>>;
