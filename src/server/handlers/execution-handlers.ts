import { stream } from "hono/streaming";
import type { Principal, Where } from "#access/principal.ts";
import { mayDo } from "#access/require-grant.ts";
import type { executionEndpoints } from "#api/endpoints/execution-endpoints.ts";
import type { ExecutionDetail } from "#api/execution.ts";
import { projectOf } from "#caches/rev2/project-of.ts";
import type { BlobStore } from "#cas/blob-store.ts";
import { type Digest, parseDigestKey } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import type { Db } from "#db/db.ts";
import type { ExecutionId } from "#execution/execution.ts";
import { originOfExecution } from "#execution/execution-standing.store.ts";
import { runOfExecution } from "#graphs/past-runs.store.ts";
import { listTree } from "#invocations/pages/list-tree.ts";
import { readExecution } from "#invocations/pages/read-execution.ts";
import { compareExecutions } from "../compare-executions.ts";
import { executionFailure } from "../execution-failure.ts";
import { type LogStream, readExecutionLog } from "../execution-log.ts";
import { asAttachment } from "../http/as-attachment.ts";
import { eventStream } from "../http/event-stream.ts";
import { logAnswer } from "../http/log-answer.ts";
import { logEvents, mostLogBytesPerEvent } from "../http/log-events.ts";
import { logPositionOf } from "../http/log-position.ts";
import type { HandlersFor } from "../http/serve-endpoints.ts";
import { LogPages } from "../logs/log-pages.ts";
import { whyExecutionWaits } from "../why-execution-waits.ts";
import { describeExecution, executionOfCall } from "./execution-of-call.ts";
import { found } from "./found.ts";
import type { Feeds, HandlerServices } from "./handler-services.ts";
import { executionPlaces } from "./object-finders.ts";

/** A log that is shown as text is read as a whole. */
const mostTextBytes = 1024 * 1024;

export function executionHandlers(
  services: Pick<HandlerServices, "db" | "clock" | "queue" | "blobsOf"> & {
    readonly feeds: Pick<Feeds, "logs">;
  },
): HandlersFor<typeof executionEndpoints> {
  const { blobsOf, feeds } = services;
  const log = async (id: ExecutionId, stream: LogStream, offset: number, most: number) =>
    found(await readExecutionLog(services, id, stream, offset, most), describeExecution(id));

  const logPages = new LogPages();
  const reader = (id: ExecutionId, stream: LogStream) => (offset: number, most: number) =>
    log(id, stream, offset, most);

  /** Throws `not_found` for an execution that the caller may not read. */
  const readableExecution = async (written: string, caller: Principal): Promise<ExecutionId> => {
    const id = executionOfCall(written);
    const places = await executionPlaces(services.db, id);
    found(places.find(mayRead(caller)), describeExecution(id));
    return id;
  };

  return {
    async execution({ params, caller }) {
      const id = executionOfCall(params.execution);
      const read = found(await readExecution(services, id), describeExecution(id));
      const waits = read.startedAt === null && read.finishedAt === null;
      return {
        ...read,
        waiting: waits ? await whyExecutionWaits(services, id) : null,
        job: await jobOf(services.db, id, caller),
      };
    },

    async executionFailure({ params, caller }) {
      const id = executionOfCall(params.execution);
      const places = await executionPlaces(services.db, id);
      const mayReadLogs = places.some((place) => mayDo(caller, "read-logs", place));
      const read = await executionFailure(services, id, { mayRead: mayRead(caller), mayReadLogs });
      return found(read, describeExecution(id));
    },

    async executionComparison({ params, query, caller }) {
      const id = executionOfCall(params.execution);
      const other =
        query.with === undefined ? undefined : await readableExecution(query.with, caller);
      const read = await compareExecutions(services, id, other, mayRead(caller));
      return found(read, describeExecution(id));
    },

    async executionLog({ params, query: { stream, limit }, context }) {
      const id = executionOfCall(params.execution);
      const { offset } = logPositionOf(context);
      return logAnswer(context, await log(id, stream, offset, limit), limit);
    },

    executionLogIndex({ params, query: { stream } }) {
      const id = executionOfCall(params.execution);
      return logPages.index(`${id} ${stream}`, reader(id, stream));
    },

    executionLogSearch({ params, query: { stream, ...query }, context }) {
      const id = executionOfCall(params.execution);
      const { signal } = context.req.raw;
      return logPages.search(`${id} ${stream}`, reader(id, stream), query, signal);
    },

    executionLogEvents({ params, query: { stream }, context }) {
      const id = executionOfCall(params.execution);
      const from = logPositionOf(context);
      const read = (offset: number) => log(id, stream, offset, mostLogBytesPerEvent);
      return eventStream(context, feeds.logs.ticket(id), logEvents(read, from));
    },

    async blob({ params, query, context }) {
      const digest = digestOf(params);
      const project = projectOf(query.project);
      if (query.as === "text") requireShort(digest);
      const chunks = found(await blobsOf(project).read(digest), describe(digest, project));
      if (query.as === "text") {
        const text = await textOf(chunks);
        context.header("content-type", "text/plain; charset=utf-8");
        context.header("content-security-policy", "default-src 'none'; sandbox");
        return context.body(text.buffer);
      }
      asAttachment(context, query.name ?? digest.hash, digest);
      return stream(context, async (body) => {
        for await (const chunk of chunks) {
          // The client has disconnected.
          if (body.aborted) return;
          await body.write(chunk);
        }
      });
    },

    async blobTree({ params, query }) {
      const digest = digestOf(params);
      const project = projectOf(query.project);
      return found(await listTree(blobsOf(project), digest), describe(digest, project));
    },
  };
}

function mayRead(caller: Principal): (where: Where) => boolean {
  return (where) => mayDo(caller, "read", where);
}

/** The run that an execution serves, if the caller may read its graph. */
async function jobOf(db: Db, id: ExecutionId, caller: Principal): Promise<ExecutionDetail["job"]> {
  const origin = await originOfExecution(db, id);
  const run = origin && (await runOfExecution(db, id, origin.invocation));
  if (run === undefined || !mayDo(caller, "read", run)) return null;
  const { graph, job: name, run: number, commit } = run;
  return { graph, name, run: number, commit };
}

type Chunks = NonNullable<Awaited<ReturnType<BlobStore["read"]>>>;

function requireShort({ sizeBytes }: Digest): void {
  if (sizeBytes <= mostTextBytes) return;
  throw new Fault(
    "failed_precondition",
    `only blobs of up to ${mostTextBytes} bytes are shown as text; download it instead`,
  );
}

async function textOf(chunks: Chunks): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  for await (const part of chunks) parts.push(part);
  const bytes = Buffer.concat(parts);
  if (isText(bytes)) return new Uint8Array(bytes);
  throw new Fault("failed_precondition", "this blob is not UTF-8 text; download it instead");
}

/** Escape sequences count as text; a NUL does not occur in text. */
function isText(bytes: Buffer): boolean {
  if (bytes.includes(0)) return false;
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

function digestOf({ hash, size }: { readonly hash: string; readonly size: string }): Digest {
  const written = `${hash}/${size}`;
  try {
    if (!/\/(0|[1-9]\d{0,15})$/.test(written)) throw new Error("no size");
    return parseDigestKey(written);
  } catch {
    throw new Fault(
      "invalid_argument",
      `"${written.slice(0, 150)}" is not the name of a blob; write HASH/SIZE`,
    );
  }
}

function describe(digest: Digest, project: string): string {
  return `blob ${digest.hash}/${digest.sizeBytes} in project "${project}"; blobs that are not used for a long time are removed`;
}
