import { z } from "zod";
import { openPostgres } from "#db/postgres.ts";
import { launchChromium } from "../../../test/support/chromium.ts";
import { type Farm, startFarm } from "../../../test/support/farm.ts";
import { farmDatabaseUrl } from "../../../test/support/farm-database-url.ts";
import {
  type SampleRepository,
  sampleRepository,
} from "../../../test/support/sample-repository.ts";
import { atMost, type Measurement, type Row } from "../row.ts";

/** Checking each job would be the reader's time, not the farm's. */
const SomeGraph = z.object({ jobList: z.array(z.unknown()) });

const files = 40;
const jobsPerFile = 1_000;
const jobs = 10_000;
const farms = 5;
const askEveryMs = 10;

/** 40,000 definitions; each needs the one build of its file, as a matrix of tests does. */
function definitions(): Record<string, string> {
  return Object.fromEntries(
    Array.from({ length: files }, (_, file) => {
      const tests = Array.from(
        { length: jobsPerFile - 1 },
        (_, i) =>
          `  f${file}-t${i}: { needs: [f${file}-build], inputs: [none], tags: { file: f${file} }, commands: "true" }`,
      );
      const build = `  f${file}-build: { inputs: [none], tags: { file: f${file} }, commands: "true" }`;
      return [`.grange/farm-${file}.yml`, ["version: 1", "jobs:", build, ...tests, ""].join("\n")];
    }),
  );
}

/** The statistics of PostgreSQL's planner about the farm's tables when the large graph is submitted. */
type Statistics = "of a graph of two jobs" | "none yet";

interface Times {
  readonly storedMs: number;
  readonly readMs: number;
  readonly pageMs: number;
  readonly stallMs: number;
}

export const largeGraph: Measurement = {
  title: "a graph of 10,000 jobs out of 40,000 definitions",
  long: false,
  async measure() {
    const small = await sampleRepository({
      ".grange/farm.yml":
        'version: 1\njobs:\n  a: { inputs: [none], commands: "true" }\n  b: { needs: [a], inputs: [none], commands: "true" }\n',
      none: "",
    });
    const large = await sampleRepository({ ...definitions(), none: "" });
    try {
      const rows: Row[] = [];
      for (const statistics of ["of a graph of two jobs", "none yet"] as const) {
        const times: Times[] = [];
        for (let i = 0; i < farms; i++) times.push(await freshFarm(small, large, statistics));
        rows.push(...rowsOf(times, statistics));
      }
      return rows;
    } finally {
      await small.remove();
      await large.remove();
    }
  },
};

async function freshFarm(
  small: SampleRepository,
  large: SampleRepository,
  statistics: Statistics,
): Promise<Times> {
  // No worker: planning, storing and showing are measured.
  const farm = await startFarm({ workers: 0 });
  try {
    await farm.submit({ repository: small.path, parameters: {} });
    if (statistics === "of a graph of two jobs") await analyze(farm);
    const asking = longestAnswer(farm.url);
    const select = Array.from({ length: jobs / jobsPerFile }, (_, i) => `file:f${i}`).join(" | ");
    const submittedAt = performance.now();
    const submitted = farm.submit({ repository: large.path, parameters: {}, select });
    await Promise.allSettled([submitted]);
    const storedMs = performance.now() - submittedAt;
    const stallMs = await asking.stop();
    const { id } = await submitted;
    const readAt = performance.now();
    const answer = await fetch(`${farm.url}/api/v1/graphs/${id}`);
    const graph = SomeGraph.parse(await answer.json());
    const readMs = performance.now() - readAt;
    if (graph.jobList.length !== jobs) throw new Error(`only ${graph.jobList.length} jobs`);
    return { storedMs, readMs, pageMs: await pageMs(`${farm.url}/graphs/${id}`), stallMs };
  } finally {
    await farm.stop();
  }
}

async function analyze(farm: Farm): Promise<void> {
  const db = openPostgres({ url: await farmDatabaseUrl(farm), poolSize: 1 });
  try {
    await db.script("analyze");
  } finally {
    await db.close();
  }
}

/** Sends the server a small request repeatedly; returns how long the slowest answer took. */
function longestAnswer(url: string): { stop(): Promise<number> } {
  let longest = 0;
  let stopped = false;
  const asking = (async () => {
    while (!stopped) {
      const requestedAt = performance.now();
      await (await fetch(`${url}/api/v1/caller`)).arrayBuffer();
      longest = Math.max(longest, performance.now() - requestedAt);
      await new Promise((resolve) => setTimeout(resolve, askEveryMs));
    }
  })();
  return {
    async stop() {
      stopped = true;
      await asking;
      return longest;
    },
  };
}

async function pageMs(url: string): Promise<number> {
  const browser = await launchChromium();
  try {
    const page = await browser.newPage();
    const startedAt = performance.now();
    await page.goto(url, { waitUntil: "commit" });
    await page.locator("[data-job]").first().waitFor();
    return performance.now() - startedAt;
  } finally {
    await browser.close();
  }
}

function rowsOf(times: readonly Times[], statistics: Statistics): Row[] {
  const slowest = (one: (each: Times) => number) => Math.max(...times.map(one));
  const about = `10,000 of 40,000 jobs, statistics: ${statistics}`;
  const how = `the slowest of ${times.length} fresh farms`;
  return [
    atMost(
      `${about}: stored`,
      slowest((each) => each.storedMs),
      2_000,
      "ms",
      `POST /graphs, definitions never seen before; ${how}`,
    ),
    atMost(
      `${about}: first answer with the whole graph`,
      slowest((each) => each.readMs),
      300,
      "ms",
      `GET /graphs/ID, with parsing its JSON; ${how}`,
    ),
    atMost(
      `${about}: page with content`,
      slowest((each) => each.pageMs),
      2_000,
      "ms",
      `Chromium, new page: from navigation until a job is shown; ${how}`,
    ),
    atMost(
      `${about}: longest time without an answer while it is stored`,
      slowest((each) => each.stallMs),
      100,
      "ms",
      `GET /caller every ${askEveryMs} ms from another process; ${how}`,
    ),
  ];
}
