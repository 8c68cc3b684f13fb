import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect, test } from "vitest";
import { z } from "zod";
import { Fault } from "#core/fault.ts";
import { freshDatabase } from "../../test/support/fresh-db.ts";
import type { Db } from "./db.ts";
import { openPostgres } from "./postgres.ts";
import { sql } from "./sql.ts";

const url = await freshDatabase();
const Count = z.object({ n: z.number() });

test("a transaction that throws leaves nothing behind", async () => {
  const db = openPostgres({ url });
  await db.script("create table thing (n integer)");

  const attempt = db.transaction(async (tx) => {
    await tx.run(sql`insert into thing values (1)`);
    throw new Fault("aborted", "changed my mind");
  });

  await expect(attempt).rejects.toThrow("changed my mind");
  expect(await db.many(Count, sql`select count(*) as n from thing`)).toEqual([{ n: 0 }]);
  await db.close();
});

test("a failing statement is told as a fault, and the connection serves the next transaction", async () => {
  const db = openPostgres({ url, poolSize: 1 });

  await expect(db.transaction((tx) => tx.run(sql`select nothing from nowhere`))).rejects.toThrow(
    /the database reports: relation "nowhere" does not exist/,
  );

  expect(await db.transaction((tx) => tx.many(Count, sql`select 2::bigint as n`))).toEqual([
    { n: 2 },
  ]);
  await db.close();
});

test("a transaction says what failed first, not that later statements were refused because of it", async () => {
  const db = openPostgres({ url, poolSize: 1 });

  const attempt = db.transaction(async (tx) => {
    const first = tx.run(sql`select nothing from nowhere`);
    first.catch(() => {});
    await tx.run(sql`select 1`);
  });

  await expect(attempt).rejects.toThrow(/relation "nowhere" does not exist/);
  await db.close();
});

test("a connection that is ended in one packet with its greeting ends nothing else", async () => {
  // Given a server that completes the handshake and, in the same packet, reports the loss of its postmaster: see the
  // protocol's message formats
  const severity = "SFATAL\0VFATAL\0C57P01\0";
  const words = "Mterminating connection due to unexpected postmaster exit\0\0";
  const error = Buffer.from(severity + words);
  const length = Buffer.alloc(4);
  length.writeInt32BE(error.length + 4);
  const greeting = Buffer.from("52000000080000000" + "05a0000000549", "hex");
  const dying = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () =>
      socket.end(Buffer.concat([greeting, Buffer.from("E"), length, error])),
    );
  }).listen(0, "127.0.0.1");
  await once(dying, "listening");
  const { port } = dying.address() as AddressInfo;
  const db = openPostgres({ url: `postgres://grange@127.0.0.1:${port}/grange` });

  const attempts = Array.from({ length: 8 }, () => db.transaction((tx) => tx.run(sql`select 1`)));

  for (const each of await Promise.allSettled(attempts))
    expect(each).toMatchObject({ status: "rejected", reason: { code: "unavailable" } });
  await db.close();
  dying.close();
});

test("a transaction whose connection is cut throws unavailable, and the next one works", async () => {
  const db = openPostgres({ url, poolSize: 1 });

  const cut = db.transaction((tx) => tx.run(sql`select pg_terminate_backend(pg_backend_pid())`));

  await expect(cut).rejects.toMatchObject({ code: "unavailable" });
  expect(await db.many(Count, sql`select 1::bigint as n`)).toEqual([{ n: 1 }]);
  await db.close();
});

test("a listener hears notifications, and is called with nothing after its connection was lost", async () => {
  const db = openPostgres({ url });
  const heard: string[] = [];
  let told = () => {};
  const next = () => new Promise<void>((resolve) => (told = resolve));
  await db.listen("bell", (payload) => {
    heard.push(payload);
    told();
  });

  const first = next();
  await db.run(sql`select pg_notify('bell', 'ding')`);
  await first;
  const second = next();
  await db.run(sql`
    select pg_terminate_backend(pid) from pg_stat_activity where query like 'listen%' and datname = current_database()
  `);
  await second;

  expect(heard).toEqual(["ding", ""]);
  await db.close();
});

test("all who listen share a connection; who stops hears no more, and the others go on", async () => {
  const db = openPostgres({ url });
  const bells = listeners();
  const [first, second, third] = await Promise.all([
    db.listen("one", bells.heard("first")),
    db.listen("one", bells.heard("second")),
    db.listen("two", bells.heard("third")),
  ]);

  expect(await connectionsThatListen(db)).toBe(1);
  await first.stop();
  await db.run(sql`select pg_notify('one', 'ding'), pg_notify('two', 'dong')`);
  await bells.firstResponse(2);
  expect(bells.all).toEqual(["second: ding", "third: dong"]);
  await cutThoseThatListen(db);
  await bells.firstResponse(4);
  expect(bells.all.slice(2)).toEqual(["second: ", "third: "]);
  await db.run(sql`select pg_notify('two', 'again')`);
  await bells.firstResponse(5);
  expect(bells.all.at(-1)).toBe("third: again");

  await Promise.all([second.stop(), third.stop()]);
  await expect.poll(() => connectionsThatListen(db)).toBe(0);
  const fourth = await db.listen("one", bells.heard("fourth"));
  await db.run(sql`select pg_notify('one', 'anew')`);
  await bells.firstResponse(6);
  expect(bells.all.at(-1)).toBe("fourth: anew");
  await fourth.stop();
  await db.close();
});

test("who begins to listen after the connection was made again hears on that one", async () => {
  const db = openPostgres({ url });
  const bells = listeners();
  await db.listen("one", bells.heard("first"));
  await cutThoseThatListen(db);
  await bells.firstResponse(1);

  await db.listen("two", bells.heard("second"));
  await db.run(sql`select pg_notify('one', 'ding'), pg_notify('two', 'dong')`);
  await bells.firstResponse(3);

  expect(bells.all).toEqual(["first: ", "first: ding", "second: dong"]);
  expect(await connectionsThatListen(db)).toBe(1);
  await db.close();
});

function listeners() {
  const all: string[] = [];
  let told = () => {};
  return {
    all,
    heard: (name: string) => (payload: string) => {
      all.push(`${name}: ${payload}`);
      told();
    },
    async firstResponse(count: number) {
      while (all.length < count) await new Promise<void>((resolve) => (told = resolve));
    },
  };
}

async function connectionsThatListen(db: Db): Promise<number> {
  const [row] = await db.many(
    Count,
    sql`
      select count(*) as n from pg_stat_activity
      where query like 'listen%' and datname = current_database()
    `,
  );
  return row?.n ?? 0;
}

async function cutThoseThatListen(db: Db): Promise<void> {
  await db.run(sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where query like 'listen%' and datname = current_database()
  `);
}
