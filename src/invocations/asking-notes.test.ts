import { afterAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import type { Db } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { actionDigest, movableClock, silent } from "#execution/execution.fixture.ts";
import { freshDb } from "../../test/support/fresh-db.ts";
import type { Asking } from "./asking.ts";
import { askingNotes } from "./asking-notes.ts";
import { deleteOldInvocations, markInvocationCancelled } from "./invocation.store.ts";
import { invocationRow } from "./pages/invocation-row.store.ts";
import { invocationState } from "./pages/invocation-state.ts";

const db = await freshDb();
afterAll(() => db.close());
beforeEach(() => db.script("truncate invocation, cache_lookup, operation"));

const asking: Asking = {
  project: "p",
  principal: "alice",
  invocation: "i",
  correlatedId: "",
  toolName: "bazel",
  toolVersion: "",
  targetId: "//a",
  actionMnemonic: "Genrule",
  configurationId: "",
};

const Text = z.object({ text: z.string() });
const texts = async (statement: ReturnType<typeof sql>) =>
  (await db.many(Text, statement)).map(({ text }) => text);

test("an invocation that goes on asking is written down now and then, not for each call", async () => {
  const clock = movableClock();
  let transactions = 0;
  const counted: Db = {
    ...db,
    transaction: (work) => {
      transactions += 1;
      return db.transaction(work);
    },
  };
  const notes = askingNotes({ db: counted, clock, logger: silent });

  for (let i = 0; i < 1_000; i++) {
    notes.heard(asking);
    clock.pass(20);
    await notes.flush();
  }
  await notes.stop();

  expect(transactions).toBe(2);
});

test("of what is said of an invocation, the first stands, and what was not said is added", async () => {
  const clock = movableClock();
  const servers = [1, 2].map(() => askingNotes({ db, clock, logger: silent }));
  servers[0]?.heard({ ...asking, toolName: "" });
  await servers[0]?.stop();
  servers[1]?.heard({ ...asking, principal: "bob", toolVersion: "9" });
  await servers[1]?.stop();

  expect(
    await texts(
      sql`select concat_ws(' ', principal, tool_name, tool_version) as text from invocation`,
    ),
  ).toEqual(["alice bazel 9"]);
});

test("of an action's lookups the last counts, and those of no invocation are nobody's", async () => {
  const notes = askingNotes({ db, clock: movableClock(), logger: silent });
  const digest = actionDigest("a");
  notes.lookedUp(asking, digest, false);
  await notes.flush();
  notes.lookedUp(asking, digest, false);
  notes.lookedUp(asking, digest, true);
  notes.lookedUp({ ...asking, invocation: "" }, digest, true);
  await notes.stop();

  expect(
    await texts(sql`select concat_ws(' ', invocation, hit::text) as text from cache_lookup`),
  ).toEqual(["i true"]);
});

test("while the database is away, nothing is thrown and memory stays bounded", async () => {
  const away: Db = { ...db, transaction: () => Promise.reject(new Error("away")) };
  const clock = movableClock();
  const notes = askingNotes({ db: away, clock, logger: silent });
  notes.heard(asking);
  for (let i = 0; i < 60_000; i++) notes.lookedUp(asking, actionDigest(String(i)), true);

  await notes.stop();

  expect(notes.isCancelled(asking)).toBe(false);
});

test("that an invocation was cancelled is known once it is heard of again", async () => {
  const clock = movableClock();
  const notes = askingNotes({ db, clock, logger: silent });
  notes.heard(asking);
  await notes.flush();
  await markInvocationCancelled(db, asking, "bob", clock.now());

  const before = notes.isCancelled(asking);
  clock.pass(10_000);
  notes.heard(asking);
  await notes.flush();

  expect([before, notes.isCancelled(asking)]).toEqual([false, true]);
  await notes.stop();
});

test("old invocations go with all that was written down for them", async () => {
  const clock = movableClock();
  const notes = askingNotes({ db, clock, logger: silent });
  notes.heard(asking);
  notes.lookedUp(asking, actionDigest("a"), true);
  await notes.flush();
  clock.pass(1_000_000);
  notes.heard({ ...asking, invocation: "j" });
  notes.lookedUp({ ...asking, invocation: "j" }, actionDigest("a"), true);
  await notes.stop();

  while ((await deleteOldInvocations(db, clock.now())) > 0);

  expect(await texts(sql`select id as text from invocation`)).toEqual(["j"]);
  expect(await texts(sql`select invocation as text from cache_lookup`)).toEqual(["j"]);
});

test("a tool has left when its last connection closes, and is back with its next call", async () => {
  const clock = movableClock();
  const notes = askingNotes({ db, clock, logger: silent });
  const stateNow = async () => {
    await notes.flush();
    const row = await invocationRow(db, { project: "p", id: "i" });
    if (row === undefined) throw new Error("the invocation is not stored");
    const counts = { queued: 0, executing: 0 };
    return invocationState({ ...row, counts, exit: undefined }, clock.now());
  };
  notes.heard(asking, "one:1");
  notes.heard(asking, "two:2");
  clock.pass(100);

  notes.closed("one:1");
  expect(await stateNow()).toBe("running");
  notes.closed("two:2");
  expect(await stateNow()).toBe("over");
  clock.pass(100);
  notes.heard(asking, "three:3");
  expect(await stateNow()).toBe("running");
  await notes.stop();
});
