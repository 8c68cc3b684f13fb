import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chmod, readdir, writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { fromBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { anyone, everybody, type Principal } from "#access/principal.ts";
import { grpcCallers } from "#caches/rev2/caller.ts";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { unzstdWhole } from "#cas/zstd/zstd-streams.ts";
import { encodeIndex } from "#commit-index/encode-index.ts";
import { type Digest, digestKey, emptyDigest } from "#core/digest.ts";
import {
  aReport,
  entryOf,
  type FarmOfGranaries,
  farmOfGranaries,
  sha,
} from "#granaries/farm-of-granaries.fixture.ts";
import type { PackedThings } from "#granaries/fetched-message.ts";
import { toStoredResult } from "#granaries/stored-result-message.ts";
import { GrpcChannel } from "#grpc/channel.ts";
import { grpcServer } from "#grpc/server.ts";
import {
  type FetchedItem,
  FetchedSchema,
  type FetchItemSchema,
  FoundIndex_Source,
  Granaries,
  PublishResultsResponse_End_Kind,
} from "#proto/grange/granary/v1/granary_pb.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { granariesService } from "./granaries-service.ts";
import { methodRights } from "./method-rights.ts";

const db = await freshDb();
let farm: FarmOfGranaries;
let server: ReturnType<typeof grpcServer>;
let channel: GrpcChannel;
let caller: Principal = everybody;
let bytesRead = 0;
let readingIsOver = () => {};

beforeAll(async () => {
  farm = await farmOfGranaries(db);
  const callers = grpcCallers({ identify: async () => caller });
  const { granaries, clock } = farm;
  const counting: typeof granaries = {
    ...granaries,
    async *fetch(project, items) {
      try {
        for await (const thing of granaries.fetch(project, items)) {
          if (thing.kind === "part") bytesRead += thing.data.byteLength;
          yield thing;
        }
      } finally {
        readingIsOver();
      }
    },
  };
  server = grpcServer({
    methods: callers.guard(
      granariesService({ granariesOf: () => counting, callers, clock }),
      methodRights,
    ),
    graceMs: 200,
  });
  server.http2.listen(0, "127.0.0.1");
  await once(server.http2, "listening");
  const { port } = server.http2.address() as AddressInfo;
  channel = new GrpcChannel({ url: `http://127.0.0.1:${port}` });
});
afterAll(async () => {
  await channel.stop();
  await server.stop();
  await farm.stop();
  await db.close();
});

const rpc = Granaries.method;
type Item = MessageInitShape<typeof FetchItemSchema>;
const blobItem = (digest: Digest): Item => ({
  item: { case: "blob", value: toDigestMessage(digest) },
});
const resultItem = ({ namespace, key }: { namespace: string; key: string }): Item => ({
  item: { case: "result", value: { namespace, key } },
});

async function* fetched(items: readonly Item[], signal?: AbortSignal) {
  const request = { instanceName: "p", items: [...items] };
  for await (const { packed, unpackedBytes } of channel.serverStream(
    rpc.fetch,
    request,
    signal === undefined ? {} : { signal },
  )) {
    yield await unpacked({ packed, unpackedBytes });
  }
}

async function unpacked({ packed, unpackedBytes }: PackedThings): Promise<FetchedItem[]> {
  const bytes = await unzstdWhole(packed, unpackedBytes);
  expect(bytes.byteLength).toBe(unpackedBytes);
  expect(unpackedBytes).toBeLessThan(1_048_576);
  return fromBinary(FetchedSchema, bytes).items;
}

/**
 * Lists the items in their order of arrival: results by key, blobs by digest and whether their bytes are correct, and
 * absences.
 */
async function order(items: readonly Item[]): Promise<{ lines: string[]; messages: number }> {
  const lines: string[] = [];
  let messages = 0;
  let parts: Buffer[] = [];
  for await (const some of fetched(items)) {
    messages++;
    for (const item of some) {
      if (item.item.case !== "blob") {
        lines.push(lineOf(item));
        continue;
      }
      const { digest, data, offset } = item.item.value;
      expect(Number(offset)).toBe(parts.reduce((sum, part) => sum + part.byteLength, 0));
      parts.push(Buffer.from(data));
      const bytes = Buffer.concat(parts);
      if (BigInt(bytes.byteLength) < (digest?.sizeBytes ?? 0n)) continue;
      lines.push(digestOf(bytes).hash === digest?.hash ? `blob ${digest.hash}` : "wrong bytes");
      parts = [];
    }
  }
  return { lines, messages };
}

function lineOf({ item }: FetchedItem): string {
  if (item.case === "result") return `result ${item.value.result?.key ?? ""}`;
  const absent = item.case === "absent" ? item.value.item : undefined;
  if (absent?.case === "blob") return `absent blob ${absent.value.hash}`;
  return absent?.case === "result" ? `absent ${absent.value.key}` : "nothing";
}

describe("Fetch", () => {
  test("gives what was asked for in that order: results, blobs of all sizes, and what is not here", async () => {
    const small = await farm.put("small");
    const large = await farm.put(randomBytes(3_000_000));
    const middling = await farm.put(randomBytes(200_000));
    const gone = digestOf(Buffer.from("never sent"));
    const { told, output } = await farm.anAction("p", "an action");

    const { lines } = await order([
      blobItem(small),
      resultItem({ namespace: "ccache", key: "absent" }),
      blobItem(large),
      blobItem(gone),
      resultItem(told),
      // The value of a result is a blob right after it.
      blobItem(told.value),
      blobItem(emptyDigest),
      blobItem(middling),
      blobItem(output),
      blobItem(small),
    ]);

    expect(lines).toEqual([
      `blob ${small.hash}`,
      "absent absent",
      `blob ${large.hash}`,
      `absent blob ${gone.hash}`,
      `result ${told.key}`,
      `blob ${told.value.hash}`,
      `blob ${emptyDigest.hash}`,
      `blob ${middling.hash}`,
      `blob ${output.hash}`,
    ]);
  });

  test("packs many small ones together, also over the pages of a long order", async () => {
    const digests = await Promise.all(
      Array.from({ length: 1_200 }, (_, n) => farm.put(`number ${n}`.repeat(10))),
    );

    const { lines, messages } = await order(digests.map(blobItem));

    expect(lines).toEqual(digests.map(({ hash }) => `blob ${hash}`));
    expect(messages).toBeLessThan(10);
  });

  test("gives a rotten blob as absent", async () => {
    const rotten = digestOf(Buffer.from("sound"));
    await farm.disk.put(rotten, Buffer.from("sound"));
    const files = await readdir(farm.directory, { recursive: true });
    const file = files.find((name) => name.includes(rotten.hash.slice(4)));
    const path = `${farm.directory}/${file ?? ""}`;
    // Stored files are read-only, except for root.
    await chmod(path, 0o644);
    await writeFile(path, "wrong");

    expect((await order([blobItem(rotten)])).lines).toEqual([`absent blob ${rotten.hash}`]);
  });

  test("reads no further than its client takes, and stops when that leaves", async () => {
    const digests = await Promise.all(
      Array.from({ length: 40 }, () => farm.put(randomBytes(1_000_000))),
    );
    const leaving = new AbortController();
    const over = new Promise<void>((resolve) => {
      readingIsOver = resolve;
    });
    bytesRead = 0;

    const stream = fetched(digests.map(blobItem), leaving.signal);
    await stream.next();
    // Waits until no more blobs are read: by then the connection's windows are full.
    let before = -1;
    while (before !== bytesRead) {
      before = bytesRead;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(bytesRead).toBeLessThan(20_000_000);
    leaving.abort();
    await expect(stream.next().then(() => stream.next())).rejects.toMatchObject({
      code: "cancelled",
    });
    await over;
    expect(bytesRead).toBeLessThan(20_000_000);
  });

  test("refuses an order that is too long, and one that names nothing", async () => {
    const many = Array.from({ length: 10_001 }, () => blobItem(emptyDigest));

    await expect(order(many)).rejects.toMatchObject({ code: "invalid_argument" });
    await expect(order([{}])).rejects.toMatchObject({ code: "invalid_argument" });
  });
});

describe("an index", () => {
  test("is published, found by commit, tree, ancestor and branch, and read as a blob", async () => {
    const told = await farm.aResult("p", "indexed");
    const entries = await farm.put(
      encodeIndex({ base: undefined, entries: [entryOf(told, 5)], removed: [] }),
    );
    const build = { instanceName: "p", repository: "r", environment: "linux" };

    const published = await channel.unary(rpc.publishIndex, {
      ...build,
      commits: [sha(7), sha(6)],
      tree: sha(70),
      branch: "main",
      entries: toDigestMessage(entries),
      complete: true,
      targets: ["//..."],
    });

    expect(published).toMatchObject({ taken: 1, refused: 0 });
    const found = async (more: { commits: string[]; tree?: string; branch?: string }) =>
      (await channel.unary(rpc.resolve, { ...build, ...more })).indexes;
    const { COMMIT, TREE, ANCESTOR, BRANCH, REPOSITORY } = FoundIndex_Source;
    expect(await found({ commits: [sha(7)] })).toMatchObject([
      {
        source: COMMIT,
        commit: sha(7),
        index: published.index,
        complete: true,
        entries: 1,
        bytes: BigInt(told.value.sizeBytes),
        targets: ["//..."],
      },
    ]);
    const { blobs } = await channel.unary(rpc.resolve, { ...build, commits: [sha(7)] });
    expect(blobs.map(({ digest }) => digest)).toEqual([published.index]);
    expect(digestOf(blobs[0]?.data ?? Buffer.of()).hash).toBe(published.index?.hash);
    const along = await channel.unary(rpc.resolve, {
      ...build,
      commits: [sha(7)],
      headBytes: 100_000,
    });
    expect((await Promise.all(along.head.map(unpacked))).flat()).toMatchObject([
      { item: { case: "result", value: { result: { key: told.key } } } },
      { item: { case: "blob", value: { offset: 0n } } },
    ]);
    expect(along.blobs).toHaveLength(1);
    expect(await found({ commits: [sha(99)], tree: sha(70) })).toMatchObject([{ source: TREE }]);
    expect(await found({ commits: [sha(9), sha(8), sha(7)] })).toMatchObject([
      { source: ANCESTOR, distance: 2 },
    ]);
    expect(await found({ commits: [sha(99)], branch: "main" })).toMatchObject([{ source: BRANCH }]);
    expect(await found({ commits: [sha(99)], branch: "other" })).toMatchObject([
      { source: REPOSITORY, commit: sha(7), distance: 0 },
    ]);
    expect(await found({ commits: [] })).toEqual([]);
  });

  test("is not asked for with nonsense", async () => {
    const ask = (more: object) =>
      channel.unary(rpc.resolve, { environment: "e", commits: [sha(1)], ...more });

    for (const wrong of [
      { commits: ["HEAD"] },
      { commits: Array.from({ length: 65 }, () => sha(1)) },
      { environment: "no word" },
      { tree: "x" },
      { branch: "a\0b" },
    ]) {
      await expect(ask(wrong)).rejects.toMatchObject({ code: "invalid_argument" });
    }
    expect(await ask({ wantFilter: true })).toMatchObject({ filter: expect.anything() as unknown });
  });
});

test("results are published and looked up", async () => {
  const value = await farm.put("a value");
  const result = {
    namespace: "ccache" as const,
    key: "published",
    value,
    attributes: {},
    blobs: [],
    costMs: 3,
    bytes: undefined,
  };

  const { ends } = await channel.unary(rpc.publishResults, {
    instanceName: "p",
    results: [toStoredResult(result), { result: { namespace: "", key: "" } }],
  });
  const { results } = await channel.unary(rpc.lookUp, {
    instanceName: "p",
    results: [{ namespace: "ccache", key: "published" }],
  });

  const { KEPT, REFUSED } = PublishResultsResponse_End_Kind;
  expect(ends.map(({ kind }) => kind)).toEqual([KEPT, REFUSED]);
  expect(results).toMatchObject([{ value: { hash: value.hash }, costMs: 3 }]);

  const ask = (blobBytes: number) =>
    channel.unary(rpc.lookUp, {
      instanceName: "p",
      results: [{ namespace: "ccache", key: "published" }],
      blobBytes,
    });
  const [along] = (await ask(10_000)).blobs;
  expect(along?.digest).toMatchObject({ hash: value.hash });
  expect(digestOf(along?.data ?? new Uint8Array())).toEqual(value);
  expect((await ask(0)).blobs).toEqual([]);
});

const aDivergence = (kept: Digest) => ({
  namespace: "ccache" as const,
  key: "doubted",
  kept: digestKey(kept),
  madeNow: `${"0".repeat(64)}/1`,
  differs: [],
  machine: "m",
  build: null,
  at: "2026-11-22T10:00:00.000Z",
});

test("whoever keeps results hears what is in quarantine since it asked last", async () => {
  const ask = (quarantineSince?: bigint) =>
    channel.unary(rpc.resolve, {
      instanceName: "heard",
      environment: "e",
      ...(quarantineSince === undefined ? {} : { quarantineSince }),
    });
  const told = await farm.aResult("heard", "doubted");
  expect((await ask(0n)).quarantined).toMatchObject({ results: [], version: 0n });
  await farm.granaries.reportDivergence("heard", aDivergence(told.value), "checker");

  const { quarantined } = await ask(0n);

  expect(quarantined?.results).toMatchObject([{ namespace: "ccache", key: "doubted" }]);
  for (const since of [quarantined?.version ?? 0n, 2n ** 62n]) {
    expect((await ask(since)).quarantined).toMatchObject({
      results: [],
      version: quarantined?.version,
    });
  }
  expect((await ask(-1n)).quarantined?.results).toHaveLength(1);
  expect((await ask()).quarantined).toBeUndefined();
});

test("a build and a divergence are told in the words of the HTTP API, and nothing else is taken", async () => {
  const told = await farm.aResult("p", "doubted");
  const divergence = aDivergence(told.value);
  const tell = (json: string) => channel.unary(rpc.reportBuild, { instanceName: "p", json });

  await tell(JSON.stringify(aReport("p")));
  const answer = await channel.unary(rpc.reportDivergence, {
    instanceName: "p",
    json: JSON.stringify(divergence),
  });

  expect(answer.quarantined).toBe(true);
  for (const wrong of ["{", "{}", JSON.stringify(aReport("another"))]) {
    await expect(tell(wrong)).rejects.toMatchObject({ code: "invalid_argument" });
  }
  // Builds of a machine with a wrong clock are reported, too.
  const future = { startedAt: "2999-01-01T00:00:00.000Z", endedAt: "2999-01-01T00:00:01.000Z" };
  const odd = aReport("p", { ...future, machine: "nul \0 and \ud800" });
  await tell(JSON.stringify(odd));
});

test("who may not cache may read, and writes nothing", async () => {
  caller = {
    name: anyone,
    grants: [{ verb: "read", repository: "*", branch: "*", priorityCap: null, top: false }],
  };
  try {
    const told = { instanceName: "p", json: JSON.stringify(aReport("p")) };
    const index = { instanceName: "p", commits: [sha(1)], environment: "e" };
    for (const refused of [
      channel.unary(rpc.publishResults, { instanceName: "p" }),
      channel.unary(rpc.publishIndex, { ...index, entries: toDigestMessage(emptyDigest) }),
      channel.unary(rpc.reportBuild, told),
      channel.unary(rpc.reportDivergence, told),
    ]) {
      await expect(refused).rejects.toMatchObject({ code: "permission_denied" });
    }
    expect(await channel.unary(rpc.resolve, index)).toBeDefined();
    expect(await channel.unary(rpc.lookUp, { instanceName: "p" })).toBeDefined();
    expect((await order([blobItem(emptyDigest)])).lines).toHaveLength(1);
  } finally {
    caller = everybody;
  }
});
