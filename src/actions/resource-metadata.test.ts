import { create } from "@bufbuild/protobuf";
import { type Any, anyPack, anyUnpack } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { ActionResultSchema } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { POSIXResourceUsageSchema } from "#proto/buildbarn/resourceusage/resourceusage_pb.ts";
import { FindingsSchema, ResourceUsageSchema } from "#proto/grange/worker/v1/worker_pb.ts";
import { boundFindings } from "./findings.ts";

const posix = anyPack(
  POSIXResourceUsageSchema,
  create(POSIXResourceUsageSchema, { maximumResidentSetSize: 5n, terminationSignal: "KILL" }),
);
const ours = anyPack(ResourceUsageSchema, create(ResourceUsageSchema, { fetchedBlobs: 7n }));
const findings = anyPack(FindingsSchema, create(FindingsSchema, { failureClass: "crash" }));

function boundOf(...auxiliaryMetadata: Any[]): Any[] {
  const result = create(ActionResultSchema, { executionMetadata: { auxiliaryMetadata } });
  boundFindings(result);
  return result.executionMetadata?.auxiliaryMetadata ?? [];
}

test("what a run took is kept beside what its rules found", () => {
  expect(boundOf(posix, findings, ours)).toEqual([findings, posix, ours]);
  expect(boundOf(ours)).toEqual([ours]);
});

test("of each message one is kept, and what nobody knows is left out", () => {
  const more = {
    typeUrl: posix.typeUrl,
    value: Buffer.concat([posix.value, Buffer.from("ba0603616263", "hex")]),
  };
  const [kept, ...others] = boundOf({ ...posix, ...more }, posix);

  expect(others).toEqual([]);
  expect(kept).toEqual(posix);
});

test("a text that is none of ours goes with its message", () => {
  const novel = create(POSIXResourceUsageSchema, { terminationSignal: "<b>".repeat(1_000) });

  expect(boundOf(anyPack(POSIXResourceUsageSchema, novel))).toEqual([]);
  expect(boundOf({ ...posix, value: Buffer.from("ff") })).toEqual([]);
  expect(anyUnpack(posix, POSIXResourceUsageSchema)?.terminationSignal).toBe("KILL");
});
