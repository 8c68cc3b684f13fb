import { randomUUID } from "node:crypto";
import { describe, expect, test, vi } from "vitest";
import { DigestFunction_Value as By } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { ByteStream } from "#proto/google/bytestream/bytestream_pb.ts";
import { Code } from "#proto/google/rpc/code_pb.ts";
import { blobStreams } from "./blob-streams.ts";
import { refusal } from "./foreign-client.ts";
import { bytesOf, digestBy, nameOf } from "./foreign-digest.ts";
import type { SharedFarm } from "./shared-farm.ts";

const { write } = ByteStream.method;

export function byteStreamRules(farm: () => SharedFarm): void {
  const { readAll, send, status, aBlob } = blobStreams(farm);

  describe("ByteStream", () => {
    test("what is written in pieces is read whole, and committed_size is its size (Bazel 4 sends all so)", async () => {
      const { data, name, upload } = await aBlob();

      expect(await send(upload, { data })).toBe(data.byteLength);
      expect((await readAll(`blobs/${name}`)).equals(data)).toBe(true);
    });

    test("one message with all and the finish is enough (Bazel's small blobs)", async () => {
      const { data, name, upload } = await aBlob(100);

      expect(await send(upload, { data })).toBe(100);
      expect((await readAll(`blobs/${name}`)).equals(data)).toBe(true);
    });

    test("the finish may come alone, and each message may have the name (Pants; the API allows both)", async () => {
      const { data, name, upload: resourceName } = await aBlob(100);
      const messages = [
        { resourceName, data: data.subarray(0, 60) },
        { resourceName, writeOffset: 60n, data: data.subarray(60) },
        { resourceName, writeOffset: 100n, finishWrite: true },
      ];

      const { committedSize } = await farm().client.upload(write, messages);

      expect(committedSize).toBe(100n);
      expect((await readAll(`blobs/${name}`)).equals(data)).toBe(true);
    });

    test("many may send the same blob at once, and all are told it is there (Bazel on many machines)", async () => {
      const { data, name } = await aBlob();

      const sizes = await Promise.all(
        Array.from({ length: 8 }, () =>
          send(`uploads/${randomUUID()}/blobs/${name}`, { data, chunk: 20_000 }),
        ),
      );

      expect(sizes).toEqual(sizes.map(() => data.byteLength));
      expect((await readAll(`blobs/${name}`)).equals(data)).toBe(true);
    });

    test("an upload that ends without its finish is refused, and nothing is stored (a client that died)", async () => {
      const { data, digest, upload: resourceName } = await aBlob(100);

      const sent = farm().client.upload(write, [{ resourceName, data }]);

      expect(await refusal(sent)).toMatchObject({ code: Code.INVALID_ARGUMENT });
      expect(await farm().tool().missing(digest)).toEqual([digest]);
    });

    test("the empty blob is read, and written with nothing in it (Bazel)", async () => {
      const name = nameOf(await digestBy(By.SHA256, bytesOf("")));

      expect(await readAll(`blobs/${name}`)).toHaveLength(0);
      expect(await send(`uploads/${randomUUID()}/blobs/${name}`, { data: bytesOf("") })).toBe(0);
    });

    test("names may begin with an instance that has slashes, and go on behind the size (Bazel, Buck2)", async () => {
      const { data, name, upload } = await aBlob(1_000);

      await send(`team/web/main/${upload}/and/its/file.name`, { data });

      expect((await readAll(`team/web/main/blobs/${name}`)).equals(data)).toBe(true);
      // Another instance has separate blobs.
      expect(await refusal(readAll(`blobs/${name}`))).toMatchObject({ code: Code.NOT_FOUND });
    });

    test("names have the digest function in them for BLAKE3 (Buck2, Bazel with --digest_function=blake3)", async () => {
      const { data, name, upload } = await aBlob(1_000, By.BLAKE3);

      await send(upload, { data });

      expect(name).toMatch(/^blake3\//);
      expect((await readAll(`blobs/${name}`)).equals(data)).toBe(true);
      // Without the prefix, the name means a SHA-256, which does not exist.
      const sha256 = readAll(`blobs/${name.replace("blake3/", "")}`);
      expect(await refusal(sha256)).toMatchObject({ code: Code.NOT_FOUND });
    });

    test("a SHA-1 name needs none: its length tells (BuildGrid's clients)", async () => {
      const { data, name, upload } = await aBlob(1_000, By.SHA1);

      await send(upload, { data });

      expect((await readAll(`blobs/${name}`)).equals(data)).toBe(true);
    });

    test("a read may begin anywhere and end early (Bazel goes on with a broken download)", async () => {
      const { data, name, upload } = await aBlob();
      await send(upload, { data });

      const part = await readAll(`blobs/${name}`, 100_000n, 70_000n);
      expect(part.equals(data.subarray(100_000, 170_000))).toBe(true);
      const tail = await readAll(`blobs/${name}`, 170_000n, 1_000_000n);
      expect(tail.equals(data.subarray(170_000))).toBe(true);
      expect(await readAll(`blobs/${name}`, BigInt(data.byteLength))).toHaveLength(0);
    });

    test("offsets and limits that cannot be are refused (the API)", async () => {
      const { data, name, upload } = await aBlob(1_000);
      await send(upload, { data });

      const beyond = await refusal(readAll(`blobs/${name}`, 1_001n));
      expect(beyond).toMatchObject({ code: Code.OUT_OF_RANGE });
      const before = await refusal(readAll(`blobs/${name}`, -1n));
      expect(before).toMatchObject({ code: Code.OUT_OF_RANGE });
      const negative = await refusal(readAll(`blobs/${name}`, 0n, -1n));
      expect(negative).toMatchObject({ code: Code.INVALID_ARGUMENT });
    });

    test("a blob that is not there is NOT_FOUND (Bazel then executes again)", async () => {
      const { name } = await aBlob(100);

      expect(await refusal(readAll(`blobs/${name}`))).toMatchObject({ code: Code.NOT_FOUND });
    });

    test("wrong bytes are INVALID_ARGUMENT, and are not stored (all)", async () => {
      const { data, digest, upload } = await aBlob();
      const wrong = Buffer.from(data);
      wrong[100_000] = 0;

      const refused = await refusal(send(upload, { data: wrong }));

      expect(refused).toMatchObject({ code: Code.INVALID_ARGUMENT });
      expect(await farm().tool().missing(digest)).toEqual([digest]);
    });

    test("too few and too many bytes are refused, and not stored (all)", async () => {
      const { data, digest, upload } = await aBlob();

      const few = await refusal(send(upload, { data: data.subarray(0, 100_000) }));
      const many = await refusal(send(upload, { data: Buffer.concat([data, data]) }));

      expect(few.code).toBe(Code.INVALID_ARGUMENT);
      expect(many.code).toBe(Code.INVALID_ARGUMENT);
      expect(await farm().tool().missing(digest)).toEqual([digest]);
    });

    test("of a blob that is here, a second upload ends early with its whole size (Bazel 5 on, Buck2)", async () => {
      const { data, name, upload } = await aBlob();
      await send(upload, { data });

      const again = `uploads/${randomUUID()}/blobs/${name}`;
      expect(await send(again, { data })).toBe(data.byteLength);
    });

    test("a broken upload goes on from what QueryWriteStatus says (Bazel)", async () => {
      const { data, name, upload } = await aBlob();
      const cut = await refusal(send(upload, { data, cutAt: 100_000 }));
      expect(cut.code).toBe(Code.CANCELLED);

      const { committedSize } = await vi.waitFor(async () => {
        const known = await status(upload);
        expect(known.complete).toBe(false);
        expect(Number(known.committedSize)).toBeGreaterThan(0);
        return known;
      }, 30_000);
      expect(Number(committedSize)).toBeLessThanOrEqual(100_000);
      const size = await send(upload, { data, from: Number(committedSize) });

      expect(size).toBe(data.byteLength);
      expect((await readAll(`blobs/${name}`)).equals(data)).toBe(true);
    });

    test("QueryWriteStatus: complete when it is here, 0 of what nobody sent (Bazel)", async () => {
      const { data, upload } = await aBlob(1_000);

      expect(await status(upload)).toMatchObject({ complete: false, committedSize: 0n });
      await send(upload, { data });
      expect(await status(upload)).toMatchObject({ complete: true, committedSize: 1_000n });
    });

    test("an upload that goes on where nothing is, is refused (no blob may get a hole)", async () => {
      const { data, upload } = await aBlob();

      const refused = await refusal(send(upload, { data, from: 100_000 }));

      expect([Code.OUT_OF_RANGE, Code.INVALID_ARGUMENT]).toContain(refused.code);
    });

    test.each([
      "blobs/nothex/10",
      "blobs",
      "",
      "compressed-blobs/deflate/$name",
      "uploads/u/blobs/$name",
    ])("a read of %j is INVALID_ARGUMENT (all)", async (shape) => {
      const { name } = await aBlob(10);

      const refused = await refusal(readAll(shape.replace("$name", name)));

      expect(refused).toMatchObject({ code: Code.INVALID_ARGUMENT });
    });

    test("a name in upper case is refused (the API has lower case only)", async () => {
      const { digest } = await aBlob(10);

      const upper = `blobs/${digest.hash.toUpperCase()}/10`;

      expect(await refusal(readAll(upper))).toMatchObject({ code: Code.INVALID_ARGUMENT });
    });
  });
}
