import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { memoryBlobStore } from "#cas/memory-blob-store.ts";
import type { Digest } from "#core/digest.ts";
import { GrpcChannel } from "#grpc/channel.ts";
import { grpcServer } from "#grpc/server.ts";
import { ContentAddressableStorage } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { findMissing } from "./find-missing.ts";

const known = Buffer.from("blob 7");
const some = Array.from({ length: 1_000 }, (_, n) => digestOf(Buffer.from(`blob ${n}`)));

/** Serves FindMissingBlobs; returns the function that calls it, and the sizes of the parts that the store got. */
async function serving(checkedAtOnce?: number) {
  const memory = memoryBlobStore();
  await memory.put(digestOf(known), known);
  const parts: number[] = [];
  const store = {
    ...memory,
    findMissing(digests: readonly Digest[]) {
      parts.push(digests.length);
      return memory.findMissing(digests);
    },
  };
  const server = grpcServer({ methods: [findMissing(() => store, checkedAtOnce)], graceMs: 20 });
  server.http2.listen(0, "127.0.0.1");
  await once(server.http2, "listening");
  onTestFinished(() => server.stop());
  const { port } = server.http2.address() as AddressInfo;
  const channel = new GrpcChannel({ url: `http://127.0.0.1:${port}` });
  onTestFinished(() => channel.stop());
  const call = async (digests: readonly Digest[]) => {
    const blobDigests = digests.map(toDigestMessage);
    const { findMissingBlobs } = ContentAddressableStorage.method;
    const { missingBlobDigests } = await channel.unary(findMissingBlobs, { blobDigests });
    return missingBlobDigests.map(({ hash }) => hash);
  };
  return { call, parts };
}

const missing = some.filter((_, n) => n !== 7).map(({ hash }) => hash);

test("a store that answers for many blobs at once gets long lists in few parts", async () => {
  const { call, parts } = await serving(500);

  expect(await call([...some, ...some])).toEqual(missing);

  expect(parts.filter((length) => length > 0)).toHaveLength(2);
});

test("other stores get short parts", async () => {
  const { call, parts } = await serving();

  expect(await call(some)).toEqual(missing);

  expect(Math.max(...parts)).toBeLessThanOrEqual(64);
});
