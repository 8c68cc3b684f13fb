import { describe, expect, test } from "vitest";
import {
  SymlinkAbsolutePathStrategy_Value as AbsoluteSymlinks,
  DigestFunction_Value as By,
  Capabilities,
  Compressor_Value as Compressor,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { type Headers, refusal } from "./foreign-client.ts";
import { closedProject, type SharedFarm } from "./shared-farm.ts";

export function capabilitiesRules(farm: () => SharedFarm): void {
  const ask = (instanceName = "", headers: Headers = {}) =>
    farm().client.unary(Capabilities.method.getCapabilities, { instanceName }, headers);

  describe("Capabilities", () => {
    test("versions from 2.0 to 2.11 are spoken (Bazel up to 6 speaks 2.0 and nothing else)", async () => {
      const { lowApiVersion, highApiVersion, deprecatedApiVersion } = await ask();

      expect(lowApiVersion).toMatchObject({ major: 2, minor: 0, patch: 0 });
      expect(highApiVersion).toMatchObject({ major: 2, minor: 11 });
      // The field has a meaning only for a range that ends below `low`.
      expect(deprecatedApiVersion).toBeUndefined();
    });

    test("digest functions are in the cache's and in the execution's list (Bazel reads both)", async () => {
      const { cacheCapabilities, executionCapabilities } = await ask();

      const functions = cacheCapabilities?.digestFunctions;
      expect(functions).toEqual(executionCapabilities?.digestFunctions);
      expect(functions).toEqual(
        expect.arrayContaining([By.SHA256, By.SHA1, By.SHA384, By.SHA512, By.BLAKE3]),
      );
      expect(functions).not.toContain(By.UNKNOWN);
    });

    test("the singular digest function is set, too (older Bazel reads nothing else)", async () => {
      expect((await ask()).executionCapabilities?.digestFunction).toBe(By.SHA256);
    });

    test("execution is offered (Bazel, Buck2 and Pants refuse to start without)", async () => {
      expect((await ask()).executionCapabilities?.execEnabled).toBe(true);
    });

    test("priorities of execution and cache have ranges (Bazel refuses --remote_execution_priority outside)", async () => {
      const { cacheCapabilities, executionCapabilities } = await ask();

      for (const offered of [
        executionCapabilities?.executionPriorityCapabilities,
        cacheCapabilities?.cachePriorityCapabilities,
      ]) {
        const covers = (priority: number) =>
          offered?.priorities.some(
            ({ minPriority, maxPriority }) => minPriority <= priority && priority <= maxPriority,
          );
        expect([-100, 0, 7, 1_000].map(covers)).toEqual([true, true, true, true]);
      }
    });

    test("zstd is offered for streams and for batches (Bazel's and moon's compression is an error without)", async () => {
      const { cacheCapabilities } = await ask();

      expect(cacheCapabilities?.supportedCompressors).toContain(Compressor.ZSTD);
      expect(cacheCapabilities?.supportedBatchUpdateCompressors).toContain(Compressor.ZSTD);
    });

    test("a batch's limit is told (Buck2 assumes 4,000,000 when it is not)", async () => {
      const { cacheCapabilities } = await ask();

      expect(Number(cacheCapabilities?.maxBatchTotalSizeBytes)).toBe(4_000_000);
    });

    test("it is told whether absolute symlinks may be (BuildStream and recc decide by it)", async () => {
      const { cacheCapabilities } = await ask();

      expect(cacheCapabilities?.symlinkAbsolutePathStrategy).toBe(AbsoluteSymlinks.ALLOWED);
    });

    test("splitting and splicing are offered, by the parameters that REv2 recommends (Bazel 9 refuses others)", async () => {
      const { cacheCapabilities } = await ask();

      expect(cacheCapabilities?.splitBlobSupport).toBe(true);
      expect(cacheCapabilities?.spliceBlobSupport).toBe(true);
      expect(cacheCapabilities?.fastCdc2020Params).toMatchObject({
        avgChunkSizeBytes: 524_288n,
        seed: 0,
      });
    });

    test("whether results may be written depends on who asks (Bazel stops when it is to upload and may not)", async () => {
      const may = async (headers: Headers) =>
        (await ask(closedProject, headers)).cacheCapabilities?.actionCacheUpdateCapabilities
          ?.updateEnabled;

      expect(await may({})).toBe(false);
      expect(await may({ authorization: `Bearer ${farm().readerToken}` })).toBe(false);
      // A caller with a name writes results that only this caller reads.
      expect(await may({ authorization: `Bearer ${farm().builderToken}` })).toBe(true);
      expect(await may({ authorization: `Bearer ${farm().token}` })).toBe(true);
      const open = await ask("open");
      expect(open.cacheCapabilities?.actionCacheUpdateCapabilities?.updateEnabled).toBe(true);
    });

    test("an instance name may have slashes, but none of the protocol's words (all who build names of resources)", async () => {
      expect((await ask("team/web/main")).executionCapabilities?.execEnabled).toBe(true);
      expect(await refusal(ask("team/blobs/main"))).toMatchObject({ code: 3 });
    });
  });
}
