import fc from "fast-check";
import { expect, test } from "vitest";
import { decideAfterReport, type LeaseEnd } from "./decide-after-report.ts";

const reported = (
  outcome: Extract<LeaseEnd, { kind: "reported" }>["outcome"],
  lacksInputs = false,
) => ({ kind: "reported", outcome, lacksInputs }) as const;
const finish = (outcome: string) => ({ kind: "finish", outcome });
const requeue = (outcome: string) => ({ kind: "requeue", outcome });

test.each([
  { end: reported("succeeded"), attempt: 5, expected: finish("succeeded") },
  { end: reported("failed"), attempt: 1, expected: finish("failed") },
  { end: reported("timed_out"), attempt: 1, expected: finish("timed_out") },
  { end: reported("out_of_memory"), attempt: 1, expected: finish("out_of_memory") },
  { end: reported("infrastructure_error"), attempt: 4, expected: requeue("infrastructure_error") },
  { end: reported("infrastructure_error"), attempt: 5, expected: finish("infrastructure_error") },
  { end: reported("infrastructure_error", true), attempt: 1, expected: finish("failed") },
  { end: reported("cancelled"), attempt: 1, expected: requeue("infrastructure_error") },
  { end: { kind: "expired" }, attempt: 4, expected: requeue("worker_lost") },
  { end: { kind: "expired" }, attempt: 5, expected: finish("worker_lost") },
  { end: { kind: "replaced" }, attempt: 4, expected: requeue("worker_lost") },
  { end: { kind: "released" }, attempt: 5, expected: { kind: "return" } },
] as const)(
  "$end.kind $end.outcome at attempt $attempt: $expected.kind $expected.outcome",
  ({ end, attempt, expected }) => {
    const held = { attempt, hasStarted: false, cancelRequested: false };

    expect(decideAfterReport(held, end, 5)).toEqual(expected);
  },
);

const anyEnd: fc.Arbitrary<LeaseEnd> = fc.oneof(
  fc.record({
    kind: fc.constant("reported" as const),
    outcome: fc.constantFrom(
      "succeeded",
      "failed",
      "timed_out",
      "out_of_memory",
      "cancelled",
      "infrastructure_error",
    ),
    lacksInputs: fc.boolean(),
  }),
  fc.constantFrom<LeaseEnd>(
    { kind: "expired" },
    { kind: "replaced" },
    { kind: "released" },
    { kind: "cancel-overdue" },
  ),
);

test("an execution that is being cancelled never returns to the queue", () => {
  fc.assert(
    fc.property(
      anyEnd,
      fc.integer({ min: 1, max: 5 }),
      fc.boolean(),
      (end, attempt, hasStarted) => {
        const decision = decideAfterReport({ attempt, hasStarted, cancelRequested: true }, end, 5);
        expect(decision.kind).toBe("finish");
      },
    ),
  );
});

test("an attempt that has started counts, and after the last attempt the execution ends", () => {
  fc.assert(
    fc.property(anyEnd, fc.boolean(), (end, cancelRequested) => {
      const decision = decideAfterReport({ attempt: 5, hasStarted: true, cancelRequested }, end, 5);
      expect(decision.kind).toBe("finish");
    }),
  );
});
