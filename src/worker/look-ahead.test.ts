import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fromBinary } from "@bufbuild/protobuf";
import { pino } from "pino";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { BlobStore } from "#cas/blob-store.ts";
import { fromDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { memoryBlobStore } from "#cas/memory-blob-store.ts";
import type { Digest } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import { ActionSchema } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { readWorkerConfig } from "./config.ts";
import { FakeFarm } from "./fake-farm.fixture.ts";
import { FetchAhead } from "./fetch-ahead.ts";
import { LocalStore } from "./local-store.ts";
import { startWorkerOn } from "./start-worker.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "grange-ahead-"));
});
afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

/** A store that records the fetched blobs and reports each of them. */
function watched(store: BlobStore, tell: () => void) {
  const fetched: string[] = [];
  const get = async (digest: Digest) => {
    fetched.push(digest.hash);
    const bytes = await store.get(digest);
    tell();
    return bytes;
  };
  return { fetched, store: { ...store, get } satisfies BlobStore };
}

const inputs = Array.from({ length: 20 }, (_, i) => ({ path: `in/${i}`, text: `input ${i}` }));
const digests = inputs.map(({ text }) => digestOf(Buffer.from(text)));

function aWorker(farm: FakeFarm) {
  const config = readWorkerConfig({
    server: "http://127.0.0.1:1",
    name: "w1",
    slots: 1,
    dataDir: join(directory, "data"),
    sandbox: "none",
    killGraceMs: 500,
    drainMs: 100,
  });
  return startWorkerOn(farm, config, pino({ level: "silent" }));
}

test("a busy worker prefetches its next executions, and does not fetch them again", async () => {
  const farm = new FakeFarm();
  let heard = () => {};
  const line = watched(farm.store, () => heard());
  farm.blobs = () => line.store;
  const next = await farm.workOf({ script: "cat in/* | wc -l", inputs }, "next");
  const { inputRootDigest } = fromBinary(ActionSchema, next.action);
  farm.upcoming = [fromDigestMessage(inputRootDigest, "the root")];
  const worker = await aWorker(farm);
  try {
    const release = join(directory, "release");
    const busy = await farm.submit({ script: `until [ -e ${release} ]; do sleep 0.05; done` });
    const isThere = () => digests.every(({ hash }) => line.fetched.includes(hash));
    await new Promise<void>((resolve) => {
      heard = () => isThere() && resolve();
    });

    writeFileSync(release, "");
    await farm.end(busy);
    farm.enqueue(next);
    const { result } = await farm.end("next");

    expect(result?.exitCode).toBe(0);
    const hashes = new Set(digests.map(({ hash }) => hash));
    expect(line.fetched.filter((hash) => hashes.has(hash))).toHaveLength(20);
  } finally {
    await worker.stop();
  }
});

test("a farm without this call is queried once", async () => {
  const farm = new FakeFarm();
  let asked = 0;
  Object.assign(farm, {
    lookAhead: async () => {
      asked++;
      throw new Fault("unimplemented", "no such method");
    },
  });
  const worker = await aWorker(farm);
  try {
    await farm.run({ script: "sleep 3" });
    expect(asked).toBe(1);
  } finally {
    await worker.stop();
  }
});

test("prefetching pauses while inputs of a claimed action are fetched", async () => {
  const store = memoryBlobStore();
  const files = await Promise.all(
    Array.from({ length: 1_000 }, async (_, i) => {
      const bytes = Buffer.from(`file ${i}`);
      const digest = digestOf(bytes);
      await store.put(digest, bytes);
      return { digest, executable: false };
    }),
  );
  const claimed = aGate();
  const begun = aGate();
  let gets = 0;
  const slow: BlobStore = {
    ...store,
    async get(digest) {
      // Four calls of a hundred small files each.
      if (++gets === 400) begun.open();
      await claimed.opened;
      return store.get(digest);
    },
  };
  const local = await LocalStore.open(directory);
  const roots = { kind: "copies" as const, make: never, filesOf: async () => files };
  const ahead = new FetchAhead(roots, local);
  const fetching = ahead.fetch(digestOf(Buffer.from("root")), slow, new AbortController().signal);
  await begun.opened;

  const whileClaimed = await ahead.during(async () => {
    const refused = await ahead.fetch(
      digestOf(Buffer.from("other")),
      slow,
      new AbortController().signal,
    );
    claimed.open();
    await fetching;
    return { gets, refused };
  });

  expect(whileClaimed).toEqual({ gets: 400, refused: 0 });
  expect(ahead.isFree).toBe(true);
});

function aGate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

function never(): never {
  throw new Error("nobody asked for that");
}
