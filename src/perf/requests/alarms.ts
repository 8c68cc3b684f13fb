import type { CollectorView } from "#api/collector.ts";
import { durationText } from "#core/duration-text.ts";
import type { OpenJob } from "./job-duration.store.ts";
import { unservedPlaces, unservedText } from "./unserved-places.ts";

/** Far longer than claiming a job takes: a claim is answered within milliseconds after the job's insertion. */
const unmovedMs = 15 * 60_000;
/** A longer job should be checked, although a suite's largest may take as long. */
const longJobMs = 6 * 60 * 60_000;
/** A build by a person takes hours; after this time it was probably forgotten. */
const unbuiltMs = 24 * 60 * 60_000;
/** A request starts within milliseconds when it is its turn. */
const unstartedMs = 2 * 60_000;

interface LabNow {
  readonly collectors: readonly CollectorView[];
  readonly jobs: readonly OpenJob[];
  readonly requests: readonly {
    readonly id: string;
    readonly artifact: string;
    readonly suite: string;
    readonly state: string;
    readonly createdAt: Date;
  }[];
  /** For each suite, when a job was last started, ended or inserted. */
  readonly movedAt: ReadonlyMap<string, Date>;
  readonly failedSources: readonly { readonly suite: string; readonly failed: string }[];
}

/** Returns the situations that need a person's action, and the remedies. */
export function alarmsOf(lab: LabNow, now: Date): string[] {
  return [
    ...silent(lab, now),
    ...neverSeen(lab, now),
    ...unserved(lab),
    ...stuck(lab, now),
    ...unbuilt(lab, now),
    ...sources(lab),
  ];
}

function silent({ collectors }: LabNow, now: Date): string[] {
  return collectors.flatMap(({ name, state, lastHeartbeatAt, outOfDuty }) => {
    if (state === "out-of-duty" && outOfDuty !== null) {
      return [
        `Collector ${name} gets no work: ${outOfDuty}. After the repair: grange collector set ${name} --in-duty`,
      ];
    }
    if (state !== "offline" || lastHeartbeatAt === null) return [];
    const since = durationText(now.getTime() - Date.parse(lastHeartbeatAt));
    return [
      `Collector ${name} has been silent for ${since}: start it again on its machine, or take it out with \`grange collector set ${name} --inactive\`.`,
    ];
  });
}

/** Collectors that were registered but never started; only reported while jobs wait for them. */
function neverSeen({ collectors, jobs }: LabNow, now: Date): string[] {
  const old = jobs.filter(
    ({ state, createdAt }) => state === "queued" && now.getTime() - createdAt.getTime() > unmovedMs,
  );
  return collectors.flatMap(({ name, state, target, set }) => {
    const waits =
      state === "never-seen" &&
      old.some((job) => job.target === target && (set === null || job.set === set));
    return waits
      ? [
          `Collector ${name} has never registered, and jobs wait for it: start it on its machine with \`grange collector run ${name}\`.`,
        ]
      : [];
  });
}

function unbuilt({ requests }: LabNow, now: Date): string[] {
  return requests.flatMap(({ id, artifact, suite, state, createdAt }) => {
    const age = now.getTime() - createdAt.getTime();
    if (state !== "waiting-for-artifacts" || age <= unbuiltMs) return [];
    const short = id.slice(0, 8);
    return [
      `Request ${short} of ${suite} waits for ${artifact} for ${durationText(age)}: send its tarballs, or end it with \`grange bench cancel ${short}\`.`,
    ];
  });
}

/** Returns jobs that no collector can take at present. */
function unserved({ collectors, jobs }: LabNow): string[] {
  return unservedPlaces(collectors, jobs).map(unservedText);
}

function stuck({ requests, jobs, movedAt }: LabNow, now: Date): string[] {
  const age = (date: Date) => now.getTime() - date.getTime();
  return [...new Set(requests.map(({ suite }) => suite))].flatMap((suite) => {
    const ours = requests.filter((request) => request.suite === suite);
    const ofSuite = jobs.filter((job) => job.suite === suite && !job.optional);
    const running = ofSuite.filter(({ state }) => state === "in-progress");
    const moved = movedAt.get(suite);
    const old = running.find(({ startedAt }) => startedAt !== null && age(startedAt) > longJobMs);
    if (old?.startedAt) {
      return [
        `A job of ${suite} runs on ${old.collector ?? "a collector"} for ${durationText(age(old.startedAt))}: check that machine.`,
      ];
    }
    if (ofSuite.length > 0 && running.length === 0 && moved && age(moved) > unmovedMs) {
      return [
        `The queue of ${suite} has not moved for ${durationText(age(moved))}: ${ofSuite.length} jobs wait and none runs. See which collectors are there: grange collector list`,
      ];
    }
    const waits = ours.find(
      ({ state, createdAt }) => state === "artifacts-ready" && age(createdAt) > unstartedMs,
    );
    if (waits !== undefined && !ours.some(({ state }) => state === "in-progress")) {
      return [
        `Requests of ${suite} are ready, and none begins: see the server's log for "a benchmark request could not begin".`,
      ];
    }
    return [];
  });
}

function sources({ failedSources }: LabNow): string[] {
  return failedSources.map(
    ({ suite, failed }) =>
      `New artifacts of ${suite} cannot be found, its source did not answer: ${failed}. It is asked again.`,
  );
}
