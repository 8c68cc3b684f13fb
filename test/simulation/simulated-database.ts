import { PGlite } from "@electric-sql/pglite";
import pg from "pg";
import { Fault } from "#core/fault.ts";
import { databaseFault, isAfterFailure } from "#db/database-fault.ts";
import type { Db, Tx } from "#db/db.ts";
import { migrate } from "#db/migrate.ts";
import { rowsOf } from "#db/postgres.ts";
import type { Sql } from "#db/sql.ts";
import { trackLastStatements } from "#db/with-commit.ts";
import { EventLoop, type SimulatedProcess } from "./event-loop.ts";
import { type Answer, PostgresInProcess } from "./postgres-in-process.ts";
import { PostgresSnapshot } from "./postgres-snapshot.ts";

/** What a fault does to a transaction when it is to be committed. */
export type CommitFault =
  | "none"
  /** The server dies, and nothing is committed. */
  | "crash before"
  /** It is committed, and the server dies before it knows. */
  | "crash after"
  /** The connection breaks, and nothing is committed. */
  | "lost before"
  /** It is committed, and the connection breaks before the server knows. */
  | "lost after";

export interface DatabaseFaults {
  atCommit(process: SimulatedProcess): CommitFault;
  /** What happens instead of a statement of a transaction. */
  atStatement(process: SimulatedProcess): "none" | "deadlock" | "lost";
  /** The time for the way of statements to the database and back, in ms. */
  latencyMs(): number;
  /** The time until a notification is heard, in ms; undefined when it is lost. */
  notificationMs(): number | undefined;
  /** Called after a process was killed by a fault of the database. */
  killed(process: SimulatedProcess): void;
}

const noFaults: DatabaseFaults = {
  atCommit: () => "none",
  atStatement: () => "none",
  latencyMs: () => 0,
  notificationMs: () => 0,
  killed: () => {},
};

/** A change of the farm's statements or of its database interface, by which a bug is planted. */
interface DatabaseBug {
  /** Returns the statement that is run instead. */
  rewrite?(text: string): string;
  /** Whether a transaction is acknowledged before it is committed. */
  readonly acknowledgesEarly?: boolean;
}

interface Waiting {
  readonly process: SimulatedProcess;
  readonly grant: (session: Session) => void;
}

interface Listening {
  readonly process: SimulatedProcess;
  readonly channel: string;
  readonly heard: (payload: string) => void;
}

/**
 * The database of a simulated farm: a real PostgreSQL, with every migration of the farm.
 *
 * It has one connection, so transactions never run at the same time. Statements of other transactions can run between
 * any two transactions of a process, but never inside one: waits for row locks and SKIP LOCKED are not simulated.
 */
export class SimulatedDatabase {
  readonly #pglite: PGlite;
  readonly #postgres: PostgresInProcess;
  /** The state in which each seed begins: all migrations, and empty tables. */
  #start: PostgresSnapshot | undefined;
  #loop: EventLoop;
  #faults = noFaults;
  #bug: DatabaseBug = {};
  #holder: Session | undefined;
  #waiting: Waiting[] = [];
  #listening: Listening[] = [];

  private constructor(pglite: PGlite, loop: EventLoop) {
    this.#pglite = pglite;
    this.#loop = loop;
    this.#postgres = new PostgresInProcess(pglite, (channel, payload) =>
      this.#notify(channel, payload),
    );
  }

  static async open(): Promise<SimulatedDatabase> {
    const pglite = await withoutAlarms(() =>
      PGlite.create({ startParams: [...PGlite.defaultStartParams, ...withoutDisk] }),
    );
    const loop = new EventLoop(0);
    const database = new SimulatedDatabase(pglite, loop);
    let isOver = false;
    const migrated = migrate(database.connect(loop.world)).finally(() => {
      isOver = true;
    });
    migrated.catch(() => {});
    // Migrations are read from files first, which takes real time.
    while (!isOver) {
      await loop.run(() => isOver, Number.POSITIVE_INFINITY);
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
    await migrated;
    database.#postgres.script(
      "set plan_cache_mode = force_generic_plan; set enable_seqscan = off; set enable_bitmapscan = off; select setseed(0.5)",
    );
    database.#keepStart([]);
    return database;
  }

  /**
   * Lets all later seeds begin with the plans of the statements that were run so far. They take most of the time of a
   * seed. They are made for empty tables, so they do not depend on the seeds before.
   */
  keepPlans(): void {
    const statements = this.#postgres.statements();
    this.#start?.restore();
    this.#keepStart(statements);
  }

  #keepStart(statements: readonly string[]): void {
    this.#postgres.prepare(statements);
    this.#start = new PostgresSnapshot(this.#pglite);
  }

  /** Returns the database to the state in which each seed begins. */
  begin(loop: EventLoop, faults: DatabaseFaults, bug: DatabaseBug): void {
    this.#holder = undefined;
    this.#waiting = [];
    this.#listening = [];
    this.#loop = loop;
    this.#faults = noFaults;
    this.#start?.restore();
    this.#postgres.forgetLater();
    // PostgreSQL's host has a buffer of random bytes: what it had at the start is used up first.
    const { drawn } = loop.random;
    while (loop.random.drawn === drawn) this.#postgres.run("select gen_random_uuid()", []);
    this.#faults = faults;
    this.#bug = bug;
  }

  /** Ends all faults of the database. */
  heal(): void {
    const faults = this.#faults;
    this.#faults = { ...noFaults, latencyMs: () => faults.latencyMs() };
  }

  /** Rolls back what a dead process has begun. */
  forget(process: SimulatedProcess): void {
    this.#waiting = this.#waiting.filter((each) => each.process !== process);
    this.#listening = this.#listening.filter((each) => each.process !== process);
    if (this.#holder?.process === process) this.#end(this.#holder, "rollback");
  }

  isHeldBy(process: SimulatedProcess): boolean {
    return this.#holder?.process === process;
  }

  /** Returns the database as a process of the farm sees it. */
  connect(process: SimulatedProcess): Db {
    const alone = async (send: (session: Session) => Promise<Answer>) => {
      const session = await this.#acquire(process);
      try {
        return await send(session);
      } catch (reason) {
        throw databaseFault(reason);
      } finally {
        this.#release(session);
      }
    };
    return {
      many: async (row, { text, values }) =>
        rowsOf(row).parse((await alone((session) => session.send(text, values))).rows),
      run: async ({ text, values }) => (await alone((session) => session.send(text, values))).count,
      script: async (text) => void (await alone((session) => session.send(text))),
      transaction: async (work) => {
        const session = await this.#acquire(process);
        return new Promise((resolve, reject) => {
          this.#transact(session, work, resolve)
            .then(resolve, reject)
            .finally(() => this.#release(session));
        });
      },
      listen: async (channel, heard) => {
        await alone((session) => session.send(`listen ${channel}`));
        const listening = { process, channel, heard };
        this.#listening.push(listening);
        return {
          stop: async () => {
            this.#listening = this.#listening.filter((each) => each !== listening);
          },
        };
      },
      close: async () => {},
    };
  }

  /** As `openPostgres` does it. */
  async #transact<T>(
    session: Session,
    work: (tx: Tx) => Promise<T>,
    acknowledge: (result: T) => void,
  ): Promise<T> {
    let failed: unknown;
    const send = async (text: string, values?: readonly unknown[]) => {
      if (session.isOver)
        throw new Fault("internal", "a statement was sent after its transaction had ended");
      return session.send(text, values).catch((reason: unknown) => {
        failed ??= reason;
        throw databaseFault(reason);
      });
    };
    const tx: Tx = {
      many: async (row, { text, values }: Sql) =>
        rowsOf(row).parse((await send(text, values)).rows),
      run: async ({ text, values }) => (await send(text, values)).count,
      script: async (text) => void (await send(text)),
    };
    try {
      const begun = session.send("begin");
      begun.catch(() => {});
      const last = trackLastStatements(tx);
      const result = await work(tx);
      session.isOver = true;
      const committed = session.send("commit");
      committed.catch(() => {});
      if (this.#bug.acknowledgesEarly === true) acknowledge(result);
      await begun;
      for (const each of last) await each;
      const { command } = await committed;
      if (command !== "COMMIT")
        throw new Fault(
          "internal",
          "a statement failed whose result no code awaited; the transaction was rolled back",
        );
      return result;
    } catch (thrown) {
      session.isOver = true;
      const cause = isAfterFailure(thrown) && failed !== undefined ? failed : thrown;
      const isBroken = session.broken !== undefined;
      await session.send("rollback").catch(() => {});
      throw cause instanceof pg.DatabaseError || isBroken ? databaseFault(cause) : cause;
    }
  }

  /** Resolves in an event of the process, when it has the connection. */
  #acquire(process: SimulatedProcess): Promise<Session> {
    return new Promise((grant) => {
      this.#waiting.push({ process, grant });
      this.#grant();
    });
  }

  #grant(): void {
    if (this.#holder !== undefined) return;
    this.#waiting = this.#waiting.filter(({ process }) => process.isAlive);
    const able = this.#waiting.filter(({ process }) => process.stoppedUntilMs <= this.#loop.nowMs);
    if (able.length === 0) {
      // All who wait are stopped.
      const [first] = this.#waiting;
      if (first !== undefined)
        this.#loop.after(
          Math.max(1, first.process.stoppedUntilMs - this.#loop.nowMs),
          () => this.#grant(),
          this.#loop.world,
        );
      return;
    }
    const next = this.#loop.random.pick(able);
    this.#waiting.splice(this.#waiting.indexOf(next), 1);
    const session = new Session(next.process, (sent) => this.#plan(session, sent));
    this.#holder = session;
    this.#loop.after(0, () => next.grant(session), next.process);
  }

  /** Plans the arrival of statements that were sent together. */
  #plan(session: Session, sent: readonly Sent[]): void {
    this.#loop.after(
      this.#faults.latencyMs(),
      () => {
        for (const each of sent) this.#take(session, each);
        session.arrived();
      },
      session.process,
    );
  }

  #take(session: Session, { text, values, resolve, reject }: Sent): void {
    if (!session.process.isAlive) return;
    if (session.broken !== undefined) return reject(session.broken);
    if (this.#holder !== session) throw new RangeError(`${text} came after its connection`);
    const fault = this.#faultAt(session, text);
    if (fault === "crash before" || fault === "crash after") {
      this.#loop.trace(fault.replace("crash", "crash at commit,"));
      if (fault === "crash after") this.#postgres.script("commit");
      this.#loop.kill(session.process);
      this.forget(session.process);
      this.#faults.killed(session.process);
      return;
    }
    if (fault === "lost before" || fault === "lost after" || fault === "lost") {
      this.#loop.trace(`connection ${fault}`);
      this.#postgres.script(fault === "lost after" ? "commit" : "rollback");
      session.broken = new Error("Connection terminated unexpectedly");
      return reject(session.broken);
    }
    try {
      if (fault === "deadlock") this.#postgres.script(deadlock);
      const run = this.#bug.rewrite?.(text) ?? text.replace(planByValues, planOnce);
      resolve(values === undefined ? this.#postgres.script(run) : this.#postgres.run(run, values));
    } catch (reason) {
      this.#loop.trace(`refused: ${(reason as Error).message}`);
      reject(reason as Error);
    }
  }

  #faultAt(session: Session, text: string): CommitFault | "deadlock" | "lost" {
    if (text === "commit") return this.#faults.atCommit(session.process);
    if (text === "begin" || text === "rollback" || session.isOver) return "none";
    if (!session.isTransaction) return "none";
    return this.#faults.atStatement(session.process);
  }

  #release(session: Session): void {
    this.#end(session, undefined);
  }

  #end(session: Session, last: string | undefined): void {
    if (this.#holder !== session) return;
    if (last !== undefined) this.#postgres.script(last);
    this.#holder = undefined;
    this.#grant();
  }

  #notify(channel: string, payload: string): void {
    for (const { process, heard, ...about } of this.#listening) {
      if (about.channel !== channel) continue;
      const ms = this.#faults.notificationMs();
      if (ms !== undefined) this.#loop.after(ms, () => heard(payload), process);
    }
  }
}

interface Sent {
  readonly text: string;
  readonly values: readonly unknown[] | undefined;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (reason: Error) => void;
}

/** What a process does while it has the connection. */
class Session {
  readonly process: SimulatedProcess;
  /** Set when the connection broke: nothing more can be sent. */
  broken: Error | undefined;
  isOver = false;
  isTransaction = false;
  readonly #plan: (sent: readonly Sent[]) => void;
  #sent: Sent[] = [];
  #isUnderWay = false;

  constructor(process: SimulatedProcess, plan: (sent: readonly Sent[]) => void) {
    this.process = process;
    this.#plan = plan;
  }

  /** Statements that are sent without waiting for each other travel together and run in their order. */
  send(text: string, values?: readonly unknown[]): Promise<Answer> {
    if (text === "begin") this.isTransaction = true;
    return new Promise((resolve, reject) => {
      this.#sent.push({ text, values, resolve, reject });
      if (this.#isUnderWay) return;
      this.#isUnderWay = true;
      queueMicrotask(() => this.#leave());
    });
  }

  arrived(): void {
    this.#isUnderWay = false;
    if (this.#sent.length === 0) return;
    this.#isUnderWay = true;
    this.#leave();
  }

  #leave(): void {
    const sent = this.#sent;
    this.#sent = [];
    this.#plan(sent);
  }
}

/** Its disk is memory that is never read again, so that nothing need be safe on it. */
const withoutDisk = [
  "fsync=off",
  "synchronous_commit=off",
  "full_page_writes=off",
  "wal_init_zero=off",
  // Less to copy for each seed.
  "shared_buffers=32MB",
].flatMap((setting) => ["-c", setting]);

/**
 * Starts PostgreSQL without its alarms, which it would set with `setTimeout` and get after a real time, in the middle
 * of a simulation. It does without them: they only end what takes too long.
 */
async function withoutAlarms<T>(start: () => Promise<T>): Promise<T> {
  const real = globalThis.setTimeout;
  const withoutAlarm = ((run: () => void, ms?: number, ...values: []) =>
    new Error().stack?.includes("setitimer") === true
      ? 0
      : real(run, ms, ...values)) as typeof real;
  globalThis.setTimeout = Object.assign(withoutAlarm, real);
  try {
    return await start();
  } finally {
    globalThis.setTimeout = real;
  }
}

const deadlock = "do $$ begin raise exception 'deadlock detected' using errcode = '40P01'; end $$";

/** A plan by values depends on how often a statement was planned before, in earlier seeds, too. */
const planByValues = "plan_cache_mode = auto";
const planOnce = "plan_cache_mode = force_generic_plan";
