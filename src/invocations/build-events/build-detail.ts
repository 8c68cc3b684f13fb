import type {
  InvocationDetail,
  InvocationSummary,
  InvocationTarget,
  InvocationTest,
} from "#api/invocation.ts";
import { digestKey } from "#core/digest.ts";
import type { Tx } from "#db/db.ts";
import { blobOfUri } from "./blob-of-uri.ts";
import { type BuildKey, readBuild } from "./build.store.ts";
import { unreadableIn } from "./build-facts.ts";
import type { NamedFile } from "./build-update.ts";
import {
  type BuildSummaryRow,
  readSummaries,
  readTargets,
  readTests,
  type TargetRow,
  type TestRow,
} from "./read-builds.store.ts";

/** The maximum number of targets on a page; for others, users read the build tool's output. */
const mostTargets = 500;
const mostTests = 5_000;

/** A build's events in its invocation, as a row of a list. */
export interface BuildSummary extends BuildKey {
  readonly build: NonNullable<InvocationSummary["build"]>;
  readonly startedAt: Date;
  /** Its last sighting, until the build has ended. */
  readonly endedAt: Date;
  /** The reported end; null until then. */
  readonly exit: { readonly code: number; readonly name: string } | null;
}

/** Returns the builds of those invocations that sent events. */
export async function buildSummaries(tx: Tx, keys: readonly BuildKey[]): Promise<BuildSummary[]> {
  if (keys.length === 0) return [];
  return (await readSummaries(tx, keys)).map(summaryOf);
}

function summaryOf(row: BuildSummaryRow): BuildSummary {
  const { project, invocation, command, patterns, user, host, repository, branch, commit } = row;
  const { exitCode, exitName } = row;
  const startedAt = within(row.startedAt, dayBefore(row.firstHeardAt), row.firstHeardAt);
  return {
    project,
    invocation,
    build: { command, patterns, user, host, repository, branch, commit, exitCode, exitName },
    startedAt,
    endedAt: within(row.finishedAt, startedAt, row.lastHeardAt),
    exit: exitOf(row),
  };
}

/** Build tools use their own clocks: an impossible time is replaced by the arrival time. */
function within(endedAt: Date | null, from: Date, to: Date): Date {
  return endedAt === null || endedAt < from || endedAt > to ? to : endedAt;
}

function dayBefore(time: Date): Date {
  return new Date(time.getTime() - 24 * 60 * 60_000);
}

/** A tool that crashed before it reported its end may still have closed the frame around it, or its stream. */
function exitOf({ exitCode, exitName, result, complete }: BuildSummaryRow): BuildSummary["exit"] {
  if (exitCode !== null) return { code: exitCode, name: exitName ?? "" };
  switch (result) {
    case null:
      return complete ? { code: 1, name: "ABORTED" } : null;
    case "COMMAND_SUCCEEDED":
      return { code: 0, name: result };
    case "CANCELLED":
      return { code: 8, name: "INTERRUPTED" };
    default:
      return { code: 1, name: result };
  }
}

type Events = NonNullable<InvocationDetail["events"]>;

/** Returns the content of a build's events; undefined when it sent none. */
export async function buildDetail(
  tx: Tx,
  project: string,
  invocation: string,
): Promise<Events | undefined> {
  const key = { project, invocation };
  const build = await readBuild(tx, key);
  if (build === undefined) return undefined;
  const targets = await readTargets(tx, key, mostTargets + 1);
  const shown = targets.slice(0, mostTargets);
  const labels = shown.flatMap(({ label, testStatus }) => (testStatus === null ? [] : [label]));
  const running = shown.flatMap(({ label, kind }) => (/test/.test(kind) ? [label] : []));
  const tests = await readTests(tx, key, [...new Set([...labels, ...running])], mostTests);
  const { complete, options, metadata, workspaceStatus, failure, logBytes, profile, metrics } =
    build;
  return {
    complete,
    options,
    metadata,
    workspaceStatus,
    failure,
    logBytes,
    profile: profile === null ? null : named(profile),
    targets: shown.map((target) => targetOf(target, tests)),
    moreTargets: targets.length > mostTargets,
    unreadableEvents: unreadableIn(build),
    metrics,
  };
}

function targetOf(target: TargetRow, tests: readonly TestRow[]): InvocationTarget {
  const { label, aspect, kind, success, aborted, testStatus, durationMs, outputs } = target;
  const own = aspect === "" ? tests.filter((test) => test.label === label) : [];
  return {
    label: aspect === "" ? label : `${label} (${aspect})`,
    kind,
    success,
    aborted,
    testStatus,
    durationMs,
    tests: own.map(testOf),
    outputs: outputs.map(named),
  };
}

function testOf(row: TestRow): InvocationTest {
  const { run, shard, attempt, status, startedAt, durationMs, cached, files } = row;
  const began = startedAt?.toISOString() ?? null;
  return {
    run,
    shard,
    attempt,
    status,
    startedAt: began,
    durationMs,
    cached,
    files: files.map(named),
  };
}

function named({ name, uri }: NamedFile) {
  const blob = blobOfUri(uri);
  return blob === undefined
    ? { name, uri, blob: null, project: null }
    : { name, uri, blob: digestKey(blob.digest), project: blob.project };
}
