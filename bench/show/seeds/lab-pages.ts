import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { openPostgres } from "#db/postgres.ts";
import { type Farm, startFarm } from "../../../test/support/farm.ts";
import { farmDatabaseUrl } from "../../../test/support/farm-database-url.ts";
import { asRustcPerf, loadHistory } from "../../benchmark-history.ts";
import { quantile } from "../quantile.ts";
import { atMost, forInformation, type Measurement, type Row } from "../row.ts";

const { cases, artifacts } = asRustcPerf;
/** The number for each kind; no answer is requested twice. */
const answers = 50;
const mostMs = 100;
/** The number of earlier answers of each kind, with other data, because Node compiles frequently run code. */
const warmUps = 15;
/** The files of a cluster that are read at once. */
const filesAtOnce = 8;

/** Pages of a lab with years of results, as a browser requests them. */
export const labPages: Measurement = {
  title: "pages of the benchmark lab",
  long: false,
  async measure() {
    const dataDir = await mkdtemp(join(tmpdir(), "grange-lab-pages-"));
    const farm = await startFarm({ workers: 0, dataDir });
    try {
      const loadedInS = await load(farm);
      const isCold = await restartCold(farm, dataDir);
      const how = `${cases} cases × ${artifacts.toLocaleString("en")} commits × 8 metrics; HTTP, ${answers} answers, none asked for before, after ${warmUps} of other data; ${
        isCold
          ? "the database restarted, its files out of the page cache"
          : "the database restarted; its files may be in the page cache"
      }`;
      const rows = [
        ...(await timed(farm, "first comparison", comparison, how)),
        ...(await timed(farm, "one series", series, how)),
        ...(await timed(farm, "graphs", (nth) => graphs(nth), how)),
        ...(await timed(farm, "status", () => "status", how)),
      ];
      return [forInformation("lab pages: results inserted", loadedInS, "s", how), ...rows];
    } finally {
      await farm.stop();
      await rm(dataDir, { recursive: true, force: true });
    }
  },
};

async function load(farm: Farm): Promise<number> {
  const db = openPostgres({ url: await farmDatabaseUrl(farm), poolSize: 2 });
  const startedAt = performance.now();
  try {
    await loadHistory(db, asRustcPerf);
  } finally {
    await db.close();
  }
  return (performance.now() - startedAt) / 1_000;
}

/** Restarts server and database; returns whether the database's files were also removed from the page cache. */
async function restartCold(farm: Farm, dataDir: string): Promise<boolean> {
  farm.server.signal("SIGTERM");
  await farm.server.finished;
  const isCold = await forgetFiles(join(dataDir, "pgdata"));
  await farm.restartServer();
  // The server is warm, as for almost all its visitors; the requested data is not.
  for (let nth = 0; nth < warmUps; nth++) {
    await answerOf(farm, `compare?suite=lab&before=nightly-${nth + 1}&after=nightly-${nth + 2}`);
    await answerOf(farm, graphs(nth, true));
    await answerOf(farm, series(cases / 10 - 1 - nth));
    await answerOf(farm, "status");
  }
  return isCold;
}

/** Removes a directory's files from the page cache, if `dd` supports it. */
async function forgetFiles(directory: string): Promise<boolean> {
  const run = promisify(execFile);
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  try {
    await run("sync");
    for (let begin = 0; begin < files.length; begin += filesAtOnce) {
      const some = files.slice(begin, begin + filesAtOnce);
      await Promise.all(
        some.map(({ parentPath, name }) =>
          run("dd", [`if=${join(parentPath, name)}`, "iflag=nocache", "count=0"]),
        ),
      );
    }
    return true;
  } catch {
    return false;
  }
}

function comparison(nth: number): string {
  // After the artifacts of the warm-up.
  const after = 150 + nth * Math.floor((artifacts - 150) / answers);
  // Usually the changes of one commit, and every fifth time those of twenty commits.
  const before = after - (nth % 5 === 0 ? 20 : 1);
  return `compare?suite=lab&before=nightly-${before}&after=nightly-${after}`;
}

function series(nth: number): string {
  const named = `compile benchmark-${nth} profile-${nth % 5} scenario-${nth % 2} js linux-x64`;
  return `series?suite=lab&case=${encodeURIComponent(named)}`;
}

/** Half of the line for measured requests, the other half for the warm-up. */
function graphs(nth: number, isWarmUp = false): string {
  const newest = isWarmUp ? artifacts / 2 : artifacts;
  return `graphs?suite=lab&to=nightly-${newest - nth * Math.floor(artifacts / answers / 2)}`;
}

async function timed(
  farm: Farm,
  what: string,
  pathOf: (nth: number) => string,
  how: string,
): Promise<Row[]> {
  const took: number[] = [];
  let bytes = 0;
  for (let nth = 0; nth < answers; nth++) {
    const answer = await answerOf(farm, pathOf(nth));
    took.push(answer.ms);
    bytes += answer.bytes;
  }
  const at = (q: number) => `${quantile(took, q).toFixed(0)} ms`;
  return [
    atMost(
      `lab pages: ${what}, p95 of ${answers}`,
      quantile(took, 0.95),
      mostMs,
      "ms",
      `${how}; median ${at(0.5)}, longest ${at(1)}, ${Math.round(bytes / answers / 1_000)} kB each`,
    ),
  ];
}

async function answerOf(farm: Farm, path: string): Promise<{ ms: number; bytes: number }> {
  const startedAt = performance.now();
  const answer = await fetch(`${farm.url}/api/v1/benchmarks/${path}`);
  const body = await answer.arrayBuffer();
  const ms = performance.now() - startedAt;
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${Buffer.from(body).toString()}`);
  return { ms, bytes: body.byteLength };
}
