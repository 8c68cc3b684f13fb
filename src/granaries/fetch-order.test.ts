import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { memoryBlobStore } from "#cas/memory-blob-store.ts";
import { FetchItemSchema } from "#proto/grange/granary/v1/granary_pb.ts";
import { fetchOrder } from "./fetch-order.ts";
import { openSentLately } from "./recently-sent-blobs.ts";

const text = "asked for by every machine of a commit";
const bytes = Buffer.from(text);
const digest = digestOf(bytes);

async function scene() {
  const blobs = memoryBlobStore();
  await blobs.put(digest, bytes);
  const had = new Set(["first", "second"]);
  let reads = 0;
  const counting = (project: string) => ({
    ...blobs,
    findMissing: async (digests: Parameters<typeof blobs.findMissing>[0]) =>
      had.has(project) ? blobs.findMissing(digests) : [...digests],
    get: (wanted: typeof digest) => {
      reads += 1;
      return blobs.get(wanted);
    },
  });
  const parts = {
    blobsOf: counting,
    results: { whole: async () => [] },
    sentLately: openSentLately(),
  };
  const item = create(FetchItemSchema, { item: { case: "blob", value: toDigestMessage(digest) } });
  return {
    had,
    reads: () => reads,
    fetch: async (project: string) => {
      const came: string[] = [];
      for await (const thing of fetchOrder(parts, project, [item])) {
        came.push(thing.kind === "part" ? Buffer.from(thing.data).toString() : thing.kind);
      }
      return came;
    },
  };
}

test("a small blob that was sent recently is not read again, for any project", async () => {
  const { fetch, reads } = await scene();
  expect(await fetch("first")).toEqual([text]);
  expect(await fetch("first")).toEqual([text]);
  expect(await fetch("second")).toEqual([text]);
  expect(reads()).toBe(1);
});

test("a recently sent blob is not given to a project that does not have it, or no longer has it", async () => {
  const { fetch, had } = await scene();
  await fetch("first");
  expect(await fetch("another")).toEqual(["absent"]);
  had.delete("first");
  expect(await fetch("first")).toEqual(["absent"]);
});
