import assert from "node:assert/strict";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { hostileResults } from "../build-tools/hostile-results.ts";
import { codeOf } from "../build-tools/hostile-target.ts";
import type { HostileCase, HostileSuite } from "./case.ts";
import { openClosedFarm } from "./closed-farm.ts";
import { isOneOf, tried } from "./known-attacks.ts";
import { openFarm } from "./open-farm.ts";
import {
  asking,
  type Dir,
  directoryOf,
  type Farms,
  file,
  freshAction,
  getActionResult,
  here,
  refused,
  tree,
  treeOf,
  updateActionResult,
  write,
} from "./result-attempts.ts";

const more: readonly HostileCase<Farms>[] = [
  refused("a backslash in a path", { outputFiles: [{ path: "a\\..\\b", digest: here }] }),
  refused("a name of 256 bytes", { outputFiles: [{ path: "ä".repeat(128), digest: here }] }),
  refused("a target of 5,000 bytes", {
    outputSymlinks: [{ path: "a", target: "b/".repeat(2_500) }],
  }),
  refused("a link that climbs behind a name", {
    outputSymlinks: [{ path: "d/e/a", target: "b/../../../c" }],
  }),
  refused("a link among the files of old clients that leads out", {
    outputFileSymlinks: [{ path: "a", target: "../../x" }],
  }),
  refused("a link among the directories of old clients that leads out", {
    outputDirectorySymlinks: [{ path: "a", target: "../etc" }],
  }),
  refused("a directory below a file", {
    outputFiles: [{ path: "a", digest: here }],
    outputDirectories: [{ path: "a/b", treeDigest: here }],
  }),
  refused("the directory .", { outputDirectories: [{ path: ".", treeDigest: here }] }),
  refused("the directory a/", {
    outputFiles: [{ path: "a", digest: here }],
    outputDirectories: [{ path: "a/", treeDigest: here }],
  }),
  refused("the file a/", { outputFiles: [{ path: "a/", digest: here }] }),
  refused("100,000 files of one name", {
    outputFiles: Array.from({ length: 50_000 }, () => ({ path: "a", digest: here })),
  }),
  refused("output without a digest behind it", {
    stdoutDigest: { hash: "0".repeat(63), sizeBytes: 1n },
  }),
  refused("a size of -1 for its log", { stdoutDigest: { hash: "0".repeat(64), sizeBytes: -1n } }),
  refused(
    "a log that is not here",
    { stderrDigest: toDigestMessage(digestOf(Buffer.from("no log"))) },
    "failed_precondition",
    "invalid_argument",
  ),
  refused("a tree that names itself by a made-up digest", (farm) =>
    treeOf(farm, tree({ directories: [{ name: "again", digest: here }] })),
  ),
  refused("a tree of a directory and a file of one name", (farm) =>
    treeOf(
      farm,
      tree(
        {
          files: [{ name: "a", digest: here }],
          directories: [{ name: "a", digest: toDigestMessage(directoryOf({})) }],
        },
        [{}],
      ),
    ),
  ),
  refused("a tree with a backslash deep inside", (farm) => {
    const inner: Dir = { files: [{ name: "..\\x", digest: here }] };
    const root = { directories: [{ name: "d", digest: toDigestMessage(directoryOf(inner)) }] };
    return treeOf(farm, tree(root, [inner]));
  }),
  refused("a tree with a link that climbs from deep inside", (farm) => {
    const inner: Dir = { symlinks: [{ name: "l", target: "../../../x" }] };
    const root = { directories: [{ name: "d", digest: toDigestMessage(directoryOf(inner)) }] };
    return treeOf(farm, tree(root, [inner]));
  }),
  {
    ...refused(
      "a tree of 1,000,000 children (100,000 in the short run)",
      (farm) => {
        const child = Buffer.from([0x12, 0x04, 0x12, 0x02, 0x0a, 0x00]);
        return treeOf(farm, Buffer.alloc(6 * (farm.full ? 1_000_000 : 100_000), child));
      },
      "invalid_argument",
      "resource_exhausted",
    ),
    alone: true,
  },
  {
    name: "a directory tree 2,000 deep",
    alone: true,
    async run(farm) {
      const levels: Dir[] = [{}];
      for (let n = 1; n < 2_000; n++) {
        const below = toDigestMessage(directoryOf(levels[n - 1] ?? {}));
        levels.push({ directories: [{ name: "d", digest: below }] });
      }
      const actionResult = await treeOf(farm, tree(levels.at(-1) ?? {}, levels.slice(0, -1)));
      const actionDigest = toDigestMessage(freshAction());
      const code = await codeOf(() =>
        farm.channel.unary(updateActionResult, { actionDigest, actionResult }),
      );
      isOneOf(code, "invalid_argument", "resource_exhausted");
    },
  },
  {
    name: "two files whose names differ only in case remain two",
    async run(farm) {
      const other = Buffer.from("another output of somebody");
      await farm.blobs.put(digestOf(file), file);
      await farm.blobs.put(digestOf(other), other);
      const actionDigest = toDigestMessage(freshAction());
      const outputFiles = [
        { path: "Out", digest: here },
        { path: "out", digest: toDigestMessage(digestOf(other)) },
      ];
      await farm.channel.unary(updateActionResult, { actionDigest, actionResult: { outputFiles } });
      const back = await farm.channel.unary(getActionResult, { actionDigest });
      assert.deepEqual(
        back.outputFiles.map(({ path, digest }) => [path, digest?.hash]),
        outputFiles.map(({ path, digest }) => [path, digest.hash]),
      );
    },
  },
  {
    name: "a result written without a token",
    async run(farms) {
      const action = freshAction();
      const code = await asking(farms, undefined, (channel) => write(channel, "", action));
      isOneOf(code, "permission_denied", "unauthenticated");
    },
  },
  {
    name: "a result written into another user's project is not read by others there",
    async run(farms) {
      const action = freshAction();
      const code = await asking(farms, farms.closed.mallory, (channel) =>
        write(channel, "victim", action),
      );
      // A caller without permission writes results that only this caller reads.
      isOneOf(code, "permission_denied", "ok");
      const asked = { instanceName: "victim", actionDigest: toDigestMessage(action) };
      for (const token of [farms.closed.root, undefined]) {
        const read = await asking(farms, token, (channel) =>
          codeOf(() => channel.unary(getActionResult, asked)),
        );
        isOneOf(read, "not_found");
      }
    },
  },
  {
    name: "a result written with a token that was made up",
    async run(farms) {
      const action = freshAction();
      const token = `grange_${"A".repeat(43)}`;
      const code = await asking(farms, token, (channel) => write(channel, "", action));
      isOneOf(code, "unauthenticated");
    },
  },
  {
    name: "a result of one's own project read in another's",
    async run(farms) {
      const action = freshAction();
      const written = await asking(farms, farms.closed.mallory, (channel) =>
        write(channel, "mallory", action),
      );
      isOneOf(written, "ok");
      const read = await asking(farms, farms.closed.root, (channel) =>
        codeOf(() =>
          channel.unary(getActionResult, {
            instanceName: "victim",
            actionDigest: toDigestMessage(action),
          }),
        ),
      );
      isOneOf(read, "not_found");
    },
  },
];

export const actionResultSuite: HostileSuite<Farms> = {
  interface: "REv2: results of actions",
  atLeast: 40,
  cases: [...tried(hostileResults), ...more],
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
