import type { Clock } from "#core/clock.ts";
import type { Db, Tx } from "#db/db.ts";
import { isWanted, want } from "../outbox/outbox.store.ts";
import { outboxKey } from "../outbox/outbox-content.ts";
import { longestComment } from "./fit-comment.ts";
import { graphCheck } from "./graph-check.ts";
import { pullComment } from "./pull-comment.ts";
import type { GraphToTell, ReportSource } from "./report-source.ts";
import {
  lockTogether,
  noteSubject,
  noteTold,
  type Subject,
  subjectsToWatch,
} from "./subject.store.ts";

/** A subject that is reported to a forge until it has ended. */
export interface ToldSubject {
  readonly repository: string;
  readonly kind: "graph" | "request";
  /** The graph's or the request's id. */
  readonly subject: string;
  readonly sha: string;
  /** Undefined for a branch or a tag, which have checks but no comments. */
  readonly pull: number | undefined;
  /** Name of the check run of a graph: `grange`, or one for each named graph. */
  readonly name: string;
  /** Whether a comment requested it: then it is reported even without changes. */
  readonly wasRequested: boolean;
}

/** Records it in the transaction that stores the graph's or request's id. Recording it again changes nothing. */
export async function tellOf(
  tx: Tx,
  { subject, pull, ...rest }: ToldSubject,
  now: Date,
): Promise<void> {
  await noteSubject(tx, { ...rest, id: subject, pull: pull ?? null }, now);
}

interface ReportServices {
  readonly db: Db;
  readonly clock: Clock;
  readonly source: ReportSource;
}

/** After this time an ended subject is not checked any more. */
const watchMs = 14 * 24 * 3_600_000;
const mostWatched = 5_000;
/** A reported subject that is unknown to the farm for this long is dropped. */
const waitLimitMs = 24 * 3_600_000;
/** The limit for one pull request; the latest are shown. */
const mostRequests = 30;

/** The label of a pull request that became slower. */
const regressionLabel = "perf-regression";

/**
 * Runs one pass: stores again what the forge should show for changed subjects. Returns the number
 * of changed subjects.
 */
export async function tellReports(services: ReportServices): Promise<number> {
  const { db, clock, source } = services;
  const now = clock.now();
  const watched = await subjectsToWatch(db, new Date(now.getTime() - watchMs), mostWatched);
  if (watched.length === 0) return 0;
  const versions = await source.versions(db, watched);
  const changed = watched.filter((subject) => {
    const version = versions.get(subject.id);
    return version === undefined
      ? !subject.isOver &&
          subject.toldVersion === null &&
          now.getTime() - subject.notedAt.getTime() > waitLimitMs
      : version !== subject.toldVersion;
  });
  const done = new Set<string>();
  for (const subject of changed) {
    const together = togetherKey(subject);
    if (done.has(together)) continue;
    done.add(together);
    await db.transaction((tx) => tell(tx, source, subject, now));
  }
  return done.size;
}

/** Returns a key for graphs that share a check run, or requests that share a comment. */
function togetherKey({ kind, id, repository, sha, pull, name }: Subject): string {
  if (kind === "graph") return JSON.stringify([kind, repository, sha, name]);
  return JSON.stringify([kind, repository, pull ?? id]);
}

async function tell(tx: Tx, source: ReportSource, subject: Subject, now: Date): Promise<void> {
  const together = await lockTogether(tx, subject);
  // Read the versions first: a change in between is then reported twice rather than never.
  const versions = await source.versions(tx, together);
  const over =
    subject.kind === "graph"
      ? await tellGraph(tx, source, together, now)
      : await tellRequests(tx, source, together, now);
  await noteTold(
    tx,
    together.map(({ kind, id, repository, pull }) => ({
      kind,
      id,
      repository,
      pull,
      version: versions.get(id),
      isOver: over.has(id) || !versions.has(id),
    })),
    now,
  );
}

/**
 * The check run shows the latest graph of a commit, except a cancelled one if another was not: two pull requests may
 * have that head, and one of them be closed. Returns the graphs that will not change any more.
 */
async function tellGraph(
  tx: Tx,
  source: ReportSource,
  together: readonly Subject[],
  now: Date,
): Promise<ReadonlySet<string>> {
  const over = new Set(together.map(({ id }) => id));
  let shown: GraphToTell | undefined;
  for (const { id } of together) {
    const candidate = await source.graph(tx, id);
    if (candidate === undefined) continue;
    if (candidate.graph.state === "running") over.delete(id);
    if (shown === undefined || candidate.graph.state !== "cancelled") shown = candidate;
    if (candidate.graph.state !== "cancelled") break;
  }
  const [first] = together;
  if (shown === undefined || first === undefined) return over;
  const { repository, sha, name } = first;
  const check = graphCheck(shown, { sha, name, externalId: checkId(sha, name) });
  await want(
    tx,
    repository,
    outboxKey({ kind: "check", sha, name }),
    { kind: "check", check },
    now,
  );
  return over;
}

/** Returns the external id of a commit's check run. */
function checkId(sha: string, name: string): string {
  return `grange/${sha}/${name}`;
}

async function tellRequests(
  tx: Tx,
  source: ReportSource,
  together: readonly Subject[],
  now: Date,
): Promise<ReadonlySet<string>> {
  const over = new Set<string>(together.slice(mostRequests).map(({ id }) => id));
  const requests = [];
  for (const { id, sha, wasRequested } of together.slice(0, mostRequests)) {
    const request = await source.request(tx, id);
    if (request === undefined) continue;
    if (request.endedAt !== undefined) over.add(id);
    requests.push({ ...request, sha, wasRequested });
  }
  const [first] = together;
  if (first === undefined || first.pull === null) return over;
  const { repository, pull } = first;
  const key = outboxKey({ kind: "comment", pull });
  const comment = pullComment(requests, {
    isShown: await isWanted(tx, repository, key),
    most: longestComment,
  });
  if (comment === undefined) return over;
  await want(tx, repository, key, { kind: "comment", pull, body: comment.body }, now);
  if (comment.hasRegression === undefined) return over;
  const name = regressionLabel;
  const label = { kind: "label", pull, name, isThere: comment.hasRegression } as const;
  await want(tx, repository, outboxKey({ kind: "label", pull, name }), label, now);
  return over;
}
