import { type DayReplayed, replayDay } from "../../dummy-day.ts";
import { exactly, forInformation, type Measurement, type Row } from "../row.ts";

const seed = 20_131_126;

/** A day of LWR's target, and a shorter part of it. */
export const morning: Measurement = day(20_000, false);
export const wholeDay: Measurement = day(1_000_000, true);

function day(jobs: number, long: boolean): Measurement {
  const named = jobs.toLocaleString("en");
  return {
    title: `${named} dummy jobs, replayed with an injected clock`,
    long,
    measure: async () => rows(named, await replayDay({ jobs, seed, progress: tell })),
  };
}

function rows(named: string, replayed: DayReplayed): Row[] {
  const how = `${replayed.graphs} graphs of 127 dummy jobs, as pushes come in a day; 5 % fail and are tried once more; ${replayed.runs} runs in ${Math.round(replayed.seconds)} s`;
  const over = ["succeeded", "failed", "unreachable"];
  const left = Object.entries(replayed.states)
    .filter(([state]) => !over.includes(state))
    .reduce((sum, [, count]) => sum + count, 0);
  const name = (what: string) => `${named} jobs replayed: ${what}`;
  return [
    exactly(name("jobs that are not over"), left, 0, "jobs", how),
    forInformation(name("sustained"), replayed.transitionsPerSecond, "transitions/s", how),
    forInformation(name("jobs"), replayed.jobsPerSecond, "jobs/s", "the target of LWR is 11.6"),
    forInformation(
      name("slowest tenth"),
      replayed.slowestTransitionsPerSecond,
      "transitions/s",
      "what is left when the tables are full",
    ),
    forInformation(name("the database"), replayed.databaseBytes / 2 ** 20, "MiB", "at the end"),
    forInformation(
      name("a job in the database"),
      replayed.bytesPerJob,
      "bytes",
      "with its indexes",
    ),
    forInformation(
      name("share of the database's statements"),
      (100 * replayed.sqlSeconds) / replayed.seconds,
      "%",
      `of the time; this process's own work is ${Math.round((100 * replayed.jsSeconds) / replayed.seconds)} %; they overlap`,
    ),
  ];
}

function tell(over: number, jobs: number, seconds: number): void {
  if (Math.round(seconds) % 30 < 5)
    process.stderr.write(`  ${over} of ${jobs} jobs after ${Math.round(seconds)} s\n`);
}
