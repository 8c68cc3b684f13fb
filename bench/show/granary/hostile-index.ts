import { createHash, randomUUID } from "node:crypto";
import type { GranaryBuildReport } from "#api/granary.ts";
import type { BlobStore } from "#cas/blob-store.ts";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { encodeIndex } from "#commit-index/encode-index.ts";
import type { IndexDelta, IndexEntry } from "#commit-index/index-entry.ts";
import { type Digest, digestFrom, digestKey } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import { GrpcChannel } from "#grpc/channel.ts";
import { remoteBlobStore } from "#grpc/remote-blob-store.ts";
import { Granaries, PublishResultsResponse_End_Kind } from "#proto/grange/granary/v1/granary_pb.ts";
import { type Farm, startFarm } from "../../../test/support/farm.ts";
import { runGrange } from "../../../test/support/run-grange.ts";
import { sampleRepository } from "../../../test/support/sample-repository.ts";
import { atMost, exactly, forInformation, type Measurement, type Row } from "../row.ts";
import { watchMemory } from "./watch-memory.ts";

const rpc = Granaries.method;
const sha = (text: string) => createHash("sha1").update(text).digest("hex");
const made = (text: string, sizeBytes: number) =>
  digestFrom("sha256", createHash("sha256").update(text).digest("hex"), sizeBytes);

/** Two large indexes at a time, some 200 MiB each once they are decoded, and as much garbage. */
const mostGrowthMiB = 1_024;
const mebibyte = 1_048_576;
const terabyte = 2 ** 40;

/** Who holds the right `cache`, and wishes the farm no good. */
interface Hostile {
  readonly channel: GrpcChannel;
  readonly blobs: BlobStore;
  /** A repository that the farm can fetch from. */
  readonly repository: string;
  /** Puts an index there and publishes it; `commit` is a word. */
  readonly publish: (
    bytes: Uint8Array,
    more?: { readonly commit?: string; readonly repository?: string },
  ) => Promise<{ readonly taken: number; readonly refused: number }>;
  /** A result of ccache's of this project. */
  readonly keep: (key: string, project?: string) => Promise<Digest>;
}

interface Case {
  readonly name: string;
  /** How many do it at once. */
  readonly times: number;
  /** What is to become of it: a code, or what the act answers. */
  readonly wanted: string;
  readonly act: (hostile: Hostile, n: number) => Promise<string>;
}

const entry = (key: string, blobs: readonly Digest[], more: Partial<IndexEntry> = {}) => ({
  namespace: "ccache" as const,
  key,
  blobs,
  firstMs: 0,
  savedMs: undefined,
  inputs: undefined,
  ...more,
});

const alone = (entries: readonly IndexEntry[], more: Partial<IndexDelta> = {}) =>
  encodeIndex({ base: undefined, entries, removed: [], ...more });

/** Messages after one another are one message with all of their fields. */
const repeated = (piece: Uint8Array, times: number) =>
  Buffer.concat(Array.from({ length: times }, () => piece));

const endOf = ({ taken, refused }: { taken: number; refused: number }) =>
  `${taken} taken, ${refused} refused`;

const cases: readonly Case[] = [
  {
    name: "an index of a million entries",
    times: 3,
    wanted: "invalid_argument",
    act: async ({ publish }) => endOf(await publish(repeated(alone([entry("k", [])]), 1_000_000))),
  },
  {
    name: "5,000 entries of 256 paths each",
    times: 4,
    wanted: "invalid_argument",
    async act({ publish }) {
      const inputs = Array.from({ length: 256 }, (_, n) => `${n}`);
      return endOf(await publish(repeated(alone([entry("k", [], { inputs })]), 5_000)));
    },
  },
  {
    name: "an index of a terabyte",
    times: 4,
    wanted: "invalid_argument",
    async act({ channel }) {
      const entries = toDigestMessage(made("index", terabyte));
      return endOf(
        await channel.unary(rpc.publishIndex, { commits: [sha("c")], environment: "e", entries }),
      );
    },
  },
  {
    name: "indexes that name 100,000 results which are not there",
    times: 2,
    wanted: "0 taken, 100000 refused",
    async act({ publish }) {
      const value = made("v", 1);
      const entries = Array.from({ length: 100_000 }, (_, n) => entry(`${n}`, [value]));
      return endOf(await publish(alone(entries)));
    },
  },
  {
    name: "terabytes behind a small result",
    times: 10,
    wanted: "one entry, bytes of its value alone",
    async act({ publish, keep, channel }, n) {
      const value = await keep(`tera ${n}`);
      const huge = Array.from({ length: 60 }, (_, i) => made(`huge ${i}`, terabyte));
      const commit = `tera ${n}`;
      await publish(alone([entry(`tera ${n}`, [...huge, value])]), { commit });
      const { indexes } = await channel.unary(rpc.resolve, {
        commits: [sha(commit)],
        environment: "e",
      });
      const [found] = indexes;
      return found?.entries === 1 && found.bytes === BigInt(value.sizeBytes)
        ? "one entry, bytes of its value alone"
        : `${found?.entries} entries, ${found?.bytes} bytes`;
    },
  },
  {
    name: "a result of another project",
    times: 1,
    wanted: "0 taken, 1 refused",
    async act({ publish, keep }) {
      const value = await keep("theirs", "another");
      return endOf(await publish(alone([entry("theirs", [value])]), { commit: "theirs" }));
    },
  },
  {
    name: "a commit that its repository does not have",
    times: 3,
    wanted: "failed_precondition",
    act: async ({ publish, repository }, n) =>
      endOf(await publish(alone([]), { repository, commit: `foreign ${n}` })),
  },
  {
    name: "an index that is its own chain's base",
    times: 3,
    wanted: "invalid_argument",
    async act({ publish }) {
      const first = alone([]);
      const second = alone([], { base: digestOf(first) });
      return endOf(await publish(alone([], { base: digestOf(second) })));
    },
  },
  {
    name: "noise in the place of an index",
    times: 20,
    wanted: "invalid_argument",
    act: async ({ publish }, n) => endOf(await publish(Buffer.alloc(mebibyte, n + 1))),
  },
  {
    name: "an order of 10,001 items",
    times: 5,
    wanted: "invalid_argument",
    async act({ channel }) {
      const items = Array.from({ length: 10_001 }, () => blobItem(made("x", 1)));
      for await (const _ of channel.serverStream(rpc.fetch, { items }));
      return "served";
    },
  },
  {
    name: "an order of 10,000 blobs of a petabyte",
    times: 5,
    wanted: "absent",
    async act({ channel }) {
      const items = Array.from({ length: 10_000 }, (_, n) => blobItem(made(`${n}`, 2 ** 50)));
      let bytes = 0;
      for await (const { unpackedBytes } of channel.serverStream(rpc.fetch, { items })) {
        bytes += unpackedBytes;
      }
      return bytes < 2 * mebibyte ? "absent" : `${bytes} bytes`;
    },
  },
  {
    name: "one blob of 16 MiB a thousand times in an order",
    times: 2,
    wanted: "once",
    async act({ channel, blobs }) {
      const bytes = Buffer.alloc(16 * mebibyte, 7);
      const digest = digestOf(bytes);
      await blobs.write(digest, inChunks(bytes));
      const items = Array.from({ length: 1_000 }, () => blobItem(digest));
      let sum = 0;
      for await (const { unpackedBytes } of channel.serverStream(rpc.fetch, { items })) {
        sum += unpackedBytes;
      }
      return sum < 2 * bytes.byteLength ? "once" : `${sum} bytes`;
    },
  },
  {
    name: "streams of 16 MiB that nobody reads",
    times: 50,
    wanted: "begun",
    async act({ channel }) {
      const digest = digestOf(Buffer.alloc(16 * mebibyte, 7));
      const stream = channel
        .serverStream(rpc.fetch, { items: [blobItem(digest)] })
        [Symbol.asyncIterator]();
      const { done } = await stream.next();
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      await stream.return?.(undefined);
      return done ? "empty" : "begun";
    },
  },
  {
    name: "more reports than builds there can be",
    times: 1,
    wanted: "resource_exhausted",
    async act({ channel }) {
      for (let n = 0; n < 40; n++) {
        await Promise.all(
          Array.from({ length: 100 }, () => channel.unary(rpc.reportBuild, { json: aReport() })),
        );
      }
      return "taken";
    },
  },
  {
    name: "a flood of divergences",
    times: 1,
    wanted: "resource_exhausted",
    async act({ channel, keep }) {
      for (let n = 0; n < 60; n++) {
        const kept = digestKey(await keep(`diverges ${n}`));
        await channel.unary(rpc.reportDivergence, { json: aDivergence(`diverges ${n}`, kept) });
      }
      return "taken";
    },
  },
];

/** What a granary that means harm can do to a farm: refused, bounded, and others are served meanwhile. */
export const hostileIndexes: Measurement = {
  title: "hostile granaries",
  long: false,
  async measure() {
    const farm = await startFarm({ workers: 0 });
    const repository = await sampleRepository({
      ".grange/farm.yml": 'version: 1\njobs:\n  a: { commands: "true", inputs: [] }\n',
    });
    const channel = new GrpcChannel({ url: farm.url });
    try {
      await runGrange(["submit", "--repo", repository.path, "--server", farm.url]);
      return await attack(farm, hostileOn(channel, repository.path));
    } finally {
      await channel.stop();
      await farm.stop();
      await repository.remove();
    }
  },
};

async function attack(farm: Farm, hostile: Hostile): Promise<Row[]> {
  const memory = await watchMemory(farm.server.pid);
  const honest = honestBuilds(farm);
  const failed: string[] = [];
  for (const { name, times, wanted, act } of cases) {
    const ends = await Promise.all(
      Array.from({ length: times }, (_, n) =>
        act(hostile, n).catch((reason: unknown) =>
          reason instanceof Fault ? reason.code : String(reason),
        ),
      ),
    );
    const others = [...new Set(ends)].filter((end) => end !== wanted);
    if (others.length > 0) failed.push(`${name}: ${others.join(", ")}`);
    memory.passed(name);
  }
  const { calls, failures, longestMs } = await honest.stop();
  const { grownMiB, most } = memory.stop();
  const isAlive = (await fetch(`${farm.url}/api/v1/granary/quarantine?project=default`)).ok;
  const how = `${cases.length} attacks by several at once, with a granary that means well beside them; ${failed.join("; ") || "none failed"}`;
  return [
    exactly(
      "hostile granaries: attacks that end as they should",
      cases.length - failed.length,
      cases.length,
      "",
      how,
    ),
    atMost(
      "hostile granaries: farm's memory at its most, above before",
      grownMiB,
      mostGrowthMiB,
      "MiB",
      `most in: ${most}`,
    ),
    exactly("hostile granaries: the farm answers afterwards", String(isAlive), "true", "", how),
    exactly(
      "hostile granaries: honest calls that failed meanwhile",
      failures,
      0,
      `of ${calls}`,
      "look-ups of a result, index and filter, one after the other",
    ),
    forInformation(
      "hostile granaries: the longest honest call",
      longestMs,
      "ms",
      "on a machine that the attackers load as well",
    ),
  ];
}

function honestBuilds(farm: Farm) {
  const channel = new GrpcChannel({ url: farm.url });
  const end = { calls: 0, failures: 0, longestMs: 0 };
  let isOver = false;
  const running = (async () => {
    while (!isOver) {
      const begun = performance.now();
      try {
        await channel.unary(rpc.lookUp, { results: [{ namespace: "ccache", key: "k" }] });
        await channel.unary(rpc.resolve, {
          commits: [sha("honest")],
          environment: "e",
          wantFilter: true,
        });
      } catch {
        end.failures++;
      }
      end.calls++;
      end.longestMs = Math.max(end.longestMs, performance.now() - begun);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();
  return {
    async stop() {
      isOver = true;
      await running;
      await channel.stop();
      return end;
    },
  };
}

function hostileOn(channel: GrpcChannel, repository: string): Hostile {
  const blobs = remoteBlobStore(channel, "");
  return {
    channel,
    blobs,
    repository,
    async publish(bytes, { commit = "any", repository: of = "" } = {}) {
      const digest = digestOf(bytes);
      await blobs.write(digest, inChunks(bytes));
      return channel.unary(rpc.publishIndex, {
        repository: of,
        commits: [sha(commit)],
        environment: "e",
        entries: toDigestMessage(digest),
      });
    },
    async keep(key, instanceName = "") {
      const bytes = Buffer.from(`value of ${key}`);
      const value = digestOf(bytes);
      await blobs.put(value, bytes);
      const results = [{ result: { namespace: "ccache", key }, value: toDigestMessage(value) }];
      const { ends } = await channel.unary(rpc.publishResults, { instanceName, results });
      if (ends[0]?.kind !== PublishResultsResponse_End_Kind.KEPT) throw new Error("was not kept");
      return value;
    },
  };
}

function blobItem(digest: Digest) {
  return { item: { case: "blob" as const, value: toDigestMessage(digest) } };
}

async function* inChunks(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += mebibyte) yield bytes.subarray(at, at + mebibyte);
}

function aReport(): string {
  const zeros = { local: 0, prefetched: 0, fetched: 0, missed: 0, unreachable: 0 };
  const report: GranaryBuildReport = {
    id: randomUUID(),
    project: "default",
    repository: "",
    commit: null,
    branch: "",
    dirty: false,
    environment: "e",
    machine: "m",
    command: "x".repeat(1_000),
    startedAt: new Date().toISOString(),
    endedAt: new Date().toISOString(),
    exitCode: 0,
    indexes: [],
    counts: zeros,
    bytes: { local: 0, prefetched: 0, fetched: 0, transferred: 0, wasted: 0, uploaded: 0 },
    lead: null,
    waitedMs: 0,
    savedMs: 0,
    truncated: [],
    asked: [],
  };
  return JSON.stringify(report);
}

function aDivergence(key: string, kept: string): string {
  return JSON.stringify({
    namespace: "ccache",
    key,
    kept,
    madeNow: digestKey(made(key, 1)),
    differs: ["the bytes"],
    machine: "m",
    build: null,
    at: new Date().toISOString(),
  });
}
