import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { digestOf } from "#cas/digest-of.ts";
import { bundleScript, runAndKill } from "./bundled-script.fixture.ts";
import { freshDirectory, openStore } from "./granary-store.fixture.ts";

/**
 * Stores results as fast as possible, four at a time, and trims during that; prints which are stored, and for which it
 * trims.
 */
const script = `
  import { setTimeout } from "node:timers/promises";
  import { pino } from "pino";
  import { digestOf } from "#cas/digest-of.ts";
  import { openGranaryStore } from "./open-granary-store.ts";

  const [directory = "", round, limit] = process.argv.slice(2);
  const store = await openGranaryStore({ directory, limitBytes: Number(limit), logger: pino({ level: "silent" }) });
  async function lane(name: string) {
    for (let i = 0; ; i++) {
      const key = round + name + i;
      const texts = ["value of " + key, "blob of " + key.repeat(300)];
      const digests = texts.map((text) => digestOf(Buffer.from(text)));
      for (const [j, text] of texts.entries()) await store.blobs.put(digests[j]!, Buffer.from(text));
      await store.keep({ project: "p", namespace: "ccache", key, value: digests[0]!, blobs: [digests[1]!], attributes: {}, costMs: 1 });
      process.stdout.write(key + "\\n");
      // In reality, requests of tools arrive from outside, so other work can run between two of
      // them.
      await setTimeout(1);
    }
  }
  for (const name of ["a", "b", "c", "d"]) void lane(name);
  if (Number(limit) < 1e9) for (;;) await store.trim();
`;

test.each([
  { what: "while it keeps", limit: 1e9, isTrimmed: false, kills: 6 },
  { what: "while it keeps and trims", limit: 400_000, isTrimmed: true, kills: 6 },
])(
  "a process killed $kills times $what leaves a whole store",
  async ({ limit, isTrimmed, kills }) => {
    const directory = await freshDirectory();
    const file = await bundleScript(script, await freshDirectory());
    const kept: string[] = [];
    for (let round = 0; round < kills; round++) {
      const { lines } = await runAndKill(file, [directory, `${round}`, `${limit}`], 20, round * 10);
      kept.push(...lines);
    }

    const store = await openStore({ directory });
    let found = 0;
    for (const key of kept) {
      const result = await store.find("p", { namespace: "ccache", key });
      if (result === undefined) continue;
      found++;
      const texts = [`value of ${key}`, `blob of ${key.repeat(300)}`];
      expect([result.value, ...result.blobs]).toEqual(texts.map((t) => digestOf(Buffer.from(t))));
      for (const digest of [result.value, ...result.blobs]) {
        expect(await store.blobs.get(digest)).toHaveLength(digest.sizeBytes);
      }
    }
    expect(found).toBeGreaterThanOrEqual(isTrimmed ? 1 : kept.length);
    // Incomplete files are gone.
    expect(readdirSync(join(directory, "temp"))).toEqual([]);
  },
);
