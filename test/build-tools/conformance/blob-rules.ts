import { randomBytes } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { create, toBinary } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import {
  type BatchUpdateBlobsRequestSchema,
  Capabilities,
  ChunkingFunction_Value,
  Compressor_Value as Compressor,
  ContentAddressableStorage,
  type Digest,
  DirectorySchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { Code } from "#proto/google/rpc/code_pb.ts";
import { refusal } from "./foreign-client.ts";
import { bytesOf, nameOf, textOf } from "./foreign-digest.ts";
import { packed as pack, unpacked } from "./foreign-zstd.ts";
import type { SharedFarm } from "./shared-farm.ts";

const { batchReadBlobs, batchUpdateBlobs, findMissingBlobs, getTree, spliceBlob, splitBlob } =
  ContentAddressableStorage.method;
const fresh = (length = 40) => bytesOf(randomBytes(length).toString("hex"));

export function blobRules(farm: () => SharedFarm): void {
  const update = (request: MessageInitShape<typeof BatchUpdateBlobsRequestSchema>) =>
    farm().client.unary(batchUpdateBlobs, request);

  describe("ContentAddressableStorage", () => {
    test("FindMissing names each that is missing once, and no other (Buck2 asks for the same twice)", async () => {
      const tool = farm().tool();
      const here = await tool.put(fresh());
      const [one, two] = await Promise.all([fresh(), fresh()].map((data) => tool.digestOf(data)));
      if (one === undefined || two === undefined) throw new Error("there are two");

      const missing = await tool.missing(one, here, two, one, here);

      expect(missing.map(nameOf).sort()).toEqual([one, two].map(nameOf).sort());
      expect(await tool.missing()).toEqual([]);
    });

    test("FindMissing takes 10,000 digests at once (Bazel sends messages of a mebibyte)", async () => {
      const blobDigests = Array.from({ length: 10_000 }, () => ({
        hash: randomBytes(32).toString("hex"),
        sizeBytes: 1n,
      }));

      const answer = await farm().client.unary(findMissingBlobs, { blobDigests });
      expect(answer.missingBlobDigests).toHaveLength(10_000);
    });

    test("a batch's blobs fail one by one, each with its digest (recc, moon)", async () => {
      const tool = farm().tool();
      const [good, bad] = [fresh(), fresh()];
      const [digest, other] = await Promise.all([good, bad].map((data) => tool.digestOf(data)));
      if (digest === undefined || other === undefined) throw new Error("there are two");

      const { responses } = await update({
        requests: [
          { digest, data: good },
          { digest: other, data: bytesOf("not its bytes") },
        ],
      });

      const codes = new Map(responses.map((each) => [each.digest?.hash, each.status?.code ?? 0]));
      expect(codes.get(digest.hash)).toBe(Code.OK);
      expect(codes.get(other.hash)).toBe(Code.INVALID_ARGUMENT);
      expect(await tool.missing(digest, other)).toEqual([other]);
    });

    test("a batch is read blob by blob: what is missing is NOT_FOUND in its own status (recc, Buck2)", async () => {
      const tool = farm().tool();
      const data = fresh();
      const here = await tool.put(data);
      const absent = await tool.digestOf(fresh());

      const { responses } = await tool.client.unary(batchReadBlobs, { digests: [absent, here] });

      const found = new Map(responses.map((each) => [each.digest?.hash, each]));
      expect(found.get(absent.hash)?.status?.code).toBe(Code.NOT_FOUND);
      expect(found.get(here.hash)?.status?.code ?? 0).toBe(Code.OK);
      expect(Buffer.from(found.get(here.hash)?.data ?? []).equals(data)).toBe(true);
    });

    test("batches of just the limit fit into messages of 4 MiB, both ways (Buck2 and recc fill them)", async () => {
      const tool = farm().tool();
      const { cacheCapabilities } = await tool.client.unary(
        Capabilities.method.getCapabilities,
        {},
      );
      const parts = 1_000;
      const each = Number(cacheCapabilities?.maxBatchTotalSizeBytes) / parts;
      const requests = await Promise.all(
        Array.from({ length: parts }, async () => {
          const data = randomBytes(each);
          return { data, digest: await tool.digestOf(data) };
        }),
      );

      await update({ requests });

      const digests = requests.map(({ digest }) => digest);
      expect(await tool.missing(...digests)).toEqual([]);
      const { responses } = await tool.client.unary(batchReadBlobs, { digests });
      const bytes = responses.reduce((sum, { data }) => sum + data.byteLength, 0);
      expect(bytes).toBe(parts * each);
    });

    test("a batch over the limit is INVALID_ARGUMENT, both ways (the API)", async () => {
      const tool = farm().tool();
      const half = randomBytes(2_100_000);
      const other = randomBytes(2_100_000);
      const digests = await Promise.all([half, other].map((data) => tool.put(data)));

      const read = tool.client.unary(batchReadBlobs, { digests });
      expect(await refusal(read)).toMatchObject({ code: Code.INVALID_ARGUMENT });
      const requests = digests.map((digest, at) => ({ digest, data: [half, other][at] ?? half }));
      const written = update({ requests });
      expect(await refusal(written)).toMatchObject({ code: Code.INVALID_ARGUMENT });
    });

    test("packed blobs of a batch are unpacked before they are named (moon sends zstd)", async () => {
      const tool = farm().tool();
      const text = bytesOf("text that packs well. ".repeat(1_000));
      const digest = await tool.digestOf(text);

      const { responses } = await update({
        requests: [{ digest, data: pack(text), compressor: Compressor.ZSTD }],
      });

      expect(responses[0]?.status?.code ?? 0).toBe(Code.OK);
      expect(textOf(await tool.read(digest))).toBe(textOf(text));
    });

    test("blobs come packed to who takes that, and only to them (moon; Buck2 asks for plain)", async () => {
      const tool = farm().tool();
      const text = bytesOf("text that packs well, too. ".repeat(1_000));
      const digests = [await tool.put(text)];

      const packed = await tool.client.unary(batchReadBlobs, {
        digests,
        acceptableCompressors: [Compressor.IDENTITY, Compressor.ZSTD],
      });
      const plain = await tool.client.unary(batchReadBlobs, {
        digests,
        acceptableCompressors: [Compressor.IDENTITY],
      });

      const [one, other] = [packed.responses[0], plain.responses[0]];
      expect(one?.compressor).toBe(Compressor.ZSTD);
      expect(one?.data.byteLength).toBeLessThan(text.byteLength / 10);
      expect(textOf(unpacked(one?.data))).toBe(textOf(text));
      expect(other?.compressor).toBe(Compressor.IDENTITY);
      expect(textOf(other?.data)).toBe(textOf(text));
    });

    test("what unpacks to something else, or to more, is refused, and others of its batch are not (hostile clients)", async () => {
      const tool = farm().tool();
      const [bomb, good] = [pack(new Uint8Array(1_000_000)), fresh()];
      const small = await tool.digestOf(fresh(5));
      const digest = await tool.digestOf(good);

      const { responses } = await update({
        requests: [
          { digest: small, data: bomb, compressor: Compressor.ZSTD },
          { digest: small, data: bytesOf("no zstd"), compressor: Compressor.ZSTD },
          { digest, data: good },
        ],
      });

      expect(responses.map(({ status }) => status?.code ?? 0)).toEqual([
        Code.INVALID_ARGUMENT,
        Code.INVALID_ARGUMENT,
        Code.OK,
      ]);
    });
  });

  describe("SplitBlob and SpliceBlob", () => {
    test("uploaded chunks become a blob, which is read and split as chunks that are the blob (Bazel 9)", async () => {
      const tool = farm().tool();
      const data = Buffer.concat([randomBytes(1_500_000), new Uint8Array(1_500_000)]);
      const blobDigest = await tool.digestOf(data);
      const chunkDigests = await Promise.all(
        [data.subarray(0, 1_000_000), data.subarray(1_000_000)].map((chunk) => tool.put(chunk)),
      );

      const spliced = await tool.client.unary(spliceBlob, {
        ...tool.where,
        blobDigest,
        chunkDigests,
      });
      const split = await tool.client.unary(splitBlob, { ...tool.where, blobDigest });

      expect(spliced.blobDigest).toEqual(blobDigest);
      expect(Buffer.from((await tool.read(blobDigest)) ?? []).equals(data)).toBe(true);
      expect(split.chunkingFunction).toBe(ChunkingFunction_Value.FAST_CDC_2020);
      const chunks = await Promise.all(split.chunkDigests.map((digest) => tool.read(digest)));
      expect(Buffer.concat(chunks.map((chunk) => chunk ?? new Uint8Array())).equals(data)).toBe(
        true,
      );
    });

    test("what is missing is NOT_FOUND, and other bytes are INVALID_ARGUMENT (Bazel then uploads the whole blob)", async () => {
      const tool = farm().tool();
      const [one, two, other] = [fresh(), fresh(), fresh()];
      const chunkDigests = await Promise.all([tool.put(one), tool.digestOf(two)]);
      const blobDigest = await tool.digestOf(Buffer.concat([one, two]));
      const splice = () =>
        tool.client.unary(spliceBlob, { ...tool.where, blobDigest, chunkDigests });

      expect(await refusal(tool.client.unary(splitBlob, { blobDigest }))).toMatchObject({
        code: Code.NOT_FOUND,
      });
      expect(await refusal(splice())).toMatchObject({ code: Code.NOT_FOUND });
      chunkDigests[1] = await tool.put(other);
      expect(await refusal(splice())).toMatchObject({ code: Code.INVALID_ARGUMENT });
      expect(await tool.missing(blobDigest)).toEqual([blobDigest]);
    });
  });

  describe("GetTree", () => {
    const names = (pages: readonly { directories: readonly { files: { name: string }[] }[] }[]) =>
      pages.flatMap(({ directories }) =>
        directories.flatMap(({ files }) => files.map((f) => f.name)),
      );

    test("every directory comes once, the root first (remote-apis-sdks, reclient)", async () => {
      const tool = farm().tool();
      const same = { deep: { same: "same" } };
      const rootDigest = await tool.putTree({ root: "r", a: same, b: same, c: { c: "c" } });

      const pages = await tool.client.stream(getTree, { rootDigest }).rest();

      expect(names(pages)[0]).toBe("root");
      expect(names(pages).sort()).toEqual(["c", "root", "same"]);
      expect(pages.flatMap(({ directories }) => directories)).toHaveLength(4);
    });

    test("pages are as small as asked, and a token goes on from there (remote-apis-sdks)", async () => {
      const tool = farm().tool();
      const rootDigest = await tool.putTree({
        r: "r",
        a: { a: "a" },
        b: { b: "b" },
        c: { c: "c" },
      });
      const ask = (pageToken: string) =>
        tool.client.stream(getTree, { rootDigest, pageSize: 1, pageToken });

      const pages = await ask("").rest();
      expect(pages.map(({ directories }) => directories.length)).toEqual([1, 1, 1, 1]);
      expect(pages.at(-1)?.nextPageToken).toBe("");
      const later = await ask(pages[1]?.nextPageToken ?? "").rest();
      expect(names(later)).toEqual(names(pages).slice(2));
    });

    test("a subtree that is missing is left out, and the rest comes (clients that upload what lacks)", async () => {
      const tool = farm().tool();
      const sub = await tool.digestOf(fresh());
      const rest = await tool.putTree({ here: "here" });
      const directories = [
        { name: "gone", digest: sub },
        { name: "rest", digest: rest },
      ];
      const root = toBinary(DirectorySchema, create(DirectorySchema, { directories }));
      const rootDigest = await tool.put(root);

      const pages = await tool.client.stream(getTree, { rootDigest }).rest();

      expect(names(pages)).toEqual(["here"]);
    });

    test("a root that is missing is NOT_FOUND", async () => {
      const rootDigest: Digest = await farm().tool().digestOf(fresh());

      const asked = farm().client.stream(getTree, { rootDigest }).rest();

      expect(await refusal(asked)).toMatchObject({ code: Code.NOT_FOUND });
    });
  });
}
