import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { Series } from "#api/benchmark-history.ts";
import { caseKey, type TestCase } from "#core/test-case.ts";
import { seededRandom } from "#statistics/seeded-random.ts";
import { toyLine } from "../../../test/support/toy-line.ts";
import { toySuite } from "../../../test/support/toy-suite.ts";
import { exactly, forInformation, type Measurement } from "../row.ts";
import { type Lab, startLab } from "./lab.ts";

const kills = 30;
const commits = 24;
const iterations = 2;
const sets = [
  ["a", "b"],
  ["c", "d"],
] as const;
const target = "linux-x64";
/** A test is two processes of about 600 ms: the next one is running, or being reported, or its job is about to end. */
const mostMsIntoATest = 2_500;
const victims = ["collector", "collector", "server", "PostgreSQL"] as const;
const how = `SIGKILL of a collector, the server or PostgreSQL by turns of chance (seed 6), while two collectors measure ${commits} commits of four benchmarks`;

export const killedAtRandom: Measurement = {
  title: "kill -9 at 30 random points",
  long: false,
  async measure() {
    const random = seededRandom(6);
    const line = await toyLine(
      Array.from({ length: commits }, (_, i) => ({ work: 1_000 + i, rounds: 150_000_000 })),
    );
    const lab = await startLab();
    try {
      await lab.push(toySuite(line.repository, { name: "toy", target, sets, timed: iterations }));
      const names = ["north", "south"];
      for (const [set, name] of names.entries()) {
        await lab.addCollector({ name, target, set });
        lab.startCollector(name);
      }
      const ids: string[] = [];
      for (const artifact of line.tags) {
        ids.push((await lab.request({ suite: "toy", artifact, parents: "alone" })).request.id);
      }

      const said: Said[] = [];
      const known: { readonly at: number; readonly stored: ReadonlySet<string> }[] = [];
      for (let i = 0; i < kills; i++) {
        const stored = await storedMoreThan(lab, known.at(-1)?.stored.size ?? 0);
        await new Promise((resolve) => setTimeout(resolve, random() * mostMsIntoATest));
        known.push({ at: Date.now(), stored: new Set(stored.map(({ test }) => test)) });
        const victim = victims[Math.floor(random() * victims.length)] ?? "collector";
        said.push(
          ...(await kill(lab, victim, names[Math.floor(random() * names.length)] ?? "north")),
        );
      }
      const states = [];
      for (const id of ids) states.push((await lab.untilEnded(id)).state);
      const stored = await storedTests(lab);
      for (const name of names) said.push(...(await stopped(lab, name)));
      const again = said.filter(({ at, test }) =>
        known.some((before) => before.at < at && before.stored.has(test)),
      );
      const cases = sets.flat().length;
      const workOf = new Map(line.tags.map((tag, i) => [tag, 1_000 + i]));
      return [
        exactly(
          "kill -9: requests that completed",
          count(states, "completed"),
          commits,
          `of ${commits}`,
          how,
        ),
        exactly(
          "kill -9: tests that are stored",
          stored.length,
          commits * cases,
          `of ${commits * cases}`,
          how,
        ),
        exactly(
          "kill -9: tests with as many iterations as asked, no more and no fewer",
          stored.filter(({ samples }) => samples === iterations).length,
          commits * cases,
          `of ${commits * cases}`,
          how,
        ),
        exactly(
          "kill -9: figures that are of their own commit",
          stored.filter(({ artifact, value }) => value === workOf.get(artifact)).length,
          commits * cases,
          `of ${commits * cases}`,
          "each commit's program prints a number of its own",
        ),
        exactly(
          "kill -9: tests measured again that were stored",
          again.length,
          0,
          "",
          "what collectors say that they measure, against what the server had stored before each kill",
        ),
        forInformation(
          "kill -9: tests that were begun again, since they were killed",
          said.length - stored.length,
          `of ${commits * cases}`,
          how,
        ),
      ];
    } finally {
      await lab.stop();
      await line.remove();
    }
  },
};

interface Said {
  readonly at: number;
  /** Artifact and case. */
  readonly test: string;
}

async function kill(
  lab: Lab,
  victim: (typeof victims)[number],
  collector: string,
): Promise<Said[]> {
  const { farm } = lab;
  switch (victim) {
    case "collector": {
      lab.collectors.get(collector)?.signal("SIGKILL");
      const said = await stopped(lab, collector);
      lab.startCollector(collector);
      return said;
    }
    case "server":
      farm.server.signal("SIGKILL");
      await farm.restartServer();
      return [];
    case "PostgreSQL": {
      const lock = await readFile(join(farm.dataDir, "pgdata", "postmaster.pid"), "utf8");
      process.kill(Number.parseInt(lock, 10), "SIGKILL");
      return [];
    }
  }
}

const LogLine = z.object({
  time: z.number(),
  msg: z.string(),
  case: z.string().optional(),
  artifact: z.string().optional(),
});

/** Returns the ended collector's output about the tests that it started. */
async function stopped(lab: Lab, name: string): Promise<Said[]> {
  const collector = lab.collectors.get(name);
  if (collector === undefined) return [];
  collector.signal("SIGTERM");
  lab.collectors.delete(name);
  const { stdout, stderr } = await collector.finished;
  let artifact = "";
  return `${stdout}\n${stderr}`.split("\n").flatMap((line) => {
    const read = LogLine.safeParse(jsonOr(line));
    if (!read.success) return [];
    const { msg, time, case: measured } = read.data;
    if (msg === "has a job") artifact = read.data.artifact ?? "";
    return msg === "measures" && measured !== undefined
      ? [{ at: time, test: `${artifact} ${measured}` }]
      : [];
  });
}

function jsonOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Waits until more tests are stored than before: all kills hit a lab that measures. */
async function storedMoreThan(lab: Lab, count: number) {
  for (;;) {
    const stored = await storedTests(lab);
    if (stored.length > count) return stored;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Returns all stored tests, from the server's API. */
async function storedTests(lab: Lab) {
  const found = [];
  for (const benchmark of sets.flat()) {
    const testCase: TestCase = {
      section: "compile",
      benchmark,
      profile: "plain",
      scenario: "full",
      backend: "node",
      target,
    };
    const query = new URLSearchParams({
      suite: "toy",
      case: caseKey(testCase),
      metric: "work",
      samples: "true",
    });
    const series = await untilAnswered(() => lab.get(Series, `/series?${query.toString()}`));
    for (const { artifact, value, samples } of series?.points ?? []) {
      const test = `${artifact} ${caseKey(testCase)}`;
      found.push({ artifact, test, value, samples: samples?.length ?? 0 });
    }
  }
  return found;
}

/** Undefined while there is no result; a request to an unreachable server is repeated. */
async function untilAnswered<T>(read: () => Promise<T>): Promise<T | undefined> {
  for (;;) {
    try {
      return await read();
    } catch (cause) {
      if (cause instanceof Error && / answered 4\d\d/.test(cause.message)) return undefined;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

const count = (states: readonly string[], wanted: string) =>
  states.filter((state) => state === wanted).length;
