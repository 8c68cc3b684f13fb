import type { GranaryBuildReport, LateReason, RequestedResult } from "#api/granary.ts";
import { becauseAdvice, indexWords, lateReasonTexts } from "#api/granary-words.ts";
import { otherKeys, otherKeysWords } from "#api/other-keys.ts";
import { durationText } from "#core/duration-text.ts";
import { memorySizeText } from "#core/memory-size.ts";
import type { Answer } from "#granary/protocol/answers.ts";
import { printableLine } from "../terminal/printable-text.ts";

/** How many results are named for each reason; `--json` has the whole report. */
const mostNamed = 5;

type Reported = Extract<Answer, { type: "reported" }>;

/** Returns the last builds of this machine, the latest first. */
export function buildLines({ builds }: Reported, now: Date): string[] {
  if (builds.length === 0) return [noBuilds];
  return builds.map(({ id, project, command, endedAt, exitCode }) => {
    const end = exitCode === null ? "its end was not reported" : `exit code ${exitCode}`;
    return `${id.slice(0, 8)}  ${ago(endedAt, now)}, ${end}, ${printableLine(project)}: ${printableLine(command)}`;
  });
}

/** Returns the sources of one build's results, and why the rest was late or made locally. */
export function whyLines({ report, builds }: Reported, now: Date): string[] {
  if (report === null) {
    const known = "there is no build with this id; `grange granary builds` lists them";
    return [builds.length === 0 ? noBuilds : known];
  }
  const { counts, indexes, notAhead } = report;
  const { local, prefetched, fetched, missed, unreachable } = counts;
  const requested = local + prefetched + fetched + missed + unreachable;
  return [
    `${printableLine(report.command) || "a build"}, ended ${ago(report.endedAt, now)}, ${commitText(report)}`,
    `${counted(requested, "result")}: ${local} from earlier builds here, ${prefetched} prefetched in time, ${fetched} fetched while the build waited, ${missed} made, ${unreachable} made because the farm did not answer`,
    `waited ${durationText(report.waitedMs)} in total; hits saved ${durationText(report.savedMs)} of work, summed over parallel steps; ${memorySizeText(report.bytes.transferred)} prefetched, of which ${memorySizeText(report.bytes.wasted)} unused`,
    ...indexes.map(indexLine),
    ...(indexes.length > 0 ? [] : [whyNoIndex[notAhead ?? "not-known"]]),
    ...otherKeysLines(report),
    ...reasonsOf(report.asked).flatMap(reasonLines),
    ...(report.truncated.includes("asked") ? ["the report was too long, and was cut"] : []),
  ];
}

const noBuilds = "this granary knows no finished build yet";

const whyNoIndex: Readonly<
  Record<NonNullable<GranaryBuildReport["notAhead"]> | "not-known", string>
> = {
  "not-known":
    "no index: no build of this repository in this environment has been reported, or there is no farm",
  "not-wished": "no index: prefetching was disabled",
  wasteful: "no index: the last builds of this command did not use most of the prefetched data",
};

function commitText({ commit, branch, dirty }: GranaryBuildReport): string {
  if (commit === null) return "without a commit";
  const on = branch === "" ? "" : ` on ${printableLine(branch)}`;
  return `of commit ${commit.slice(0, 12)}${on}${dirty ? ", with changes" : ""}`;
}

function indexLine(index: GranaryBuildReport["indexes"][number]): string {
  const away = index.distance === 0 ? "" : `, ${counted(index.distance, "commit")} away`;
  const dropped = index.dropped ?? 0;
  const left = dropped === 0 ? "" : `, ${dropped} of them with inputs that have changed since`;
  const cut = index.complete ? "" : "; not complete";
  return `index ${indexWords[index.source]}: ${index.commit.slice(0, 12)}${away}, ${counted(index.entries, "result")}${left}${cut}`;
}

function otherKeysLines(report: GranaryBuildReport): string[] {
  const other = otherKeys(report);
  return other === undefined ? [] : [otherKeysWords[other]];
}

interface Reason {
  readonly because: LateReason;
  readonly results: readonly RequestedResult[];
}

/** Returns the reasons with the longest waiting first, then the results that were made most often. */
function reasonsOf(requested: readonly RequestedResult[]): Reason[] {
  const byReason = new Map<LateReason, RequestedResult[]>();
  for (const one of requested) {
    if (one.because === null) continue;
    const known = byReason.get(one.because);
    if (known === undefined) byReason.set(one.because, [one]);
    else known.push(one);
  }
  return [...byReason]
    .map(([because, results]) => ({ because, results }))
    .toSorted(
      (a, b) => waitedFor(b.results) - waitedFor(a.results) || b.results.length - a.results.length,
    );
}

function reasonLines({ because, results }: Reason): string[] {
  const waited = waitedFor(results);
  const cost = waited === 0 ? "" : `, waited ${durationText(waited)}`;
  const dearest = results.toSorted((a, b) => costOf(b) - costOf(a) || a.atMs - b.atMs);
  const more = results.length - mostNamed;
  return [
    `${results.length} × ${lateReasonTexts[because]}${cost}`,
    `    ${becauseAdvice[because]}`,
    ...dearest
      .slice(0, mostNamed)
      .map(
        ({ namespace, key, atMs }) =>
          `    ${printableLine(namespace)} ${shortKey(printableLine(key))}, requested at ${durationText(atMs)}`,
      ),
    ...(more > 0 ? [`    and ${more} more`] : []),
  ];
}

function waitedFor(results: readonly RequestedResult[]): number {
  return results.reduce((sum, { waitedMs }) => sum + waitedMs, 0);
}

/** Returns the known loss of a build because of it, in ms. */
function costOf({ source, waitedMs, savedMs }: RequestedResult): number {
  return waitedMs + (source === "missed" || source === "unreachable" ? (savedMs ?? 0) : 0);
}

function shortKey(key: string): string {
  return key.length <= 40 ? key : `${key.slice(0, 24)}…${key.slice(-12)}`;
}

function ago(time: string, now: Date): string {
  return `${durationText(now.getTime() - Date.parse(time))} ago`;
}

function counted(count: number, one: string): string {
  return `${count} ${count === 1 ? one : `${one}s`}`;
}
