import type { InvocationList } from "#api/invocation.ts";
import { Fault } from "#core/fault.ts";
import type { PlacePatterns } from "#core/place-patterns.ts";
import type { Db, Tx } from "#db/db.ts";
import { buildsOfCommit } from "../build-events/read-builds.store.ts";
import {
  type InvocationName,
  type InvocationRow,
  invocationRows,
  listInvocations,
} from "./invocation-row.store.ts";
import { summariesOf } from "./summaries.ts";

interface InvocationQuery {
  readonly project: string | undefined;
  readonly commit: string | undefined;
  readonly before: string | undefined;
  readonly limit: number;
  /** Only invocations of projects among these places. */
  readonly places: PlacePatterns;
}

/** Returns invocations, the newest first; only those of the page are counted. */
export async function invocationList(
  db: Db,
  { project, commit, before: written, limit, places }: InvocationQuery,
  now: Date,
): Promise<InvocationList> {
  const before = written === undefined ? undefined : parseInvocationCursor(written);
  return db.transaction(async (tx) => {
    const rows =
      commit === undefined
        ? await listInvocations(tx, { project, before, limit, places })
        : await rowsOfCommit(tx, { commit, project, before, limit, places });
    const last = rows.length < limit ? undefined : rows.at(-1);
    return {
      invocations: await summariesOf(tx, rows, now),
      next: last === undefined ? null : formatInvocationCursor(last),
    };
  });
}

/** The latest builds of a commit are enough, however often it is built. */
const mostOfCommit = 1_000;

async function rowsOfCommit(
  tx: Tx,
  query: {
    readonly commit: string;
    readonly project: string | undefined;
    readonly before: InvocationName | undefined;
    readonly limit: number;
    readonly places: PlacePatterns;
  },
): Promise<InvocationRow[]> {
  const { before, limit } = query;
  const builds = await buildsOfCommit(tx, { ...query, limit: mostOfCommit });
  const names = builds.map(({ project, invocation }) => ({ project, id: invocation }));
  const rows = await invocationRows(tx, names);
  const from = rows.findIndex(({ project, id }) => project === before?.project && id === before.id);
  return rows.slice(from + 1, from + 1 + limit);
}

/** Both parts come from outside: a project may contain slashes, and an id any character. */
function formatInvocationCursor({ project, id }: InvocationName): string {
  return Buffer.from(JSON.stringify([project, id])).toString("base64url");
}

/** Throws `invalid_argument` for a text that is not a cursor. */
function parseInvocationCursor(text: string): InvocationName {
  try {
    const read: unknown = JSON.parse(Buffer.from(text, "base64url").toString());
    if (Array.isArray(read) && typeof read[0] === "string" && typeof read[1] === "string") {
      return { project: read[0], id: read[1] };
    }
  } catch {
    // Not JSON: refused below.
  }
  throw new Fault(
    "invalid_argument",
    "`before` must be the `next` of the previous list of invocations",
  );
}
