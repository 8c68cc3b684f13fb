import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import {
  BlobPartSchema,
  type FetchedItem,
  FetchedItemSchema,
  FetchResponseSchema,
} from "#proto/grange/granary/v1/granary_pb.ts";
import { expectedOf } from "../prefetch/fetching-farm.fixture.ts";
import { resultOf } from "../store/granary-store.fixture.ts";
import { blobMessage, packed } from "./fake-farm.fixture.ts";
import { headBytesOf, readHead } from "./read-head.ts";
import { toStoredResult } from "./stored-result.ts";

const result = resultOf("k", ["value"]);
const entries = [expectedOf(result, 1).entry];

const named = create(FetchedItemSchema, {
  item: { case: "result", value: toStoredResult(result) },
});
const partOf = (text: string, data = text) =>
  create(FetchedItemSchema, {
    item: {
      case: "blob",
      value: create(BlobPartSchema, { digest: blobMessage(text), data: Buffer.from(data) }),
    },
  });
const head = async (...items: FetchedItem[]) => [create(FetchResponseSchema, await packed(items))];

test("contains the results that the index names", async () => {
  expect(await readHead("p", await head(named, partOf("value")), entries)).toMatchObject([
    { kind: "result", result: { key: "k", project: "p" } },
    { kind: "part", offset: 0 },
  ]);
  expect(await readHead("p", [], entries)).toEqual([]);
});

test.each([
  { what: "a blob that it does not name", items: [named, partOf("another")] },
  { what: "a result twice", items: [named, named] },
  { what: "a part of a blob", items: [named, partOf("value", "val")] },
])("is none with $what", async ({ items }) => {
  await expect(readHead("p", await head(...items), entries)).rejects.toMatchObject({
    code: "data_loss",
  });
});

test("is rejected if it contains other results than the index, or far more bytes than requested", async () => {
  const other = [expectedOf(resultOf("other", ["value"]), 1).entry];
  await expect(readHead("p", await head(named), other)).rejects.toMatchObject({
    code: "data_loss",
  });

  const [message] = await head(named);
  if (message === undefined) throw new Error("there is one message");
  const swollen = { ...message, unpackedBytes: 2 ** 21 };
  await expect(readHead("p", [swollen], entries)).rejects.toThrow("2097152 bytes along");
});

test("has the size of a round trip's data, and at most 128 KiB", () => {
  expect(headBytesOf({ roundTripMs: 5, bytesPerSecond: 1_000_000 })).toBe(5_000);
  expect(headBytesOf({ roundTripMs: 200, bytesPerSecond: 1e9 })).toBe(131_072);
  expect(headBytesOf(undefined)).toBe(131_072);
});
