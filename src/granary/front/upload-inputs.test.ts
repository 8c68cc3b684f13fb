import { create, toBinary } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { memoryBlobStore } from "#cas/memory-blob-store.ts";
import { emptyDigest } from "#core/digest.ts";
import {
  ActionSchema,
  CommandSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { inputUploader } from "./upload-inputs.ts";

async function aMachine() {
  const local = memoryBlobStore();
  const put = async (bytes: Uint8Array) => {
    await local.put(digestOf(bytes), bytes);
    return digestOf(bytes);
  };
  const command = await put(toBinary(CommandSchema, create(CommandSchema, { arguments: ["x"] })));
  const commandDigest = toDigestMessage(command);
  const inputRootDigest = toDigestMessage(emptyDigest);
  const action = await put(
    toBinary(ActionSchema, create(ActionSchema, { commandDigest, inputRootDigest })),
  );
  return { inputs: inputUploader(local), all: [command, action], action };
}

test("a blob that was uploaded to one project of the farm is also uploaded to another", async () => {
  const { inputs, all, action } = await aMachine();
  const [a, b] = [memoryBlobStore(), memoryBlobStore()];

  await inputs.bring(a, "a", action);
  await inputs.bring(b, "b", action);

  expect(await a.findMissing(all)).toEqual([]);
  expect(await b.findMissing(all)).toEqual([]);
});

test("a blob is uploaded to one project once", async () => {
  const { inputs, action } = await aMachine();
  const farm = memoryBlobStore();
  await inputs.bring(farm, "a", action);
  let asked = 0;
  const counting = {
    ...farm,
    findMissing: (digests: Parameters<typeof farm.findMissing>[0]) => {
      asked += digests.length;
      return farm.findMissing(digests);
    },
  };

  await inputs.bring(counting, "a", action);

  expect(asked).toBe(0);
});
