import { type Method, methodsOf } from "#grpc/method.ts";
import {
  Capabilities,
  DigestFunction_Value,
  SymlinkAbsolutePathStrategy_Value,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { mostBatchBytes } from "./cas-service.ts";

export interface Abilities {
  /** Whether Execute is served. */
  readonly execution: boolean;
  /** Whether clients may write action results. */
  readonly actionCacheUpdates: boolean;
}

/** REv2's priorities; all of them are taken. */
const priorities = { priorities: [{ minPriority: -1_000_000, maxPriority: 1_000_000 }] };
const digestFunctions = [DigestFunction_Value.SHA256];

/** Tells clients what they may ask for. Bazel refuses to build with a server whose versions do not meet its own. */
export function capabilitiesService(abilities: Abilities): Method[] {
  return methodsOf(Capabilities, {
    async getCapabilities() {
      return {
        lowApiVersion: { major: 2, minor: 0 },
        highApiVersion: { major: 2, minor: 11 },
        cacheCapabilities: {
          digestFunctions,
          actionCacheUpdateCapabilities: { updateEnabled: abilities.actionCacheUpdates },
          cachePriorityCapabilities: priorities,
          maxBatchTotalSizeBytes: BigInt(mostBatchBytes),
          symlinkAbsolutePathStrategy: SymlinkAbsolutePathStrategy_Value.DISALLOWED,
        },
        executionCapabilities: {
          // The singular one, too: older Bazel looks at nothing else.
          digestFunction: DigestFunction_Value.SHA256,
          digestFunctions,
          execEnabled: abilities.execution,
          executionPriorityCapabilities: priorities,
        },
      };
    },
  });
}
