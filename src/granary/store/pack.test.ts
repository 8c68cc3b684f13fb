import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { digestOf } from "#cas/digest-of.ts";
import { chooseForRoom, chooseToCompact } from "./choose-to-compact.ts";
import { freshDirectory } from "./granary-store.fixture.ts";
import { shortKey } from "./key-set.ts";
import { openPack, type PackOptions } from "./pack.ts";

const nobody = new AbortController().signal;

const nameOf = (key: string) => digestOf(Buffer.from(key)).hash;

async function packIn(directory: string, more: Partial<PackOptions> = {}) {
  const pack = await openPack({ directory, limitBytes: 1e9, now: () => new Date(), ...more });
  onTestFinished(() => pack.close());
  return pack;
}

/** Returns the number of bytes in the files, including dead records. */
function bytesIn(directory: string): number {
  const packs = readdirSync(directory).filter((name) => name.endsWith(".pack"));
  return packs.reduce((sum, name) => sum + statSync(join(directory, name)).size, 0);
}

test("behaves like a map, also after compacting and reopening", async () => {
  const step = fc.record({
    what: fc.constantFrom("put", "put", "put", "remove", "usual", "disk-full", "asked", "reopen"),
    key: fc.constantFrom("a", "b", "c", "d", "e"),
    size: fc.integer({ min: 0, max: 120 }),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 60 }),
      fc.constantFrom(1, 300, 1_000),
      async (all, segmentBytes) => {
        const directory = await freshDirectory();
        let pack = await packIn(directory, { segmentBytes });
        const model = new Map<string, string>();
        for (const [i, { what, key, size }] of all.entries()) {
          const name = nameOf(key);
          if (what === "put") {
            const text = `${i}${"x".repeat(size)}`;
            pack.put("result", name, Buffer.from(text));
            model.set(key, text);
          } else if (what === "remove") {
            pack.remove("result", name);
            model.delete(key);
          } else if (what === "reopen") {
            pack.close();
            pack = await packIn(directory, { segmentBytes });
          } else {
            await pack.compact(what, nobody);
          }
        }
        const found = ["a", "b", "c", "d", "e"].flatMap((key) => {
          const bytes = pack.read("result", nameOf(key));
          return bytes === undefined ? [] : [[key, bytes.toString()]];
        });
        expect(new Map(found as [string, string][])).toEqual(model);
        expect(pack.counts().results).toBe(model.size);
        expect(pack.counts().bytes).toBe(
          [...model.values()].reduce((sum, text) => sum + 20 + 64 + text.length, 0),
        );
        pack.close();
      },
    ),
    { numRuns: 60 },
  );
});

test("a truncated segment loses only the truncated part, and nothing is appended after it", async () => {
  const directory = await freshDirectory();
  const pack = await packIn(directory);
  for (const key of ["a", "b", "c"]) pack.put("blob", nameOf(key), Buffer.from(key.repeat(50)));
  pack.close();
  const [first = ""] = readdirSync(directory).filter((name) => name.endsWith(".pack"));
  rmSync(join(directory, `${first}.heads`));
  truncateSync(join(directory, first), statSync(join(directory, first)).size - 7);

  const next = await packIn(directory);
  next.put("blob", nameOf("d"), Buffer.from("d"));
  next.close();

  const last = await packIn(directory);
  expect(["a", "b", "c", "d"].map((key) => last.read("blob", nameOf(key))?.length)).toEqual([
    50,
    50,
    undefined,
    1,
  ]);
});

test.each(["zeros", "other bytes", "half of it"])(
  "a list of heads of %s is not believed",
  async (what) => {
    const directory = await freshDirectory();
    const pack = await packIn(directory);
    for (const key of ["a", "b"]) pack.put("blob", nameOf(key), Buffer.from(key));
    pack.close();
    const [list = ""] = readdirSync(directory).filter((name) => name.endsWith(".heads"));
    const bytes = readFileSync(join(directory, list));
    const wrong = {
      zeros: Buffer.alloc(bytes.length),
      "other bytes": bytes.map((byte, i) => (i === 90 ? byte ^ 1 : byte)),
      "half of it": bytes.subarray(0, bytes.length / 2),
    }[what];
    writeFileSync(join(directory, list), wrong as Uint8Array);

    const next = await packIn(directory);
    expect(["a", "b"].map((key) => next.read("blob", nameOf(key))?.toString())).toEqual(["a", "b"]);
  },
);

test("use is remembered across processes, and dead data are removed from the disk", async () => {
  const directory = await freshDirectory();
  let now = new Date("2026-01-01T00:00:00Z");
  const options = { now: () => now, segmentBytes: 2_000 };
  const pack = await packIn(directory, options);
  for (const key of ["a", "b", "c", "d"]) pack.put("blob", nameOf(key), Buffer.alloc(900));
  now = new Date("2026-01-02T00:00:00Z");
  pack.noteUse("blob", nameOf("a"));
  pack.close();

  const next = await packIn(directory, options);
  const used = [...next.live("blob")].map(({ usedAtMs }) => new Date(usedAtMs).getUTCDate());
  expect(used.toSorted((a, b) => a - b)).toEqual([1, 1, 1, 2]);
  const before = bytesIn(directory);
  for (const key of ["b", "c", "d"]) next.remove("blob", nameOf(key));
  await next.compact("usual", nobody);
  expect(bytesIn(directory)).toBeLessThan(before - 1_800);
  expect(next.read("blob", nameOf("a"))).toHaveLength(900);
});

test("use is also remembered when the segment that recorded it is removed", async () => {
  const directory = await freshDirectory();
  let now = new Date("2026-01-01T00:00:00Z");
  const options = { now: () => now };
  const made = await packIn(directory, options);
  for (const key of ["a", "b"]) made.put("blob", nameOf(key), Buffer.alloc(900));
  made.close();
  now = new Date("2026-01-02T00:00:00Z");
  const using = await packIn(directory, options);
  using.noteUse("blob", nameOf("a"));
  using.close();
  const notes = readdirSync(directory).filter((name) => name.endsWith(".pack"))[1] ?? "";

  const compacting = await packIn(directory, options);
  await compacting.compact("usual", nobody);
  expect(readdirSync(directory)).not.toContain(notes);
  compacting.close();

  const last = await packIn(directory, options);
  const days = ["a", "b"].map((key) =>
    new Date(last.usedAtMs("blob", shortKey(nameOf(key))) ?? 0).getUTCDate(),
  );
  expect(days).toEqual([2, 1]);
});

test("on request, it contains little more than live data, also in the current segment", async () => {
  const directory = await freshDirectory();
  const pack = await packIn(directory, { segmentBytes: 5_000 });
  for (let i = 0; i < 20; i++) pack.put("blob", nameOf(`${i}`), Buffer.alloc(900));
  // A quarter of each segment: not worth copying, except when a person requests it.
  for (let i = 0; i < 20; i += 4) pack.remove("blob", nameOf(`${i}`));
  await pack.compact("usual", nobody);
  expect(pack.diskBytes()).toBeGreaterThan(1.25 * pack.counts().bytes);

  await pack.compact("asked", nobody);

  expect(pack.diskBytes()).toBe(bytesIn(directory));
  expect(pack.diskBytes()).toBeLessThan(1.05 * pack.counts().bytes);
  expect(pack.counts().blobs).toBe(15);
});

test("a record that became corrupt after opening is dropped with its segment, and does not count any more", async () => {
  const directory = await freshDirectory();
  // The state that a killed process leaves, without a list of heads.
  const killed = await packIn(directory);
  for (const key of ["a", "b", "c", "d"]) killed.put("blob", nameOf(key), Buffer.alloc(900));
  const pack = await packIn(directory);
  const [first = ""] = readdirSync(directory);
  for (const key of ["a", "b"]) pack.remove("blob", nameOf(key));
  const ofB = readFileSync(join(directory, first)).indexOf(nameOf("b"));
  const file = openSync(join(directory, first), "r+");
  writeSync(file, "rot", ofB);
  closeSync(file);

  await pack.compact("usual", nobody);

  expect(pack.has("blob", nameOf("d"))).toBe(false);
  expect(pack.counts()).toMatchObject({ blobs: 0, bytes: 0 });
  pack.put("blob", nameOf("d"), Buffer.alloc(900));
  expect(pack.counts()).toMatchObject({ blobs: 1, bytes: 20 + 64 + 900 });
});

test("an unreadable segment does not prevent a granary from starting", async () => {
  const directory = await freshDirectory();
  mkdirSync(join(directory, "000000000001.pack"));
  symlinkSync("nowhere", join(directory, "000000000002.pack"));
  writeFileSync(join(directory, "000000000001.pack.heads.new"), "half of a list");

  const pack = await packIn(directory);
  pack.put("blob", nameOf("a"), Buffer.from("a"));
  pack.close();

  const next = await packIn(directory);
  expect(next.read("blob", nameOf("a"))?.toString()).toBe("a");
  expect(readdirSync(directory).filter((name) => name.endsWith(".new"))).toEqual([]);
});

describe("segments to compact", () => {
  const segment = (n: number, bytes: number, liveBytes: number, isHead = false) => ({
    segment: n,
    bytes,
    liveBytes,
    isHead,
  });

  test("are half dead, the most dead first, and never the current one", () => {
    const all = [
      segment(1, 100, 51),
      segment(2, 100, 40),
      segment(3, 100, 0),
      segment(4, 9, 0, true),
    ];
    expect(chooseToCompact(all, 100)).toEqual([3, 2]);
  });

  test("include many small segments of earlier processes", () => {
    const small = Array.from({ length: 17 }, (_, i) => segment(i, 10, 10));
    expect(chooseToCompact(small.slice(1), 100)).toEqual([]);
    expect(chooseToCompact(small, 100)).toHaveLength(17);
  });

  test("on a full disk are those with half of the dead bytes", () => {
    const all = [segment(1, 100, 99), segment(2, 100, 40), segment(3, 100, 90, true)];
    expect(chooseForRoom(all)).toEqual([2]);
    expect(chooseForRoom([segment(1, 100, 90, true)])).toEqual([1]);
    expect(chooseForRoom([segment(1, 100, 100)])).toEqual([]);
  });
});
