import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { GrpcChannel } from "#grpc/channel.ts";
import { codeOf } from "../build-tools/hostile-target.ts";
import type { HostileSuite } from "./case.ts";
import { openClosedFarm } from "./closed-farm.ts";
import {
  alone,
  blobsOf,
  type Case,
  entry,
  type Farms,
  made,
  published,
  refused,
  repeated,
  rpc,
  sha,
  written,
} from "./commit-index-attempts.ts";
import { isOneOf } from "./known-attacks.ts";
import { openFarm } from "./open-farm.ts";

const cases: readonly Case[] = [
  refused(
    "an index of 1,000,000 entries (250,000 in the short run)",
    (full) => repeated(alone([entry("k", [])]), full ? 1_000_000 : 250_000),
    "invalid_argument",
  ),
  refused(
    "entries whose results the farm does not have",
    () => alone([entry("nobody's", [made("nobody's", 5)])]),
    "0 taken",
  ),
  refused("blobs of petabytes", () => alone([entry("large", [made("large", 2 ** 52)])]), "0 taken"),
  refused(
    "an entry of 10,000 blobs",
    () => written({ blobs: Array.from({ length: 10_000 }, () => toDigestMessage(made("a", 1))) }),
    "invalid_argument",
  ),
  refused(
    "an entry of 10,000 paths",
    () =>
      written({
        blobs: [toDigestMessage(made("a", 1))],
        inputs: Array.from({ length: 10_000 }, (_, n) => `p${n}`),
      }),
    "invalid_argument",
  ),
  refused(
    "a key of a megabyte",
    () => alone([entry("k".repeat(1_000_000), [made("a", 1)])]),
    "invalid_argument",
  ),
  refused("a key with a NUL", () => alone([entry("a\u0000b", [made("a", 1)])]), "invalid_argument"),
  refused(
    "an index on a base of somebody else's",
    () => alone([entry("a", [made("a", 1)])], { base: made("base", 5) }),
    "invalid_argument",
  ),
  refused(
    "an index that takes away others' entries",
    () => alone([], { removed: [{ namespace: "ccache", key: "victim" }] }),
    "invalid_argument",
  ),
  refused("bytes that are no index", () => Buffer.alloc(10_000, 0xff), "invalid_argument"),
  refused("groups 100,000 deep", () => Buffer.alloc(100_000, 0x7b), "invalid_argument"),
  {
    name: "an index that was never uploaded, and one that says terabytes",
    async run({ channel }) {
      isOneOf(await published(channel, made("nothing", 5)), "failed_precondition");
      isOneOf(await published(channel, made("nothing", 2 ** 42)), "invalid_argument");
    },
  },
  {
    name: "commits that are none, a thousand of them, and of a branch's name",
    async run(farm) {
      const index = alone([entry("a", [made("a", 1)])]);
      await blobsOf(farm.channel).put(digestOf(index), index);
      for (const commits of [
        ["main"],
        ["../../x"],
        [],
        Array.from({ length: 1_000 }, (_, n) => sha(String(n))),
        ["a".repeat(39)],
      ])
        isOneOf(await published(farm.channel, digestOf(index), { commits }), "invalid_argument");
    },
  },
  {
    name: "targets of 10,000 letters, a thousand of them, and with escapes",
    async run(farm) {
      const index = alone([entry("a", [made("a", 1)])]);
      await blobsOf(farm.channel).put(digestOf(index), index);
      for (const targets of [
        ["t".repeat(10_000)],
        Array.from({ length: 1_000 }, () => "t"),
        ["a\u001b[2J"],
      ])
        isOneOf(await published(farm.channel, digestOf(index), { targets }), "invalid_argument");
    },
  },
  {
    name: "digests as levers: 10,001 keys looked up, 10,001 items fetched",
    async run({ channel }) {
      const keys = Array.from({ length: 10_001 }, (_, n) => ({
        namespace: "ccache",
        key: `k${n}`,
      }));
      isOneOf(
        await codeOf(() => channel.unary(rpc.lookUp, { instanceName: "hostile", results: keys })),
        "invalid_argument",
      );
      const items = Array.from({ length: 10_001 }, (_, n) => ({
        item: { case: "blob" as const, value: toDigestMessage(made(String(n), 2 ** 40)) },
      }));
      isOneOf(
        await codeOf(async () => {
          for await (const _ of channel.serverStream(rpc.fetch, {
            instanceName: "hostile",
            items,
          }));
        }),
        "invalid_argument",
      );
    },
  },
  {
    name: "one blob of 1 MiB asked for 10,000 times in a fetch comes once, or is refused",
    async run(farm) {
      const bytes = Buffer.alloc(1_048_576, randomUUID());
      const blob = digestOf(bytes);
      await blobsOf(farm.channel).put(blob, bytes);
      const items = Array.from({ length: 10_000 }, () => ({
        item: { case: "blob" as const, value: toDigestMessage(blob) },
      }));
      let unpacked = 0;
      const code = await codeOf(async () => {
        for await (const part of farm.channel.serverStream(rpc.fetch, {
          instanceName: "hostile",
          items,
        })) {
          unpacked += part.unpackedBytes;
          if (unpacked > 64 * 1_048_576) throw new Error(`${unpacked} bytes for one blob`);
        }
      });
      isOneOf(code, "ok", "invalid_argument", "resource_exhausted");
    },
  },
  {
    name: "an index, a result and a report without a principal, and in another user's project",
    async run({ closed }) {
      for (const token of [undefined, closed.mallory]) {
        // A caller with a name writes only for itself; none of the named blobs exists.
        const his = token === undefined ? [] : ["ok", "failed_precondition", "invalid_argument"];
        const wanted = ["permission_denied", "unauthenticated", ...his];
        const channel = new GrpcChannel({
          url: closed.url,
          ...(token && { metadata: () => ({ authorization: `Bearer ${token}` }) }),
        });
        try {
          isOneOf(await published(channel, made("a", 5), {}, "victim"), ...wanted);
          const results = [
            { result: { namespace: "ccache", key: "k" }, value: toDigestMessage(made("a", 1)) },
          ];
          const code = await codeOf(() =>
            channel.unary(rpc.publishResults, { instanceName: "victim", results }),
          );
          isOneOf(code, ...wanted);
          const report = await codeOf(() =>
            channel.unary(rpc.reportBuild, { instanceName: "victim", json: "{}" }),
          );
          isOneOf(report, ...wanted);
        } finally {
          await channel.stop();
        }
      }
    },
  },
  {
    name: "reports and divergences that are deep, large, or none",
    async run({ channel }) {
      for (const json of [
        "",
        "null",
        "[".repeat(100_000),
        `{"a":"${"x".repeat(3_000_000)}"}`,
        '{"__proto__":{"x":1}}',
      ]) {
        const told = { instanceName: "hostile", json };
        const tell = [
          () => channel.unary(rpc.reportBuild, told),
          () => channel.unary(rpc.reportDivergence, told),
        ];
        for (const each of tell)
          isOneOf(await codeOf(each), "invalid_argument", "resource_exhausted");
      }
      assert.equal(Reflect.get({}, "x"), undefined);
    },
  },
];

export const commitIndexSuite: HostileSuite<Farms> = {
  interface: "commit indexes and fetching ahead",
  atLeast: 10,
  cases,
  async open(options) {
    const [open, closed] = await Promise.all([openFarm(options), openClosedFarm(options)]);
    return {
      target: { ...open.target, closed: closed.target },
      async stop() {
        await open.stop();
        await closed.stop();
      },
    };
  },
};
