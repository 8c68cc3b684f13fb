import { expect, test } from "vitest";
import { migrate, newestKnownMigration, readMigrations } from "#db/migrate.ts";
import { freshDb } from "../../test/support/fresh-db.ts";
import { watchSchema } from "./watch-schema.ts";

const db = await freshDb();
const knows = await newestKnownMigration();

test("a server goes on after a migration that works with it, and stops after one that does not", async () => {
  const watching = await watchSchema(db, knows);
  const known = await readMigrations();
  const more = {
    number: 9_001,
    name: "9001_more.sql",
    text: "create table more ()",
    worksWith: knows,
  };
  const last = { number: 9_002, name: "9002_last.sql", text: "drop table more", worksWith: null };

  await migrate(db, { migrations: [...known, more] });
  await migrate(db, { migrations: [...known, more, last] });

  // A reason for 9001 would have come first.
  expect(await watching.outgrown).toContain(
    `needs servers that know migration 9002, this one knows ${knows}`,
  );
  await watching.stop();
  await db.close();
});
