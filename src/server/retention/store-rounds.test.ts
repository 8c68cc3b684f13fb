import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterAll, expect, test } from "vitest";
import { z } from "zod";
import { startStoreRounds, storeNotes } from "./store-rounds.ts";

const directory = await mkdtemp(join(tmpdir(), "grange-rounds-"));
afterAll(() => rm(directory, { recursive: true }));

const Noted = z.object({ count: z.number() });

test("notes are read as they were written, and no other file is left", async () => {
  const notes = storeNotes(join(directory, "notes.json"), Noted, { count: 0 });

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
    const path = join(directory, "damaged.json");
    await writeFile(path, text);

    expect(await storeNotes(path, Noted, { count: 7 }).read()).toEqual({ count: 7 });
  },
);

function rounds(round: (signal: AbortSignal) => Promise<void>) {
  return startStoreRounds({
    directory,
    name: "rounds",
    everyMs: 5,
    round,
    failure: "it failed",
    logger: pino({ level: "silent" }),
  });
}

test("servers that share a directory run one round at a time, also after one failed", async () => {
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

  const servers = [rounds(round), rounds(round)];
  await expect.poll(() => calls).toBeGreaterThan(4);
  await Promise.all(servers.map((each) => each.stop()));

  expect(most).toBe(1);
});

test("a stop aborts the round and waits for its end", async () => {
  let isOver = false;
  let begin = () => {};
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const service = rounds(async (signal) => {
    begin();
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    isOver = true;
  });
  await begun;

  await service.stop();

  expect(isOver).toBe(true);
});
