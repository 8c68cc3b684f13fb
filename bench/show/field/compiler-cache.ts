import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { requireNeeds } from "../require-needs.ts";
import type { Measurement, Row } from "../row.ts";
import { type Figure, printTurn, quantitiesOf, turnsOf } from "./by-turns.ts";
import { ours } from "./cas-contenders.ts";
import { absentRow, comparisonRows } from "./comparison-rows.ts";
import {
  type CompilerCacheServer,
  startGrangeCache,
  startNginxCache,
  startRedis,
} from "./compiler-cache-servers.ts";
import { type CompilerCacheTool, ccacheTool, sccacheTool } from "./compiler-cache-tools.ts";

const rounds = 5;
const units = 100;

export const ccacheSpeed = measurementOf(ccacheTool, [startRedis, startNginxCache]);
export const sccacheSpeed = measurementOf(sccacheTool, [startRedis]);

/** A compiler cache without a local cache, with a farm and with each of the other servers. */
function measurementOf(
  tool: CompilerCacheTool,
  others: readonly (typeof startRedis)[],
): Measurement {
  return {
    title: `${tool.name} with a farm, beside ${others.length === 1 ? "Redis" : "Redis and nginx"}`,
    long: false,
    async measure() {
      requireNeeds([tool.need]);
      const directory = await mkdtemp(join(tmpdir(), "grange-field-"));
      const servers: CompilerCacheServer[] = [];
      const absent: Row[] = [];
      try {
        servers.push(await startGrangeCache());
        for (const start of others) {
          const server = await start(directory);
          if ("absent" in server) absent.push(absentRow(tool.name, server));
          else servers.push(server);
        }
        return [...(await measure(directory, tool, servers)), ...absent];
      } finally {
        for (const server of servers) await server.stop();
        await rm(directory, { recursive: true, force: true });
      }
    },
  };
}

async function measure(
  directory: string,
  tool: CompilerCacheTool,
  servers: readonly CompilerCacheServer[],
): Promise<Row[]> {
  const measured: { server: string; figures: readonly Figure[] }[] = [];
  for (let round = 0; round < rounds; round++) {
    // Other sources in each round, so that nothing is stored yet.
    for (let n = 0; n < units; n++)
      await writeFile(join(directory, `unit${n}.c`), `int unit${n}(void) { return ${round}; }\n`);
    for (const server of turnsOf(servers, round)) {
      printTurn(round, rounds, server.name);
      const stored = await tool.compileAll(directory, units, server);
      const found = await tool.compileAll(directory, units, server);
      if (stored.hits !== 0 || found.hits !== units)
        throw new Error(`${server.name}: ${stored.hits} and ${found.hits} hits of ${units}`);
      const secondsOf = (what: string, value: number): Figure => ({
        what: `${tool.name}: ${units} small files ${what}`,
        unit: "s",
        better: "lower",
        value,
      });
      measured.push({
        server: server.name,
        figures: [
          secondsOf("compiled and stored", stored.seconds),
          secondsOf("found", found.seconds),
        ],
      });
    }
  }
  const how = `one call of ${tool.name} after the other, and no local cache`;
  return quantitiesOf(measured).flatMap((quantity) =>
    comparisonRows(quantity, ours, { kind: "information" }, how),
  );
}
