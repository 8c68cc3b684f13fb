import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import type { BlobStore } from "#cas/blob-store.ts";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { memoryBlobStore } from "#cas/memory-blob-store.ts";
import type { Digest } from "#core/digest.ts";
import { messageOf } from "#core/fault.ts";
import { DirectorySchema } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { copiedInputRoots, type InputRoots } from "#worker/input-root/input-root.ts";
import { LocalStore } from "#worker/local-store.ts";
import type { HostileCase, HostileSuite, OpenSuite } from "./case.ts";

/** Makes inputs on a worker, from a store that has checked nothing. */
interface Maker {
  readonly roots: InputRoots;
  readonly store: BlobStore;
  /** A directory of the job, in a parent directory to which nothing else may be written. */
  readonly place: () => Promise<{ readonly around: string; readonly scratch: string }>;
}
type Tree = MessageInitShape<typeof DirectorySchema>;
type Case = HostileCase<Maker>;

const evil = Buffer.from("evil\n");
const file = (name: string) => ({ name, digest: toDigestMessage(digestOf(evil)) });

async function put({ store }: Maker, tree: Tree): Promise<Digest> {
  const bytes = toBinary(DirectorySchema, create(DirectorySchema, tree));
  const digest = digestOf(bytes);
  await store.put(digest, bytes);
  return digest;
}

/** Checks that no made file leads out of the directory or is outside of it. */
function refused(name: string, treeOf: (maker: Maker) => Tree | Promise<Tree>): Case {
  return {
    name,
    async run(maker) {
      const root = await put(maker, await treeOf(maker));
      const { around, scratch } = await maker.place();
      await assert.rejects(maker.roots.make(root, scratch, maker.store), (reason) => {
        assert.doesNotMatch(messageOf(reason), /^(?:ENOENT|EEXIST|ENOTDIR|ELOOP)/);
        return true;
      });
      assert.deepEqual(await readdir(around), ["scratch"]);
      assert.deepEqual(await readdir(join(scratch, "root")), []);
    },
  };
}

const below = async (maker: Maker, name: string, tree: Tree) => ({
  directories: [{ name, digest: toDigestMessage(await put(maker, tree)) }],
});

const cases: readonly Case[] = [
  refused("a file whose name climbs", () => ({ files: [file("../../escaped")] })),
  refused("a file named `..`", () => ({ files: [file("..")] })),
  refused("a file whose name is an absolute path", () => ({ files: [file("/tmp/escaped")] })),
  refused("a file whose name has a slash", () => ({ files: [file("a/b")] })),
  refused("a file whose name has a NUL", () => ({ files: [file("a\0b")] })),
  refused("a file without a name", () => ({ files: [file("")] })),
  refused("a directory named `..`", (maker) => below(maker, "..", { files: [file("escaped")] })),
  refused("a symlink that climbs out", () => ({
    symlinks: [{ name: "out", target: "../../../etc" }],
  })),
  refused("a symlink that climbs out from below", (maker) =>
    below(maker, "d", { symlinks: [{ name: "out", target: "../../escaped" }] }),
  ),
  refused(
    "a symlink, and a directory of its name through which a file is written",
    async (maker) => ({
      symlinks: [{ name: "d", target: "." }],
      ...(await below(maker, "d", { files: [file("escaped")] })),
    }),
  ),
  refused("a symlink, and a file of its name", () => ({
    symlinks: [{ name: "f", target: "escaped" }],
    files: [file("f")],
  })),
  {
    name: "a tree whose bytes are another's",
    async run(maker) {
      const { around, scratch } = await maker.place();
      const asked = digestOf(Buffer.from("an honest directory"));
      const other = toBinary(DirectorySchema, create(DirectorySchema, { files: [file("x")] }));
      const lying: BlobStore = { ...maker.store, get: async () => other };
      await assert.rejects(maker.roots.make(asked, scratch, lying));
      assert.deepEqual(await readdir(around), ["scratch"]);
    },
  },
];

async function open(): Promise<OpenSuite<Maker>> {
  const top = await mkdtemp(join(tmpdir(), "grange-materialised-"));
  const store = memoryBlobStore();
  await store.put(digestOf(evil), evil);
  const local = await LocalStore.open(join(top, "worker"));
  return {
    target: {
      roots: copiedInputRoots(local),
      store,
      async place() {
        const around = await mkdtemp(join(top, "around-"));
        const scratch = join(around, "scratch");
        await mkdir(scratch);
        return { around, scratch };
      },
    },
    stop: () => rm(top, { recursive: true, force: true }),
  };
}

/** Trees that the server refuses, tested again at a worker, which must not rely on the server. */
export const materialisedInputSuite: HostileSuite<Maker> = {
  interface: "inputs, as a worker makes them",
  atLeast: 10,
  cases,
  open,
};
