import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { digestOf } from "#cas/digest-of.ts";
import { memoryBlobStore } from "#cas/memory-blob-store.ts";
import { digestKey } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import { GrpcChannel } from "#grpc/channel.ts";
import { remoteBlobStore } from "#grpc/remote-blob-store.ts";
import { grpcServer } from "#grpc/server.ts";
import { findMissing } from "./find-missing.ts";

const some = Array.from({ length: 600 }, (_, n) => digestOf(Buffer.from(`blob ${n}`)));

/** Serves FindMissingBlobs with these answers of the store below; returns a client of it. */
async function serving(answer: (digests: number) => Promise<unknown>) {
  const memory = memoryBlobStore();
  await memory.put(digestOf(Buffer.from("blob 7")), Buffer.from("blob 7"));
  const store = {
    ...memory,
    async findMissing(digests: Parameters<typeof memory.findMissing>[0]) {
      await answer(digests.length);
      return memory.findMissing(digests);
    },
  };
  const server = grpcServer({ methods: [findMissing(() => store)], graceMs: 20 });
  server.http2.listen(0, "127.0.0.1");
  await once(server.http2, "listening");
  onTestFinished(() => server.stop());
  const { port } = server.http2.address() as AddressInfo;
  const channel = new GrpcChannel({ url: `http://127.0.0.1:${port}` });
  onTestFinished(() => channel.stop());
  return remoteBlobStore(channel, "");
}

test("checks several parts of a long list before the first one is answered, and answers in its order", async () => {
  let begun = 0;
  let all = () => {};
  const severalBegan = new Promise<void>((resolve) => {
    all = resolve;
  });
  const client = await serving(() => {
    if (++begun === 16) all();
    return severalBegan;
  });

  const missing = await client.findMissing(some);

  expect(missing.map(digestKey)).toEqual(some.filter((_, n) => n !== 7).map(digestKey));
});

test("a part that cannot be checked fails the call, also while others wait", async () => {
  let begun = 0;
  const client = await serving(async () => {
    if (++begun > 3) throw new Fault("failed_precondition", "the disk is full");
  });

  await expect(client.findMissing(some)).rejects.toThrow(/the disk is full/);
  expect(begun).toBeGreaterThan(3);
});
