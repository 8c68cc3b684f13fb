import { create } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import { afterAll, expect, test } from "vitest";
import { z } from "zod";
import { mostNumbers } from "#core/outcome-rules.ts";
import { sql } from "#db/sql.ts";
import { ActionResultSchema } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { FindingsSchema } from "#proto/grange/worker/v1/worker_pb.ts";
import { freshDb } from "../../test/support/fresh-db.ts";
import { boundFindings, findingsOf } from "./findings.ts";

const db = await freshDb();
afterAll(() => db.close());

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

test.each([
  { letter: "\uFFFC", what: "three bytes each" },
  { letter: "\u{1F600}", what: "halved by the cut" },
  { letter: '"', what: "escaped in JSON" },
  { letter: "\u2028\u007F\0", what: "for nobody's eyes" },
])("the longest findings there can be are kept, with letters $what", async ({ letter }) => {
  // The smallest numbers have the longest decimal form in jsonb.
  const tiny = -1.2345678901234567e-308;
  const message = create(FindingsSchema, {
    failureClass: "c".repeat(64),
    errorLines: Array.from({ length: 500 }, (_, i) => ({
      line: BigInt(Number.MAX_SAFE_INTEGER) + BigInt(i) - 250n,
      text: `x${letter.repeat(1_000)}`,
    })),
    numbers: [
      ...[Number.NaN, Infinity].map((value) => ({ name: "none", value, min: Number.NaN })),
      ...Array.from({ length: mostNumbers + 9 }, (_, i) => ({
        name: `n${i}`.padEnd(64, "n"),
        value: tiny,
        min: tiny,
        max: tiny,
      })),
    ],
  });

  const { errorLines, numbers } = findingsOf(resultWith(anyPack(FindingsSchema, message)));

  expect(Object.keys(numbers)).toHaveLength(mostNumbers);
  expect(errorLines).toHaveLength(50);
  // The constraints of `run`: src/db/migrations/0008_findings.sql
  const [fits] = await db.many(
    z.object({ lines: z.boolean(), numbers: z.boolean() }),
    sql`select octet_length(${JSON.stringify(errorLines)}::jsonb::text) <= 256 * 1024 as lines,
      octet_length(${JSON.stringify(numbers)}::jsonb::text) <= 64 * 1024 as numbers`,
  );
  expect(fits).toEqual({ lines: true, numbers: true });
});
