import { digestFunctionValues } from "#cas/digest-message.ts";
import type { CallContext } from "#grpc/call-context.ts";
import { type Method, methodsOf } from "#grpc/method.ts";
import {
  Capabilities,
  Compressor_Value,
  DigestFunction_Value,
  SymlinkAbsolutePathStrategy_Value,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { chunkSizes } from "../chunk-lists/chunk-limits.ts";

interface Abilities {
  /** Whether Execute is served. */
  readonly execution: boolean;
  /** Whether SplitBlob and SpliceBlob are served. */
  readonly chunking: boolean;
  /** Whether this client may write action results. */
  readonly actionCacheUpdates: (
    request: { readonly instanceName: string },
    context: CallContext,
  ) => Promise<boolean>;
}

/** REv2's priorities; all values are accepted. */
const priorities = { priorities: [{ minPriority: -1_000_000, maxPriority: 1_000_000 }] };
/**
 * The promised limit for the blobs of a batch. A little more is accepted; but many clients read messages of 4 MiB at
 * most, and names and sizes take space as well.
 */
const promisedBatchBytes = 4_000_000n;
/** Clients that split blobs by the same numbers share chunks with the farm, and with each other. */
const fastCdc2020Params = { avgChunkSizeBytes: BigInt(chunkSizes.averageBytes), seed: 0 };
const compressors = [Compressor_Value.ZSTD];
const digestFunctions = Object.values(digestFunctionValues);

/** Announces the server's capabilities. Bazel refuses to build with a server whose versions do not match its own. */
export function capabilitiesService(abilities: Abilities): Method[] {
  return methodsOf(Capabilities, {
    async getCapabilities(request, context) {
      const updateEnabled = await abilities.actionCacheUpdates(request, context);
      return {
        lowApiVersion: { major: 2, minor: 0 },
        highApiVersion: { major: 2, minor: 11 },
        cacheCapabilities: {
          digestFunctions,
          actionCacheUpdateCapabilities: { updateEnabled },
          cachePriorityCapabilities: priorities,
          maxBatchTotalSizeBytes: promisedBatchBytes,
          // No limit to one blob (0): only the disk limits it, and an upload that exceeds the disk leaves nothing.
          maxCasBlobSizeBytes: 0n,
          supportedCompressors: compressors,
          supportedBatchUpdateCompressors: compressors,
          splitBlobSupport: abilities.chunking,
          spliceBlobSupport: abilities.chunking,
          ...(abilities.chunking && { fastCdc2020Params }),
          symlinkAbsolutePathStrategy: SymlinkAbsolutePathStrategy_Value.ALLOWED,
        },
        executionCapabilities: {
          // Also the field with one function: older Bazel versions read only this one.
          digestFunction: DigestFunction_Value.SHA256,
          digestFunctions,
          execEnabled: abilities.execution,
          executionPriorityCapabilities: priorities,
        },
      };
    },
  });
}
