import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { freshDatabase } from "../../test/support/fresh-db.ts";
import { forMaintenance } from "./for-maintenance.ts";
import { openListener } from "./listen.ts";
import { openPostgres } from "./postgres.ts";
import { sql } from "./sql.ts";
import { type TimeLimits, timeLimits } from "./time-limits.ts";

const url = await freshDatabase();
const setup = openPostgres({ url, poolSize: 1 });
await setup.script("create table item (n integer); insert into item values (1)");
await setup.close();

const withLimits = (call: Partial<TimeLimits>) =>
  openPostgres({
    url,
    limits: {
      ...timeLimits,
      call: { ...timeLimits.call, ...call },
    },
  });

const Setting = z.object({ name: z.string(), setting: z.string() });
const settingsNow = sql`
  select name, setting from pg_settings
  where name in ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout') order by name
`;

test("each kind of work has its own limits, and those of a transaction end with it", async () => {
  const db = openPostgres({ url, poolSize: 1 });
  const read = async (from: { many: typeof db.many }) =>
    (await from.many(Setting, settingsNow)).map(({ setting }) => Number(setting));
  const asRead = ({ idleInTransactionMs, lockMs, statementMs }: TimeLimits) => [
    idleInTransactionMs,
    lockMs,
    statementMs,
  ];

  expect(await read(db)).toEqual(asRead(timeLimits.call));
  for (const kind of ["call", "maintenance", "migration"] as const)
    expect(await db.transaction(read, kind)).toEqual(asRead(timeLimits[kind]));
  for (const kind of ["call", "maintenance"] as const) {
    const database = kind === "call" ? db : forMaintenance(db);
    expect(await read(database)).toEqual(asRead(timeLimits[kind]));
    expect(await database.transaction(read)).toEqual(asRead(timeLimits[kind]));
  }
  await db.close();
});

test("a statement that takes too long is stopped, and its connection serves the next", async () => {
  const db = withLimits({ statementMs: 50 });

  await expect(db.run(sql`select pg_sleep(60)`)).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringContaining("took too long"),
  });
  expect(await db.run(sql`select 1`)).toBe(1);
  await db.close();
});

test("whoever waits too long for a row gives up, and the row's holder goes on", async () => {
  const db = withLimits({ lockMs: 50 });
  const lockRow = sql`select n from item for update`;

  await db.transaction(async (holder) => {
    await holder.run(lockRow);
    await expect(db.transaction((tx) => tx.run(lockRow))).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("a lock of another transaction"),
    });
    await holder.run(sql`update item set n = n + 1`);
  });
  expect(await db.many(z.object({ n: z.number() }), sql`select n from item`)).toEqual([{ n: 2 }]);
  await db.close();
});

test("a transaction that stands still loses its rows to the next, and says so", async () => {
  const db = withLimits({ idleInTransactionMs: 50 });
  const lockRow = sql`select n from item for update`;
  let goOn = () => {};
  const halted = new Promise<void>((resolve) => (goOn = resolve));
  let hasRow = () => {};
  const locked = new Promise<void>((resolve) => (hasRow = resolve));

  const stopped = db.transaction(async (tx) => {
    await tx.run(lockRow);
    hasRow();
    await halted;
    await tx.run(sql`update item set n = 100`);
  });
  await locked;
  await db.transaction((tx) => tx.run(lockRow));
  goOn();

  await expect(stopped).rejects.toMatchObject({ code: "unavailable" });
  expect(await db.many(z.object({ n: z.number() }), sql`select n from item`)).toEqual([{ n: 2 }]);
  await db.close();
});

test("a network that drops everything ends a call within its limit, and a new connection is made", async () => {
  const line = await lineTo(url);
  const db = openPostgres({
    url: line.url,
    poolSize: 1,
    limits: { ...timeLimits, call: { ...timeLimits.call, answerMs: 200 } },
  });
  await db.run(sql`select 1`);
  line.silence();

  const lost = db.transaction((tx) => tx.run(sql`select 2`));

  await expect(lost).rejects.toMatchObject({ code: "unavailable" });
  expect(await db.run(sql`select 3`)).toBe(1);
  await db.close();
  await line.close();
});

test("a listener whose connection died in silence connects again and calls those who listen", async () => {
  const line = await lineTo(url);
  const heard: string[] = [];
  const listener = openListener(
    { connectionString: line.url, pipeline: true },
    { everyMs: 120, answerMs: 100 },
  );
  let tell = () => {};
  const next = () => new Promise<void>((resolve) => (tell = resolve));
  await listener.listen("bell", (payload) => {
    heard.push(payload);
    tell();
  });

  const reconnected = next();
  line.silence();
  await reconnected;

  const notified = next();
  const db = openPostgres({ url, poolSize: 1 });
  await db.run(sql`select pg_notify('bell', 'ding')`);
  await notified;
  expect(heard).toEqual(["", "ding"]);
  await db.close();
  await listener.close();
  await line.close();
});

/** A TCP proxy to the database. When it is silenced, open connections stay silent for ever; new ones work. */
async function lineTo(database: string) {
  const address = new URL(database);
  const socket = join(address.searchParams.get("host") ?? "", ".s.PGSQL.5432");
  const open = new Set<Socket>();
  const server = createServer((from) => {
    const to = connect(socket);
    from.pipe(to).pipe(from);
    for (const end of [from, to]) {
      open.add(end);
      end.on("error", () => {});
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const user = address.searchParams.get("user") ?? "grange";
  return {
    url: `postgres://${user}@127.0.0.1:${port}${address.pathname}`,
    silence() {
      for (const end of open) end.unpipe();
    },
    async close() {
      for (const end of open) end.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
