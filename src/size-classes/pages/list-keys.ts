import type { SizeClassKeySummary, SizeClassKeys } from "#api/size-class.ts";
import { Fault } from "#core/fault.ts";
import type { Db } from "#db/db.ts";
import type { KeyCost } from "#execution/sizing/size-class-usage.store.ts";
import { levelOf } from "../key.ts";
import { type KeyName, nameOf } from "../key-history.store.ts";
import { type KnownKey, keysWithText, knownKeys } from "./keys.store.ts";
import type { Usage } from "./read-classes.ts";

interface KeysQuery {
  readonly text: string | undefined;
  /** The `next` value of the previous page. */
  readonly before: string | undefined;
  readonly limit: number;
}

/**
 * Returns keys by their recent cost, page by page.
 *
 * With a text, keys without recent cost follow on the last page, the most recent first.
 */
export async function listKeys(db: Db, usage: Usage, query: KeysQuery): Promise<SizeClassKeys> {
  const text = (query.text ?? "").trim().toLowerCase();
  const after = query.before === undefined ? undefined : readCursor(query.before);
  const found = usage.keys.filter(
    (each) =>
      (after === undefined || isAfter(each, after)) &&
      (each.title.toLowerCase().includes(text) || each.key.toLowerCase().startsWith(text)),
  );
  const shown = found.slice(0, query.limit);
  const last = shown.at(-1);
  const hasMore = found.length > shown.length;
  const keys = await summariesOf(db, shown);
  if (text !== "" && !hasMore && shown.length < query.limit) {
    const listed = new Set(usage.keys.map(nameOf));
    const others = await keysWithText(db, text, 2 * query.limit);
    keys.push(
      ...others
        .filter((each) => !listed.has(nameOf(each)))
        .slice(0, query.limit - shown.length)
        .map((each) => summaryOf({ ...each, executions: 0, ms: 0, cost: 0 }, each)),
    );
  }
  return {
    lately: usage.window,
    keys,
    next: hasMore && last !== undefined ? cursorOf(last) : null,
  };
}

/** Returns the costs of keys with their summaries. */
export async function summariesOf(
  db: Db,
  costs: readonly KeyCost[],
): Promise<SizeClassKeySummary[]> {
  if (costs.length === 0) return [];
  const known = new Map((await knownKeys(db, costs)).map((each) => [nameOf(each), each]));
  return costs.map((cost) => summaryOf(cost, known.get(nameOf(cost))));
}

function summaryOf(
  { project, domain, key, title, executions, ms, cost }: KeyCost,
  known: KnownKey | undefined,
): SizeClassKeySummary {
  return {
    project,
    domain,
    key,
    level: levelOf(key),
    title: known?.title || title,
    executions,
    busySeconds: ms / 1_000,
    cost,
    lastSeenAt: known?.lastSeenAt.toISOString() ?? null,
  };
}

type Cursor = KeyName & { readonly cost: number };

function isAfter(each: Cursor, cursor: Cursor): boolean {
  return each.cost === cursor.cost ? nameOf(each) > nameOf(cursor) : each.cost < cursor.cost;
}

function cursorOf({ cost, project, domain, key }: KeyCost): string {
  return Buffer.from(JSON.stringify([cost, project, domain, key])).toString("base64url");
}

function readCursor(text: string): Cursor {
  let read: unknown;
  try {
    read = JSON.parse(Buffer.from(text, "base64url").toString());
  } catch {
    read = undefined;
  }
  if (Array.isArray(read) && read.length === 4) {
    const [cost, project, domain, key] = read as unknown[];
    const isText = (value: unknown) => typeof value === "string";
    if (typeof cost === "number" && isText(project) && isText(domain) && isText(key)) {
      return { cost, project: String(project), domain: String(domain), key: String(key) };
    }
  }
  throw new Fault("invalid_argument", "`before` is none that a list of keys gave as `next`");
}
