import pg from "pg";
import { z } from "zod";
import { Fault } from "#core/fault.ts";
import { connectionTarget } from "./connection-target.ts";
import { databaseFault, isAfterFailure, isReadOnly } from "./database-fault.ts";
import type { Db, Tx } from "./db.ts";
import { gatheringSocket } from "./gathering-socket.ts";
import { openListener } from "./listen.ts";
import type { Sql } from "./sql.ts";
import { statementNames } from "./statement-names.ts";
import {
  type KindOfWork,
  setForConnection,
  setForTransaction,
  type TimeLimits,
  timeLimits,
} from "./time-limits.ts";
import { trackLastStatements } from "./with-commit.ts";

interface PostgresOptions {
  /**
   * `postgres://…`; a Unix socket is `postgres:///name?host=/directory&user=name`; a primary with standbys is
   * `postgres://user@one,two/name`.
   */
  readonly url: string;
  /** The highest number of connections. With two cores, more than a few bring no benefit. */
  readonly poolSize?: number;
  readonly applicationName?: string;
  /** Called with the notices of PostgreSQL, such as warnings. */
  readonly onNotice?: (message: string) => void;
  readonly limits?: Readonly<Record<KindOfWork, TimeLimits>>;
  /** How long opening a connection may take, in ms. */
  readonly connectMs?: number;
}

/** The time of silence after which Node sends a TCP keepalive probe. */
const keepAliveMs = 30_000;

/** node-postgres returns int8 as text; our values are counters and sizes, which are safe as numbers. */
const int8 = 20;
export const columnTypes: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: "text" | "binary") =>
    oid === int8 && format !== "binary"
      ? safeInteger
      : pg.types.getTypeParser(oid, format ?? "text")) as typeof pg.types.getTypeParser,
};

export function openPostgres(options: PostgresOptions): Db {
  const limits = options.limits ?? timeLimits;
  const config: pg.PoolConfig = {
    ...connectionTarget(options.url, gatheringSocket),
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
    query_timeout: limits.call.answerMs,
    application_name: options.applicationName ?? "grange",
    types: columnTypes,
    // Statements of one connection are sent without waiting for each other's answers.
    pipeline: true,
  };
  const pool = new pg.Pool({
    ...config,
    max: options.poolSize ?? 8,
    connectionTimeoutMillis: options.connectMs ?? 10_000,
    // Slightly longer than the minute between polls of an idle farm: a new connection costs 20 ms of CPU, an open one 5
    // MiB.
    idleTimeoutMillis: 65_000,
  });
  // A connection that breaks is replaced at its next use; without a listener the process would end. The pool
  // listens while a connection is idle, and a transaction while it has one, but neither in between: an error that
  // arrives in one packet with the end of the handshake finds only a listener from the beginning.
  pool.on("error", () => {});
  const { onNotice } = options;
  pool.on("connect", (client) => {
    client.on("error", () => {});
    // Not awaited: the following statements are queued behind it. If it fails, the connection is broken, and they also
    // fail.
    client.query(setForConnection(limits.call)).catch(() => {});
    if (onNotice !== undefined) client.on("notice", ({ message }) => onNotice(message ?? ""));
  });
  const nameOf = statementNames();
  const listener = openListener(config);

  return {
    ...over(pool, nameOf, { answerMs: limits.call.answerMs }),

    async transaction(work, kind = "call") {
      const client = await pool.connect().catch(fail);
      let broken: Error | undefined;
      /** The error of the first failed statement. Later statements report only that the transaction was aborted. */
      let failed: unknown;
      const onError = (error: Error) => {
        broken = error;
      };
      const opening = openingOf(client, limits[kind].answerMs);
      client.on("error", onError);
      try {
        let isOver = false;
        const tx = over(client, nameOf, {
          answerMs: limits[kind].answerMs,
          opening,
          assertOpen: () => {
            if (isOver)
              throw new Fault("internal", "a statement was sent after its transaction had ended");
          },
          onFailure: (reason) => {
            failed ??= reason;
          },
        });
        if (kind !== "call") await tx.run(setForTransaction(limits[kind]));
        const last = trackLastStatements(tx);
        const result = await work(tx);
        isOver = true;
        const begun = opening.send();
        const committed = client.query("commit");
        committed.catch(() => {});
        await begun;
        // In the order in which they were sent: statements after the failed one report only that the transaction was
        // aborted.
        for (const each of last) await each;
        const { command } = await committed;
        // When a statement that was not awaited has failed, PostgreSQL rolls back without an error.
        if (command !== "COMMIT")
          throw new Fault(
            "internal",
            "a statement failed whose result no code awaited; the transaction was rolled back",
          );
        return result;
      } catch (thrown) {
        const cause = isAfterFailure(thrown) && failed !== undefined ? failed : thrown;
        // The primary of before: a new connection goes to the one of now.
        if (cause instanceof Error && isReadOnly(cause)) broken ??= cause;
        if (opening.hasBegun())
          await client.query("rollback").catch((error: Error) => {
            broken ??= error;
          });
        throw cause instanceof pg.DatabaseError || broken ? databaseFault(cause) : cause;
      } finally {
        client.off("error", onError);
        client.release(broken);
      }
    },

    listen: (channel, heard) => listener.listen(channel, heard),

    async close() {
      await listener.close();
      await pool.end();
    },
  };
}

/** The parts of a transaction that are observed for its statements. */
interface Watched {
  readonly opening?: Opening;
  /** How long an answer may take, in milliseconds; after that the connection is closed. */
  readonly answerMs: number;
  /** Throws when no further statement is allowed. */
  readonly assertOpen?: () => void;
  readonly onFailure?: (reason: unknown) => void;
}

/** The start of a transaction: `begin`, and the scripts before its first statement, as one message. */
interface Opening {
  /** Adds a script; undefined when the transaction has begun. */
  add(script: string): Promise<unknown> | undefined;
  /** Sends it, unless it was sent. */
  send(): Promise<unknown>;
  hasBegun(): boolean;
}

/** Each message costs both sides more than the settings that it sets. */
function openingOf(client: pg.PoolClient, query_timeout: number): Opening {
  let text = "begin";
  let sent: Promise<unknown> | undefined;
  const send = () => {
    const timed: TimedQuery = { text, query_timeout };
    sent ??= client.query(timed);
    // Those who wait for it get the error.
    sent.catch(() => {});
    return sent;
  };
  return {
    send,
    hasBegun: () => sent !== undefined,
    add(script) {
      if (sent !== undefined) return undefined;
      text += `; ${script}`;
      // Sent with the first statement, or alone when the caller waits for this script.
      return new Promise<void>((resolve) => process.nextTick(resolve)).then(send);
    },
  };
}

/** node-postgres accepts a timeout with each statement, but its types omit it. */
type TimedQuery = pg.QueryConfig & { readonly query_timeout: number };

function over(
  connection: pg.Pool | pg.PoolClient,
  nameOf: (text: string) => string | undefined,
  { answerMs: query_timeout, opening, assertOpen, onFailure }: Watched,
): Tx {
  const failing = (reason: unknown): never => {
    onFailure?.(reason);
    throw databaseFault(reason);
  };
  const query = async (s: Sql): Promise<pg.QueryResult> => {
    assertOpen?.();
    void opening?.send();
    const name = nameOf(s.text);
    const named = name === undefined ? {} : { name };
    const timed: TimedQuery = { text: s.text, values: [...s.values], query_timeout, ...named };
    return connection.query(timed).catch(failing);
  };
  return {
    async many(row, statement) {
      return rowsOf(row).parse((await query(statement)).rows);
    },
    async run(statement) {
      return (await query(statement)).rowCount ?? 0;
    },
    async script(text) {
      const timed: TimedQuery = { text, query_timeout };
      await (opening?.add(text) ?? connection.query(timed)).catch(failing);
    },
  };
}

const lists = new WeakMap<z.ZodType, z.ZodType>();

/** A schema is created once: its first use costs more than all parsing with it in a transaction. */
export function rowsOf<Row extends z.ZodType>(row: Row): z.ZodArray<Row> {
  const known = lists.get(row) ?? z.array(row);
  lists.set(row, known);
  return known as z.ZodArray<Row>;
}

function fail(reason: unknown): never {
  throw databaseFault(reason);
}

function safeInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`${text} is too large for a number`);
  return value;
}
