import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { digestOf } from "#cas/digest-of.ts";
import { namespaceOf } from "#cas/namespaces/namespace.ts";
import { openBlobStorage } from "#cas/open-blob-storage.ts";
import { defaultProject } from "#core/default-project.ts";
import { quantile } from "../quantile.ts";
import { forInformation, type Measurement } from "../row.ts";

const rounds = 5;
const blobs = 2_000;
const alone = 60;
const bytesEach = 1_000;

/** The cost of acknowledging a blob only when it is on the disk. The decision about it is based on these figures. */
export const durableBlobs: Measurement = {
  title: "durable blobs",
  long: false,
  async measure() {
    const many: number[] = [];
    const one: { readonly durable: number[]; readonly usual: number[] } = {
      durable: [],
      usual: [],
    };
    for (let round = 0; round < rounds; round++) {
      const usual = await writeBlobs(false);
      const durable = await writeBlobs(true);
      many.push(durable.manyMs / usual.manyMs);
      one.durable.push(durable.oneMs);
      one.usual.push(usual.oneMs);
    }
    const how = `${rounds} rounds by turns on the disk of ${tmpdir()}, ${blobs} blobs of ${bytesEach} bytes`;
    return [
      forInformation(
        "64 writers at once: durable / usual",
        quantile(many, 0.5),
        "×",
        `${how}; range ${Math.min(...many).toFixed(2)} to ${Math.max(...many).toFixed(2)}`,
      ),
      forInformation(
        "one writer: what durable adds to a blob",
        quantile(one.durable, 0.5) - quantile(one.usual, 0.5),
        "ms",
        `${alone} blobs one after the other; usual ${quantile(one.usual, 0.5).toFixed(2)} ms`,
      ),
    ];
  },
};

/** Measures the total time of many writers, and the time of a single blob, in milliseconds. */
async function writeBlobs(isDurable: boolean): Promise<{ manyMs: number; oneMs: number }> {
  const directory = await mkdtemp(join(tmpdir(), "grange-durable-"));
  try {
    const storage = await openBlobStorage({ kind: "disk", directory, isDurable });
    const store = (await storage.create(namespaceOf(defaultProject))).blobs;
    let made = 0;
    const writeOne = async () => {
      const bytes = Buffer.from(`${isDurable} ${made++}`.padEnd(bytesEach, "."));
      await store.put(digestOf(bytes), bytes);
    };
    const begun = performance.now();
    await Promise.all(
      Array.from({ length: 64 }, async () => {
        while (made < blobs) await writeOne();
      }),
    );
    const manyMs = performance.now() - begun;
    const aloneBegun = performance.now();
    for (let i = 0; i < alone; i++) await writeOne();
    return { manyMs, oneMs: (performance.now() - aloneBegun) / alone };
  } finally {
    await rm(directory, { recursive: true });
  }
}
