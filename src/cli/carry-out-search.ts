import { setTimeout as wait } from "node:timers/promises";
import type { Search, SearchForecast, StartSearch } from "#api/search.ts";
import { durationText } from "#core/duration-text.ts";
import { type ExitCode, exitCodes } from "./exit-code.ts";
import { answer, type CommonOptions, type Session } from "./session.ts";
import { printableLine } from "./terminal/printable-text.ts";
import { UsageError } from "./usage-error.ts";

export interface SearchOptions extends CommonOptions {
  readonly repo?: string;
  readonly dryRun?: boolean;
  readonly wait?: boolean;
  readonly reason?: string;
}

const lookMs = 1_000;

/** Parses `OLDER..NEWER` into its two revisions. */
export function revisionsOf(range: string): readonly [older: string, newer: string] {
  const [older, newer, ...more] = range.split("..");
  if (older === undefined || newer === undefined || more.length > 0 || older === "")
    throw new UsageError(`"${range}" is not a range of commits; write OLDER..NEWER`);
  return [older, newer === "" ? "HEAD" : newer];
}

/** Shows the effect of a search, starts it, and waits for its end if requested. */
export async function carryOutSearch(
  session: Session,
  options: SearchOptions,
  request: StartSearch,
): Promise<ExitCode> {
  const { searchEndpoints } = await import("#api/endpoints/search-endpoints.ts");
  const { notes } = session.terminal;
  const dryRun = options.dryRun === true;
  const started = await session.api.call(searchEndpoints.startSearch, {
    body: { ...request, dryRun },
  });
  const foretold = forecastLines(started.forecast);
  if (started.search === null) return answer(session, options, started, () => foretold);
  for (const line of foretold) notes.line(line);
  const { id } = started.search;
  if (options.wait !== true) {
    return answer(session, options, started, () => [`Search ${id} has started.`]);
  }
  const over = await searchOver(session, id);
  answer(session, options, over, () => [
    ...(over.message === null ? [] : [printableLine(over.message)]),
    countsText(over),
    ...(over.set === null ? [] : [`See each graph: grange set ${over.set.slice(0, 8)}`]),
  ]);
  return over.state === "finished" && (over.kind === "backfill" || over.remaining.length === 1)
    ? exitCodes.ok
    : exitCodes.failed;
}

async function searchOver(session: Session, id: string): Promise<Search> {
  const { searchEndpoints } = await import("#api/endpoints/search-endpoints.ts");
  let shown = "";
  for (;;) {
    const search = await session.api.call(searchEndpoints.search, {
      params: { search: id },
      query: { limit: 1 },
    });
    if (search.state !== "running") return search;
    const { asked = 0 } = search.counts;
    const text = `${countsText(search)}, ${asked} in progress`;
    if (text !== shown && asked > 0) session.terminal.notes.line(text);
    shown = text;
    await wait(lookMs);
  }
}

function countsText({ counts: { good = 0, bad = 0, skipped = 0 } }: Search): string {
  return `${good} good, ${bad} bad, ${skipped} skipped`;
}

export function forecastLines(forecast: SearchForecast): string[] {
  const { commits, known, rounds, probes, jobs, jobsPerCommit, commitMs, workerMs } = forecast;
  const how =
    rounds === null
      ? `runs ${probes} of them`
      : `needs at most ${probes} probes in ${rounds} rounds`;
  const cost = forecast.cost === null ? "" : `, cost ${forecast.cost.toFixed(2)}`;
  const unknown =
    forecast.unknownJobs === 0
      ? []
      : [
          `${forecast.unknownJobs} of the jobs have never run here, so their duration is not known.`,
        ];
  const count = commits === 1 ? "1 commit" : `${commits} commits`;
  if (probes === 0) return [`${count}, and all their results are already known: nothing runs.`];
  const longest = (rounds ?? 1) * commitMs;
  return [
    `${count}, the results of ${known} are known; ${how}: ${jobs} jobs, ${jobsPerCommit} for each commit.`,
    `Expected: ${durationText(longest)}${rounds === null ? " for a commit" : ""}, ${durationText(workerMs)} of work${cost}.`,
    ...unknown,
  ];
}
