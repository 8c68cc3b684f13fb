import { create } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { ActionResultSchema } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { FindingsSchema } from "#proto/grange/worker/v1/worker_pb.ts";
import { boundFindings, findingsOf } from "./findings.ts";

const none = { failureClass: undefined, errorLines: [], numbers: {} };

function resultWith(...auxiliaryMetadata: { typeUrl: string; value: Uint8Array }[]) {
  return create(ActionResultSchema, { executionMetadata: { worker: "w", auxiliaryMetadata } });
}

const findings = create(FindingsSchema, {
  failureClass: "crash",
  errorLines: [{ line: 3n, text: "error:\tno" }],
  numbers: [{ name: "coverage", value: 71.2, min: 80 }],
});

test("what a worker packed is read", () => {
  expect(findingsOf(resultWith(anyPack(FindingsSchema, findings)))).toEqual({
    failureClass: "crash",
    errorLines: [{ line: 3, text: "error:    no" }],
    numbers: { coverage: { value: 71.2, min: 80, max: null } },
  });
});

test.each([
  { what: "nothing", any: [] },
  {
    what: "another message",
    any: [{ typeUrl: "type.googleapis.com/x.Y", value: new Uint8Array(3) }],
  },
  {
    what: "bytes that are no message",
    any: [
      { typeUrl: "type.googleapis.com/grange.worker.v1.Findings", value: new Uint8Array([255, 1]) },
    ],
  },
])("$what is no finding", ({ any }) => {
  expect(findingsOf(resultWith(...any))).toEqual(none);
});

test("beside a result, only legal findings are kept", () => {
  const large = { typeUrl: "type.googleapis.com/x.Y", value: new Uint8Array(1_000_000) };
  const result = resultWith(large, anyPack(FindingsSchema, findings), large);

  boundFindings(result);

  expect(result.executionMetadata?.worker).toBe("w");
  expect(result.executionMetadata?.auxiliaryMetadata).toHaveLength(1);
  expect(findingsOf(result)).toMatchObject({ failureClass: "crash" });
  const again = structuredClone(findingsOf(result));
  boundFindings(result);
  expect(findingsOf(result)).toEqual(again);
});
