import { constants } from "node:os";
import { create } from "@bufbuild/protobuf";
import { type Any, anyPack, durationFromMs } from "@bufbuild/protobuf/wkt";
import { POSIXResourceUsageSchema } from "#proto/buildbarn/resourceusage/resourceusage_pb.ts";
import { ResourceUsageSchema } from "#proto/grange/worker/v1/worker_pb.ts";
import type { Fetched } from "./counting-fetches.ts";
import type { InputRoot } from "./input-root/input-root.ts";
import type { TreeUsage } from "./limits/limits.ts";

/** getrusage(2) counts disk reads and writes in blocks of this size. */
const blockBytes = 512;

/**
 * Returns the used resources as parts of the result: in REv2's message for other clients, and in Grange's own.
 *
 * Both describe the whole process tree; getrusage(2) would only report its largest process.
 */
export function resourceMessages(
  { usage, exitCode }: { readonly usage: TreeUsage; readonly exitCode: number },
  root: InputRoot,
  fetched: Fetched,
  image: { readonly digest: string; readonly pulledMs: number } | undefined,
  /** The number of the request that a persistent worker process served for it; 0: none did. */
  persistentRequest = 0,
): Any[] {
  const times = {
    userTime: durationFromMs(Math.round(usage.userMs)),
    systemTime: durationFromMs(Math.round(usage.systemMs)),
  };
  const posix = create(POSIXResourceUsageSchema, {
    ...times,
    maximumResidentSetSize: BigInt(usage.peakMemoryBytes),
    pageReclaims: BigInt(usage.pageReclaims),
    pageFaults: BigInt(usage.pageFaults),
    blockInputOperations: BigInt(Math.ceil(usage.readBytes / blockBytes)),
    blockOutputOperations: BigInt(Math.ceil(usage.writtenBytes / blockBytes)),
    terminationSignal: signalOf(exitCode),
  });
  const ours = create(ResourceUsageSchema, {
    ...times,
    peakMemoryBytes: BigInt(usage.peakMemoryBytes),
    measuredBy: usage.measuredBy,
    readBytes: BigInt(usage.readBytes),
    writtenBytes: BigInt(usage.writtenBytes),
    fetchedBlobs: BigInt(fetched.blobs),
    fetchedBytes: BigInt(fetched.bytes),
    inputLayers: root.layers.all,
    keptLayers: root.layers.kept,
    persistentRequest,
    ...(image === undefined
      ? {}
      : { imageDigest: image.digest, imagePull: durationFromMs(Math.round(image.pulledMs)) }),
  });
  // The peak of a process that served earlier actions, too, says nothing about this one.
  if (persistentRequest > 0) return [anyPack(ResourceUsageSchema, ours)];
  return [anyPack(POSIXResourceUsageSchema, posix), anyPack(ResourceUsageSchema, ours)];
}

/** Returns the signal that an exit code means in shells; empty without one. */
function signalOf(exitCode: number): string {
  if (exitCode <= 128) return "";
  const [name = ""] =
    Object.entries(constants.signals).find(([, number]) => number === exitCode - 128) ?? [];
  return name.replace(/^SIG/, "");
}
