import { basename } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { freshDirectory } from "../store/granary-store.fixture.ts";
import { openSpool } from "./spool.ts";

/** A spool, and which files it had synced when. */
async function scene() {
  const synced: string[] = [];
  const spool = await openSpool(await freshDirectory(), 2, async (path) => {
    synced.push(basename(path));
  });
  onTestFinished(() => spool.close());
  return { spool, synced };
}

test("what is durable is so with all results before it, also with those that were taken to be sent and came back", async () => {
  const { spool, synced } = await scene();
  spool.addResult("sent, and the farm is away");
  const [taken] = spool.files();
  await spool.lines(taken as NonNullable<typeof taken>);
  spool.addResult("a second file");
  spool.addResult("its last line");
  spool.addResult("a third file");

  await spool.add("index", "what names them");

  expect(synced.toSorted()).toEqual([1, 2, 3].map((n) => `00000000000${n}-results.jsonl`));
});

test("what has reached the farm is not synced any more", async () => {
  const { spool, synced } = await scene();
  spool.addResult("sent at once");
  const [taken] = spool.files();
  await spool.lines(taken as NonNullable<typeof taken>);
  await spool.remove(taken as NonNullable<typeof taken>);

  await spool.add("report", "of the build");

  expect(synced).toEqual([]);
});
