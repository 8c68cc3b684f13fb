import { durationText } from "#core/duration-text.ts";
import { type JobEnd, type RunObserver, runJobs } from "#local-run/run-jobs.ts";
import type { RunOptions } from "./commands/run.ts";
import { exitCodes } from "./exit-code.ts";
import { checkoutToRun, localWorkerConfig, withDefinitionTexts } from "./local-run-settings.ts";
import { parametersOf } from "./parameters.ts";
import type { Session } from "./session.ts";
import { switchesOf } from "./switches.ts";
import { LinePrefix } from "./terminal/line-prefix.ts";

/** Runs jobs of the checkout on this machine and prints their output. Returns the exit code. */
export async function runHere(
  session: Session,
  names: readonly string[],
  options: RunOptions,
): Promise<number> {
  const { answer, notes } = session.terminal;
  const root = await checkoutToRun(options.repo ?? process.cwd());
  const jobs = [...new Set(names)];
  const stop = new AbortController();
  const cancel = () => stop.abort("cancelled");
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, cancel);
  // Programs read only the result.
  const output = options.json === true ? notes : answer;
  const prefixes = new Map<string, LinePrefix>();
  const isOnlyOne = jobs.length === 1 && options.withNeeds !== true;
  const observer: RunObserver = {
    taken: (job, outputs) => {
      if (outputs.length > 0)
        notes.line(`${job}: its outputs are taken from the checkout: ${outputs.join(", ")}`);
    },
    started: (job) => {
      if (!isOnlyOne) prefixes.set(job, new LinePrefix(`${job} | `, output.write));
      notes.line(`${job}: started`);
    },
    printed: (job, bytes) => {
      const prefix = prefixes.get(job);
      if (prefix === undefined) output.write(Buffer.from(bytes).toString());
      else prefix.write(bytes);
    },
    ended: (job, end) => {
      prefixes.get(job)?.end();
      notes.line(`${job}: ${endText(end)}`);
    },
  };
  const given = {
    parameters: parametersOf(options.param ?? []),
    switches: switchesOf(options.switch ?? []),
    graph: options.graph,
  };
  const config = await localWorkerConfig(root, options.data);
  const { withNeeds = false, parallel = 1 } = options;
  const request = { root, jobs, given, withNeeds, parallel, config, signal: stop.signal };
  const ends = await withDefinitionTexts(root, () => runJobs(request, observer));
  if (options.json === true) {
    const answers = [...ends].map(([job, end]) => ({ job, ...endFacts(end) }));
    answer.line(JSON.stringify({ jobs: answers }, undefined, 2));
  }
  return exitCodeOf(jobs, ends);
}

/** Returns the exit code of the requested job; for several, whether all succeeded. */
export function exitCodeOf(
  requested: readonly string[],
  ends: ReadonlyMap<string, JobEnd>,
): number {
  const all = [...ends.values()];
  if (all.every(hasSucceeded)) return exitCodes.ok;
  const [only] = requested;
  const end = requested.length === 1 && only !== undefined ? ends.get(only) : undefined;
  return (end?.kind === "ran" && end.exitCode) || exitCodes.failed;
}

function hasSucceeded(end: JobEnd): boolean {
  return end.kind === "nothing-to-run" || (end.kind === "ran" && end.succeeded);
}

function endText(end: JobEnd): string {
  switch (end.kind) {
    case "nothing-to-run":
      return "it has no commands";
    case "skipped":
      return `skipped, since ${end.because}`;
    case "ran": {
      const took = durationText(end.durationMs);
      return end.succeeded ? `succeeded in ${took}` : `failed after ${took}: ${end.message}`;
    }
  }
}

function endFacts(end: JobEnd): object {
  switch (end.kind) {
    case "nothing-to-run":
      return { outcome: "succeeded" };
    case "skipped":
      return { outcome: "skipped", message: end.because };
    case "ran":
      return {
        outcome: end.succeeded ? "succeeded" : "failed",
        exitCode: end.exitCode ?? null,
        durationMs: Math.round(end.durationMs),
        ...(end.message === "" ? {} : { message: end.message }),
      };
  }
}
