import { describe, expect, test } from "vitest";
import { Code } from "#proto/google/rpc/code_pb.ts";
import { blobStreams } from "./blob-streams.ts";
import { type Headers, refusal } from "./foreign-client.ts";
import { bytesOf } from "./foreign-digest.ts";
import { packed as pack, unpacked } from "./foreign-zstd.ts";
import type { SharedFarm } from "./shared-farm.ts";

export function packedStreamRules(farm: () => SharedFarm): void {
  const { readAll, send, aBlob, packedNames } = blobStreams(farm);

  describe("ByteStream, packed", () => {
    test("a packed upload is stored unpacked, and told by the bytes that were received (Bazel's compression, moon)", async () => {
      const { data, name } = await aBlob();
      const packed = pack(data);

      const size = await send(packedNames(name).upload, { data: packed, chunk: 10_000 });

      expect(size).toBe(packed.byteLength);
      expect((await readAll(`blobs/${name}`)).equals(data)).toBe(true);
    });

    test("several frames in one stream are one blob (clients that pack piece by piece)", async () => {
      const { data, name } = await aBlob();
      const frames = [data.subarray(0, 70_000), data.subarray(70_000)].map((part) => pack(part));

      await send(packedNames(name).upload, { data: Buffer.concat(frames) });

      expect((await readAll(`blobs/${name}`)).equals(data)).toBe(true);
    });

    test("a second packed upload: all is taken and counted for who is not known, -1 for new Bazel, the size for Siso", async () => {
      const { data, name } = await aBlob();
      const packed = pack(data);
      const by = (toolName: string, toolVersion: string) =>
        farm().tool({ said: { toolDetails: { toolName, toolVersion } } }).headers;
      const again = (headers: Headers = {}) =>
        send(packedNames(name).upload, { data: packed, headers });
      await again();

      expect(await again()).toBe(packed.byteLength);
      expect(await again(by("bazel", "5.0.0"))).toBe(packed.byteLength);
      expect(await again(by("bazel", "7.1.0"))).toBe(-1);
      expect(await again(by("siso", "1.0"))).toBe(data.byteLength);
    });

    test("a packed read unpacks to the blob (Bazel's compression)", async () => {
      const { data, name, upload } = await aBlob();
      await send(upload, { data });

      const packed = await readAll(packedNames(name).download);

      expect(packed.byteLength).toBeLessThan(data.byteLength);
      expect(unpacked(packed).equals(data)).toBe(true);
    });

    test("the offset of a packed read counts bytes of the blob (Bazel goes on with a broken download)", async () => {
      const { data, name, upload } = await aBlob();
      await send(upload, { data });

      const packed = await readAll(packedNames(name).download, 120_000n);

      expect(unpacked(packed).equals(data.subarray(120_000))).toBe(true);
      const limited = readAll(packedNames(name).download, 0n, 10n);
      expect(await refusal(limited)).toMatchObject({ code: Code.INVALID_ARGUMENT });
    });

    test("packed rubbish, a frame cut off, and one that unpacks to more are refused and not stored (hostile clients)", async () => {
      const { data, digest, name } = await aBlob();
      const packed = pack(data);
      const { upload } = packedNames(name);

      for (const wrong of [
        bytesOf("no zstd at all"),
        packed.subarray(0, -5_000),
        pack(new Uint8Array(5_000_000)),
      ]) {
        const refused = await refusal(send(upload, { data: wrong }));
        expect(refused).toMatchObject({ code: Code.INVALID_ARGUMENT });
      }
      expect(await farm().tool().missing(digest)).toEqual([digest]);
    });
  });
}
