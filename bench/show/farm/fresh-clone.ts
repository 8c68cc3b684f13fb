import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { runProgram } from "../../../test/support/process.ts";
import { atMost, exactly, forInformation, type Measurement, type Row } from "../row.ts";

/** The last line of `npm start -- --once --json`. */
const LastLine = z.object({
  state: z.string(),
  jobs: z.number(),
  executed: z.number(),
  hits: z.number(),
  failed: z.number(),
  seconds: z.number(),
});

/** The steps of a new user: clone, one command, and the same again. */
export const freshClone: Measurement = {
  title: "fresh clone",
  long: true,
  async measure() {
    const dir = await mkdtemp(join(tmpdir(), "grange-fresh-"));
    try {
      const clone = join(dir, "grange");
      const cloned = await runProgram("git", ["clone", "--quiet", process.cwd(), clone]);
      if (cloned.code !== 0) throw new Error(cloned.stderr);
      // No npm cache and no home, so that an earlier installation has no effect.
      const env = { HOME: join(dir, "home"), npm_config_cache: join(dir, "npm-cache") };
      const start = () =>
        runProgram("npm", ["start", "--", "--repo", ".", "--once", "--json", "--port", "0"], {
          cwd: clone,
          env,
        });
      const startedAt = Date.now();
      const first = await start();
      const wholeSeconds = (Date.now() - startedAt) / 1_000;
      const second = await start();
      return [...firstRows(first, wholeSeconds), ...secondRows(second)];
    } finally {
      await rm(dir, { recursive: true, force: true });
    }
  },
};

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function lastLine(ended: Ended): z.infer<typeof LastLine> {
  const text = ended.stdout.trim().split("\n").at(-1) ?? "";
  try {
    return LastLine.parse(JSON.parse(text));
  } catch (cause) {
    throw new Error(`no result line; the program said:\n${ended.stderr.slice(-2_000)}`, { cause });
  }
}

function firstRows(ended: Ended, wholeSeconds: number): Row[] {
  const line = lastLine(ended);
  const how = "git clone; npm start -- --repo . --once --json, with an empty npm cache and home";
  return [
    exactly("fresh clone: exit code", ended.code ?? -1, 0, "", `${how}${failedJobs(ended)}`),
    forInformation("fresh clone: command to green", wholeSeconds, "s", how),
    forInformation("fresh clone: server ready to green", line.seconds, "s", how),
    forInformation("fresh clone: jobs executed", line.executed, "jobs", how),
  ];
}

/** `; ✗ unit failed (2 s)`: the first information that a reader needs after a failure. */
function failedJobs(ended: Ended): string {
  const failed = ended.stderr.split("\n").filter((line) => line.startsWith("✗"));
  return failed.length === 0 ? "" : `; ${failed.join(", ")}`;
}

function secondRows(ended: Ended): Row[] {
  const line = lastLine(ended);
  const how = "the same command again in the same clone";
  return [
    exactly("again: exit code", ended.code ?? -1, 0, "", how),
    exactly("again: executions", line.executed, 0, "", how),
    exactly("again: hits", line.hits, line.jobs, "jobs", how),
    atMost("again: server ready to green", line.seconds, 3, "s", how),
  ];
}
