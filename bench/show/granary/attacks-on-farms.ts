import { randomUUID } from "node:crypto";
import type { GranaryBuildReport } from "#api/granary.ts";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { type Digest, digestKey } from "#core/digest.ts";
import { alone, entry, made } from "../../../test/hostile/commit-index-attempts.ts";
import { type Hostile, inChunks, mebibyte, rpc, sha, valueOf } from "./hostile-caller.ts";

const terabyte = 2 ** 40;

/** An action by which a granary could harm its farm. */
interface Attack {
  readonly name: string;
  /** The number of concurrent callers. */
  readonly times: number;
  /** The expected result: a code, or the answer. */
  readonly wanted: string;
  readonly act: (hostile: Hostile, n: number) => Promise<string>;
}

/** Concatenated messages are one message with all of their fields. */
const repeated = (piece: Uint8Array, times: number) =>
  Buffer.concat(Array.from({ length: times }, () => piece));

const endOf = ({ taken, refused }: { taken: number; refused: number }) =>
  `${taken} taken, ${refused} refused`;

export const attacksOnFarms: readonly Attack[] = [
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
    times: 2,
    wanted: "0 taken, 1 refused",
    async act({ publish, keep, blobs }, n) {
      const value = await keep("theirs", "another");
      // One of the two has guessed the bytes, and put them into its own project.
      if (n > 0) await blobs.put(value, valueOf("theirs"));
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

function blobItem(digest: Digest) {
  return { item: { case: "blob" as const, value: toDigestMessage(digest) } };
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
