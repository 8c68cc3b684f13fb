import { create, toBinary } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { buildDirectoryTree, uploadDirectories } from "#cas/build-directory-tree.ts";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { memoryBlobStore } from "#cas/memory-blob-store.ts";
import type { Digest } from "#core/digest.ts";
import {
  ActionSchema,
  CommandSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { compareActions } from "./compare-actions.ts";

const store = memoryBlobStore();

async function kept(bytes: Uint8Array): Promise<Digest> {
  const digest = digestOf(bytes);
  await store.put(digest, bytes);
  return digest;
}

/** Stores an action with these arguments and input files. */
async function anAction(
  words: readonly string[],
  files: Readonly<Record<string, string>>,
  { timeoutSeconds = 1n, isKept = true } = {},
): Promise<Digest> {
  const command = await kept(
    toBinary(CommandSchema, create(CommandSchema, { arguments: [...words] })),
  );
  const tree = buildDirectoryTree(
    Object.entries(files).map(([path, content]) => ({
      kind: "file" as const,
      path,
      digest: digestOf(Buffer.from(content)),
      executable: false,
    })),
  );
  if (isKept) await uploadDirectories(store, tree);
  return kept(
    toBinary(
      ActionSchema,
      create(ActionSchema, {
        commandDigest: toDigestMessage(command),
        inputRootDigest: toDigestMessage(tree.root.digest),
        timeout: { seconds: timeoutSeconds },
      }),
    ),
  );
}

test("names the arguments and the paths by which two actions differ, and reads no directory that is equal", async () => {
  const before = await anAction(["cc", "a.c"], { "a.c": "1", "same/b.h": "x", "lib/old.h": "y" });
  const after = await anAction(["cc", "-g", "a.c"], {
    "a.c": "2",
    "same/b.h": "x",
    "lib/new.h": "y",
  });

  expect(await compareActions(store, before, after)).toEqual({
    isSameAction: false,
    command: [{ part: "argument", name: "1", before: null, after: "-g" }],
    inputs: [
      { path: "a.c", change: "changed" },
      { path: "lib/new.h", change: "added" },
      { path: "lib/old.h", change: "removed" },
    ],
    isCut: false,
    unreadable: null,
  });
});

test("lists at most 200 paths, and says that there are more", async () => {
  const files = (content: string) =>
    Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`f${at}`, content]));
  const [before, after] = [await anAction([], files("1")), await anAction([], files("2"))];

  const found = await compareActions(store, before, after);

  expect(found.inputs).toHaveLength(200);
  expect(found.isCut).toBe(true);
});

test("the same action has no differences, and one that differs only in its timeout lists that", async () => {
  const one = await anAction(["x"], {});
  const longer = await anAction(["x"], {}, { timeoutSeconds: 9n });

  expect(await compareActions(store, one, one)).toMatchObject({ isSameAction: true });
  expect(await compareActions(store, one, longer)).toMatchObject({
    isSameAction: false,
    command: [{ part: "setting", name: "timeout", before: "1 s", after: "9 s" }],
    inputs: [],
  });
});

test("says which blobs are gone", async () => {
  const here = await anAction(["x"], { a: "1" });
  const lost = await anAction(["x"], { a: "never stored" }, { isKept: false });
  const gone = digestOf(Buffer.from("an action that was evicted"));

  expect((await compareActions(store, here, lost)).unreadable).toContain("Not all inputs");
  expect((await compareActions(store, here, gone)).unreadable).toContain("The commands");
});
