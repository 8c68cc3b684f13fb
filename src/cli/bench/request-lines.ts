import type { BenchmarkStatus } from "#api/benchmark-history.ts";
import type { Artifacts, Estimate, RequestDetail, RequestSummary } from "#api/benchmark-request.ts";
import type { CollectorView } from "#api/collector.ts";
import { durationText } from "#core/duration-text.ts";
import { printableLine } from "../terminal/printable-text.ts";
import { tableLines } from "../terminal/table.ts";

export function requestRows(requests: readonly RequestSummary[], now: Date): string[] {
  if (requests.length === 0)
    return ["There are no requests. To make one, see: grange bench request --help"];
  return tableLines([
    ["id", "artifact", "against", "kind", "state", "jobs", "age", "by"],
    ...requests.map((request) => [
      request.id.slice(0, 8),
      printableLine(request.artifact),
      printableLine(request.parent ?? "-"),
      kindText(request),
      request.state,
      jobsText(request),
      age(request.createdAt, now),
      printableLine(request.requestedBy),
    ]),
  ]);
}

export function requestLines(request: RequestDetail, now: Date): string[] {
  const { artifact, parent, suite, because } = request;
  const against = parent === null ? "" : `, against ${parent}`;
  const why = because === "" ? "" : `: ${because}`;
  return [
    `${request.id}`,
    printableLine(`${suite}: ${artifact}${against} (${kindText(request)}), ${request.state}`),
    printableLine(`requested ${age(request.createdAt, now)} ago by ${request.requestedBy}${why}`),
    ...namedLines(request),
    ...(request.place === null
      ? []
      : [`place ${request.place} of the queue: ${printableLine(request.placeBecause ?? "")}`]),
    ...(request.endedAt === null
      ? [estimateText(request.estimate, now)]
      : [
          `ended ${age(request.endedAt, now)} ago${request.endedBy === null ? "" : printableLine(` by ${request.endedBy}`)}`,
        ]),
    ...request.unserved.map((sentence) => `! ${printableLine(sentence)}`),
    ...(request.hasReport ? [`its comparison: grange bench report ${request.id.slice(0, 8)}`] : []),
    ...(request.jobList.length === 0
      ? []
      : [
          "",
          ...tableLines([
            ["job", "of", "section", "target", "backend", "profile", "set", "state", "took", "on"],
            ...request.jobList.map((job) => [
              job.purpose + (job.optional ? " (optional)" : ""),
              printableLine(job.artifact),
              job.section,
              job.target,
              job.backend,
              job.profile || "-",
              String(job.set),
              job.state + (job.attempts > 1 ? `, attempt ${job.attempts}` : ""),
              tookText(job, now),
              job.collector ?? "-",
            ]),
          ]),
        ]),
    ...request.jobList.flatMap(({ state, error, purpose, target, set }) =>
      state === "failure" && error !== null
        ? [printableLine(`${purpose} on ${target}, set ${set}: ${error}`)]
        : [],
    ),
    ...request.errorList.flatMap((each) =>
      each.benchmark === "" ? [] : [printableLine(`${each.benchmark}: ${each.message}`)],
    ),
  ];
}

export function artifactRows({ artifacts }: Artifacts): string[] {
  if (artifacts.length === 0)
    return ["None yet. `grange bench request` adds an artifact by its tag."];
  return tableLines([
    ["artifact", "kind", "date", "backends", "after", "request"],
    ...artifacts.map(({ tag, kind, datedAt, backends, parent, state }) => [
      printableLine(tag),
      kind,
      datedAt.slice(0, 10),
      backends.join(", ") || "-",
      printableLine(parent ?? "-"),
      state ?? "-",
    ]),
  ]);
}

export function statusLines(status: BenchmarkStatus): string[] {
  const now = new Date(status.at);
  return [
    ...status.alarms.map((alarm) => `! ${printableLine(alarm)}`),
    ...(status.alarms.length === 0 ? [] : [""]),
    ...(status.queue.length === 0
      ? ["The queue is empty."]
      : tableLines([
          [
            "",
            "id",
            "suite",
            "artifact",
            "kind",
            "state",
            "jobs",
            "expected",
            "reason of the place",
          ],
          ...status.queue.map(({ request, place, because, estimate }) => [
            String(place),
            request.id.slice(0, 8),
            request.suite,
            printableLine(request.artifact),
            kindText(request),
            request.state,
            jobsText(request),
            estimateText(estimate, now),
            printableLine(because),
          ]),
        ])),
    "",
    ...(status.collectors.length === 0
      ? ["There are no collectors yet. To add one, see: grange collector add --help"]
      : tableLines([
          ["collector", "target", "set", "state", "heard", "measures"],
          ...status.collectors.map((collector) => collectorRow(collector, now)),
        ])),
    ...(status.recent.length === 0
      ? []
      : ["", "Recently ended:", ...requestRows(status.recent, now)]),
  ];
}

function collectorRow(
  { name, target, set, state, lastHeartbeatAt, job }: CollectorView,
  now: Date,
) {
  return [
    name,
    target,
    set === null ? "all" : String(set),
    state,
    lastHeartbeatAt === null ? "never" : `${age(lastHeartbeatAt, now)} ago`,
    job === null
      ? "-"
      : printableLine(
          `${job.artifact} ${job.section} ${job.backend} ${job.profile} for ${age(job.startedAt ?? job.createdAt, now)}`,
        ),
  ];
}

function namedLines({
  backends,
  profiles,
  targets,
  benchmarks,
  paired,
  runs,
}: RequestSummary): string[] {
  const named = [
    ["backends", backends],
    ["profiles", profiles],
    ["targets", targets],
    ["benchmarks", benchmarks],
  ] as const;
  const only = named.flatMap(([what, list]) =>
    list.length === 0 ? [] : [`${what} ${list.join(", ")}`],
  );
  return [
    ...only,
    ...(paired ? ["interleaved with its parent"] : []),
    ...(runs === null ? [] : [`each case run ${runs} times`]),
  ];
}

function estimateText({ startsAt, endsAt, leastEndsAt, mostEndsAt }: Estimate, now: Date): string {
  const until = (time: string) => durationText(Math.max(0, Date.parse(time) - now.getTime()));
  if (endsAt === null) return "its duration is not known yet";
  const starts =
    startsAt === null || Date.parse(startsAt) <= now.getTime()
      ? ""
      : `starts in ${until(startsAt)}, `;
  const range =
    leastEndsAt === null || mostEndsAt === null || until(leastEndsAt) === until(mostEndsAt)
      ? ""
      : ` (${until(leastEndsAt)} to ${until(mostEndsAt)})`;
  return `${starts}ends in ${until(endsAt)}${range}`;
}

function tookText(job: RequestDetail["jobList"][number], now: Date): string {
  const usual =
    job.usualSeconds === null ? "" : `usually ${durationText(job.usualSeconds * 1_000)}`;
  if (job.startedAt === null) return usual || "-";
  const end = job.endedAt === null ? now : new Date(job.endedAt);
  const took = durationText(Math.max(0, end.getTime() - Date.parse(job.startedAt)));
  return job.endedAt === null && usual !== "" ? `${took}, ${usual}` : took;
}

function kindText({ kind, pr }: RequestSummary): string {
  return pr === null ? kind : `${kind} #${pr}`;
}

function jobsText({ jobs, errors }: RequestSummary): string {
  const failed = jobs.failed === 0 ? "" : `, ${jobs.failed} failed`;
  const errorText = errors === 0 ? "" : `, ${errors} errors`;
  return jobs.total === 0 ? "-" : `${jobs.ended}/${jobs.total}${failed}${errorText}`;
}

function age(time: string, now: Date): string {
  return durationText(Math.max(0, now.getTime() - Date.parse(time)));
}
