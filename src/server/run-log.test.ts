import { create, toBinary } from "@bufbuild/protobuf";
import { afterAll, expect, test } from "vitest";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { memoryBlobStore } from "#cas/memory-blob-store.ts";
import { digestKey } from "#core/digest.ts";
import type { RunOutput } from "#graphs/job-detail.store.ts";
import { ActionResultSchema } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { freshDb } from "../../test/support/fresh-db.ts";
import { readRunLog } from "./run-log.ts";

const db = await freshDb();
afterAll(() => db.close());
const blobs = memoryBlobStore();
const log = Buffer.from("a log of 19 bytes.\n");

async function finishedRun(): Promise<RunOutput> {
  await blobs.put(digestOf(log), log);
  const result = create(ActionResultSchema, { stdoutDigest: toDigestMessage(digestOf(log)) });
  return {
    project: "default",
    executionId: null,
    actionDigest: null,
    attempt: 2,
    result: toBinary(ActionResultSchema, result),
    cachedFromGraph: null,
    cachedFromJob: null,
  };
}

test.each([
  { offset: 0, most: 100, text: "a log of 19 bytes.\n", complete: true },
  { offset: 2, most: 3, text: "log", complete: false },
  { offset: 19, most: 100, text: "", complete: true },
  // A reader that followed a longer log, of an attempt that has ended.
  { offset: 1_000_000, most: 100, text: "", complete: true },
])("a kept log gives from byte $offset at most $most", async ({ offset, most, text, complete }) => {
  const piece = await readRunLog({ db, blobsOf: () => blobs }, await finishedRun(), offset, most);

  expect({ ...piece, bytes: Buffer.from(piece.bytes).toString() }).toEqual({
    bytes: text,
    nextOffset: offset + text.length,
    complete,
    attempt: 2,
  });
});

test("a log whose blob is gone, and that no table holds, says so in a line", async () => {
  const empty = memoryBlobStore();
  const [run, gone] = [await finishedRun(), { db, blobsOf: () => empty }];

  const [start, rest] = [await readRunLog(gone, run, 0, 8), await readRunLog(gone, run, 8, 100)];

  const text = Buffer.concat([start.bytes, rest.bytes]).toString();
  expect(text).toBe("[grange: this log was deleted; a new run writes a new log]\n");
  expect(start).toMatchObject({ nextOffset: 8, complete: false, attempt: 2 });
  expect(rest).toMatchObject({ nextOffset: text.length, complete: true });
});

test("a log of an action that is named by BLAKE3 is found by the same", async () => {
  const [digest, action] = [log, Buffer.from("an action")].map((of) => digestOf(of, "blake3"));
  if (digest === undefined || action === undefined) throw new Error("unreachable");
  const kept = memoryBlobStore();
  await kept.put(digest, log);
  const result = create(ActionResultSchema, { stdoutDigest: toDigestMessage(digest) });
  const run = {
    ...(await finishedRun()),
    actionDigest: digestKey(action),
    result: toBinary(ActionResultSchema, result),
  };

  const piece = await readRunLog({ db, blobsOf: () => kept }, run, 0, 100);

  expect(Buffer.from(piece.bytes)).toEqual(log);
});
