import { create } from "@bufbuild/protobuf";
import type { GenService } from "@bufbuild/protobuf/codegenv2";
import { anyPack } from "@bufbuild/protobuf/wkt";
import {
  ByteStream,
  type ReadRequestSchema,
  type ReadResponseSchema,
  type WriteRequestSchema,
} from "#proto/google/bytestream/bytestream_pb.ts";
import { PreconditionFailureSchema } from "#proto/google/rpc/error_details_pb.ts";
import { DetailedFault } from "./detailed-fault.ts";
import { type Method, methodsOf } from "./method.ts";

type ConformanceService = GenService<{
  read: typeof ByteStream.method.read;
  write: typeof ByteStream.method.write;
  unary: {
    methodKind: "unary";
    input: typeof ReadRequestSchema;
    output: typeof ReadResponseSchema;
  };
  echo: {
    methodKind: "bidi_streaming";
    input: typeof WriteRequestSchema;
    output: typeof ReadResponseSchema;
  };
}>;

const { read, write } = ByteStream.method;

/** ByteStream with the two kinds of call that it lacks, so that tests meet all four. */
export const Conformance = {
  ...ByteStream,
  method: {
    read,
    write,
    unary: { ...read, name: "Unary", methodKind: "unary" },
    echo: { ...write, output: read.output, name: "Echo", methodKind: "bidi_streaming" },
  },
} as unknown as ConformanceService;

/** What the service has seen, for tests to wait on. */
export interface Seen {
  cancelled: (reason: unknown) => void;
  sent: number;
}

/** Behaves as the resource name states: `fail`, `hang`, `metadata`, or as many bytes as it counts. */
export function conformanceMethods(seen: Seen): Method[] {
  return methodsOf(Conformance, {
    async unary(request, context) {
      if (request.resourceName === "fail") throw refusal();
      if (request.resourceName === "crash") throw new Error("/secret/path is gone");
      if (request.resourceName === "hang") {
        context.signal.addEventListener("abort", () => seen.cancelled(context.signal.reason));
        await new Promise(() => {});
      }
      if (request.resourceName === "metadata") {
        context.responseMetadata = { "x-back": String(context.metadata["x-text"]) };
        context.trailers = { "x-back-bin": context.metadata["x-some-bin"] as Uint8Array };
      }
      return { data: new Uint8Array(Number(request.readLimit)) };
    },
    async *read(request, context) {
      context.signal.addEventListener("abort", () => seen.cancelled(context.signal.reason));
      for (let at = 0n; at < request.readLimit; at++) {
        seen.sent++;
        yield { data: new Uint8Array(Number(request.readOffset)).fill(Number(at)) };
      }
      if (request.resourceName === "fail") throw refusal();
    },
    async write(requests) {
      let committedSize = 0n;
      for await (const { data, resourceName } of requests) {
        if (resourceName === "fail") throw refusal();
        committedSize += BigInt(data.byteLength);
      }
      return { committedSize };
    },
    async *echo(requests) {
      for await (const { data } of requests) yield { data };
    },
  });
}

function refusal(): DetailedFault {
  const missing = create(PreconditionFailureSchema, {
    violations: [{ type: "MISSING", subject: "blobs/abc/3", description: "50 % of ✓" }],
  });
  return new DetailedFault("failed_precondition", "50 % of the blobs are missing ✓", [
    anyPack(PreconditionFailureSchema, missing),
  ]);
}
