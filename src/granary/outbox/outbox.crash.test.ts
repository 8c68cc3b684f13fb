import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { bundleScript, runAndKill } from "../store/bundled-script.fixture.ts";
import { freshDirectory, openStore, silentLogger } from "../store/granary-store.fixture.ts";
import { fakeFarm } from "./fake-farm.fixture.ts";
import { openOutbox } from "./open-outbox.ts";

/** Stores and adds results, four at a time, while the outbox sends them to a farm that records what it has. */
const script = `
  import { setTimeout } from "node:timers/promises";
  import { appendFileSync } from "node:fs";
  import { pino } from "pino";
  import { digestOf } from "#cas/digest-of.ts";
  import { fakeFarm } from "../outbox/fake-farm.fixture.ts";
  import { openOutbox } from "../outbox/open-outbox.ts";
  import { openGranaryStore } from "./open-granary-store.ts";

  const [directory = "", farmsLog = "", round = ""] = process.argv.slice(2);
  const logger = pino({ level: "silent" });
  const store = await openGranaryStore({ directory, limitBytes: 1e9, logger });
  const farm = fakeFarm();
  const outbox = await openOutbox({ directory, farm, blobs: store.blobs, logger });
  const { publishResults } = farm;
  Object.assign(farm, {
    async publishResults(project: string, results: never[]) {
      const ends = await publishResults(project, results);
      for (const [i, end] of ends.entries()) {
        if (end.kind === 1) appendFileSync(farmsLog, (results[i] as { key: string }).key + "\\n");
      }
      return ends;
    },
  });
  async function lane(name: string) {
    for (let i = 0; ; i++) {
      const key = round + name + i;
      const bytes = Buffer.from("value of " + key);
      const value = digestOf(bytes);
      await store.blobs.put(value, bytes);
      const result = { project: "p", namespace: "ccache", key, value, blobs: [], attributes: {}, costMs: 1 } as const;
      await store.keep(result);
      await outbox.addResult(result);
      process.stdout.write(key + "\\n");
      // In reality, requests of tools arrive from outside, so other work can run between two of
      // them.
      await setTimeout(1);
    }
  }
  for (const name of ["a", "b", "c", "d"]) void lane(name);
`;

test("a process that is killed 8 times while it adds and sends loses nothing that was added", async () => {
  const directory = await freshDirectory();
  const work = await freshDirectory();
  const file = await bundleScript(script, work);
  const farmsLog = join(work, "farm.log");
  writeFileSync(farmsLog, "");
  const added: string[] = [];
  for (let round = 0; round < 8; round++) {
    const { lines } = await runAndKill(file, [directory, farmsLog, `${round}`], 10, round * 8);
    added.push(...lines);
  }

  const store = await openStore({ directory });
  const farm = fakeFarm();
  const outbox = await openOutbox({ directory, farm, blobs: store.blobs, logger: silentLogger });
  const state = await outbox.drained();
  await outbox.stop();

  expect(state).toEqual({ results: 0, indexes: 0, reports: 0, bytes: 0, trouble: undefined });
  const arrived = new Set(readFileSync(farmsLog, "utf8").split("\n"));
  for (const { key } of farm.kept.values()) arrived.add(key);
  expect(added.length).toBeGreaterThan(100);
  expect(added.filter((key) => !arrived.has(key))).toEqual([]);
  expect(outbox.droppedResults).toBe(0);
});
