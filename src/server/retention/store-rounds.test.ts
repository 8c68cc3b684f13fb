import { randomUUID } from "node:crypto";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterAll, expect, test } from "vitest";
import { z } from "zod";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { roundsInDatabase } from "./rounds-in-database.ts";
import { takeRound } from "./store-round.store.ts";
import { type RoundPlace, roundsInDirectory, startStoreRounds } from "./store-rounds.ts";

const directory = await mkdtemp(join(tmpdir(), "grange-rounds-"));
afterAll(() => rm(directory, { recursive: true }));
const db = await freshDb();

const Noted = z.object({ count: z.number() });

test("notes are read as they were written, and no other file is left", async () => {
  const notes = roundsInDirectory(directory).notes("notes", Noted, { count: 0 });

  expect(await notes.read()).toEqual({ count: 0 });
  await Promise.all([1, 2, 3].map((count) => notes.write({ count })));

  expect((await notes.read()).count).toBeGreaterThan(0);
  expect((await readdir(directory)).filter((name) => name.startsWith("notes"))).toEqual([
    "notes.json",
  ]);
});

test.each(['{"count":', '{"count":"many"}', "", "[]"])(
  "a file that holds %j gives the initial value",
  async (text) => {
    await writeFile(join(directory, "damaged.json"), text);
    const notes = roundsInDirectory(directory).notes("damaged", Noted, { count: 7 });

    expect(await notes.read()).toEqual({ count: 7 });
  },
);

/** The places of servers that share a directory, and of servers that share only a database. */
const places = {
  directory: () => roundsInDirectory(directory),
  database: () => roundsInDatabase(db),
};

function rounds(round: (signal: AbortSignal) => Promise<void>, place: RoundPlace) {
  return startStoreRounds({
    place,
    name: "rounds",
    everyMs: 5,
    round,
    failure: "it failed",
    logger: pino({ level: "silent" }),
  });
}

test.each(["directory", "database"] as const)(
  "servers that share a %s run one round at a time, also after one failed",
  async (kind) => {
    const place = places[kind];
    let running = 0;
    let most = 0;
    let calls = 0;
    const round = async () => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setTimeout(resolve, 10));
      running -= 1;
      calls += 1;
      if (calls === 2) throw new Error("a round failed");
    };

    const servers = [rounds(round, place()), rounds(round, place())];
    await expect.poll(() => calls).toBeGreaterThan(4);
    await Promise.all(servers.map((each) => each.stop()));

    expect(most).toBe(1);
  },
);

test.each(["directory", "database"] as const)(
  "a stop aborts the round in a %s, and waits for its end",
  async (kind) => {
    const place = places[kind];
    let isOver = false;
    let begin = () => {};
    const begun = new Promise<void>((resolve) => (begin = resolve));
    const service = rounds(async (signal) => {
      begin();
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      isOver = true;
    }, place());
    await begun;

    await service.stop();

    expect(isOver).toBe(true);
  },
);

test("notes in the database are written by the server that has the round, and read by all", async () => {
  const [one, other] = [roundsInDatabase(db), roundsInDatabase(db)];
  const notesOf = (place: RoundPlace) => place.notes("noted", Noted, { count: 0 });
  expect(await notesOf(one).read()).toEqual({ count: 0 });

  const right = await one.take("noted");
  await notesOf(one).write({ count: 3 });

  expect(await other.take("noted")).toBeUndefined();
  expect(await notesOf(other).read()).toEqual({ count: 3 });
  await expect(notesOf(other).write({ count: 4 })).rejects.toThrow(/another server/);
  await right?.release();
});

test("the round of a server that died is taken over when its time is over", async () => {
  await takeRound(db, "left", randomUUID());
  const other = roundsInDatabase(db);
  expect(await other.take("left")).toBeUndefined();

  await db.run(
    sql`update store_round set held_until = now() - interval '1 second' where name = 'left'`,
  );

  const right = await other.take("left");
  expect(right?.lost.aborted).toBe(false);
  await right?.release();
});
