import { join } from "node:path";
import { testedTools } from "../../../test/build-tools/caches/all-tools.ts";
import type { Build, ToolDriver } from "../../../test/build-tools/caches/tool-driver.ts";
import { type CachePlace, tryTool } from "../../../test/build-tools/caches/try-tool.ts";
import { type Farm, startFarm } from "../../../test/support/farm.ts";
import { exactly, forInformation, type Measurement, type Row } from "../row.ts";

const wrong = "a token that the farm does not know";
const gone = "the server gone after the third piece that the tool sent";
const rotten = "one byte of every value changed on the farm's disk";

/** Real build tools on the farm's HTTP caches: all entries are found again, and no event breaks a build. */
export const httpCaches: Measurement = {
  title: "HTTP caches of ccache, sccache, Go, Gradle, Maven, Turborepo and Nx",
  long: false,
  async measure() {
    const farm = await startFarm({ workers: 0 });
    try {
      const token = await cacheToken(farm);
      const place = { url: farm.url, token, blobs: join(farm.dataDir, "blobs") };
      const rows: Row[] = [];
      for (const tool of testedTools) rows.push(...(await rowsOf(tool, place)));
      return rows;
    } finally {
      await farm.stop();
    }
  },
};

/** A new farm allows everybody everything; but a program that sends a token needs a valid one. */
async function cacheToken(farm: Farm): Promise<string> {
  const post = async (path: string, body: unknown): Promise<unknown> => {
    const answer = await fetch(`${farm.url}/api/v1${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
    return answer.json();
  };
  const { token } = (await post("/tokens", { principal: "ci" })) as { token: string };
  await post("/grants", { principal: "ci", verb: "cache", repository: "*" });
  return token;
}

async function rowsOf(tool: ToolDriver, place: CachePlace): Promise<Row[]> {
  const missing = tool.need.missing;
  if (missing !== undefined) {
    return [
      { name: tool.name, figure: null, unit: "", goal: "all hits", holds: false, how: missing },
    ];
  }
  const tried = await tryTool(tool, place);
  const { cold } = tried;
  const parts = cold.hits + cold.misses;
  const how = `${tool.name}: ${parts} parts, each build from scratch`;
  const right = (name: string, build: Build, what: string) =>
    exactly(`${tool.name}: ${name}`, verdict(build, cold), "right", "", `${how}; ${what}`);
  return [
    exactly(`${tool.name}: hits when warm`, tried.warm.hits, parts, "hits", how),
    forInformation(`${tool.name}: cold`, tried.coldMs / 1_000, "s", how),
    forInformation(`${tool.name}: warm`, tried.warmMs / 1_000, "s", how),
    right("wrong token", tried.wrongToken, wrong),
    tool.needsServer === true
      ? {
          name: `${tool.name}: server gone`,
          figure: verdict(tried.gone, cold),
          unit: "",
          goal: "for information",
          holds: true,
          how: `${how}; ${gone}; the tool itself ends then`,
        }
      : right("server gone", tried.gone, gone),
    right("values rotten", tried.rotten, rotten),
    exactly(`${tool.name}: hits after that`, tried.healed.hits, parts, "hits", how),
  ];
}

function verdict(build: Build, cold: Build): string {
  if (build.code !== 0) return `ended with ${build.code}`;
  return build.outputs === cold.outputs ? "right" : "WRONG BYTES";
}
