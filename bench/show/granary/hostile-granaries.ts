import { Fault } from "#core/fault.ts";
import { GrpcChannel } from "#grpc/channel.ts";
import { type Farm, startFarm } from "../../../test/support/farm.ts";
import { runGrange } from "../../../test/support/run-grange.ts";
import { sampleRepository } from "../../../test/support/sample-repository.ts";
import { atMost, exactly, forInformation, type Measurement, type Row } from "../row.ts";
import { attacksOnFarms } from "./attacks-on-farms.ts";
import { type Hostile, hostileOn, rpc, sha } from "./hostile-caller.ts";
import { watchMemory } from "./watch-memory.ts";

/** Two large indexes at a time, about 200 MiB each when decoded, and as much garbage. */
const mostGrowthMiB = 1_024;

/** The attacks of a malicious granary on a farm: they are refused and limited, and others are served meanwhile. */
export const hostileGranaries: Measurement = {
  title: "hostile granaries",
  long: false,
  async measure() {
    const farm = await startFarm({ workers: 0 });
    const repository = await sampleRepository({
      ".grange/farm.yml": 'version: 1\njobs:\n  a: { commands: "true", inputs: [] }\n',
    });
    const channel = new GrpcChannel({ url: farm.url });
    try {
      await runGrange(["submit", "--repo", repository.path, "--server", farm.url]);
      return await attack(farm, hostileOn(channel, repository.path));
    } finally {
      await channel.stop();
      await farm.stop();
      await repository.remove();
    }
  },
};

async function attack(farm: Farm, hostile: Hostile): Promise<Row[]> {
  const memory = await watchMemory(farm.server.pid);
  const honest = honestBuilds(farm);
  const failed: string[] = [];
  for (const { name, times, wanted, act } of attacksOnFarms) {
    const ends = await Promise.all(
      Array.from({ length: times }, (_, n) =>
        act(hostile, n).catch((reason: unknown) =>
          reason instanceof Fault ? reason.code : String(reason),
        ),
      ),
    );
    const others = [...new Set(ends)].filter((end) => end !== wanted);
    if (others.length > 0) failed.push(`${name}: ${others.join(", ")}`);
    memory.passed(name);
  }
  const { calls, failures, longestMs } = await honest.stop();
  const { grownMiB, most } = memory.stop();
  const isAlive = (await fetch(`${farm.url}/api/v1/granary/quarantine?project=default`)).ok;
  const how = `${attacksOnFarms.length} attacks by several at once, with a granary that means well beside them; ${failed.join("; ") || "none failed"}`;
  return [
    exactly(
      "hostile granaries: attacks that end as they should",
      attacksOnFarms.length - failed.length,
      attacksOnFarms.length,
      "",
      how,
    ),
    atMost(
      "hostile granaries: farm's memory at its most, above before",
      grownMiB,
      mostGrowthMiB,
      "MiB",
      `most in: ${most}`,
    ),
    exactly("hostile granaries: the farm answers afterwards", String(isAlive), "true", "", how),
    exactly(
      "hostile granaries: honest calls that failed meanwhile",
      failures,
      0,
      `of ${calls}`,
      "look-ups of a result, index and filter, one after the other",
    ),
    forInformation(
      "hostile granaries: the longest honest call",
      longestMs,
      "ms",
      "on a machine that the attackers load as well",
    ),
  ];
}

function honestBuilds(farm: Farm) {
  const channel = new GrpcChannel({ url: farm.url });
  const end = { calls: 0, failures: 0, longestMs: 0 };
  let isOver = false;
  const running = (async () => {
    while (!isOver) {
      const begun = performance.now();
      try {
        await channel.unary(rpc.lookUp, { results: [{ namespace: "ccache", key: "k" }] });
        await channel.unary(rpc.resolve, {
          commits: [sha("honest")],
          environment: "e",
          wantFilter: true,
        });
      } catch {
        end.failures++;
      }
      end.calls++;
      end.longestMs = Math.max(end.longestMs, performance.now() - begun);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();
  return {
    async stop() {
      isOver = true;
      await running;
      await channel.stop();
      return end;
    },
  };
}
