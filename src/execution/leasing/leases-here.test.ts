import { expect, test } from "vitest";
import { protectedDomain } from "#core/trust-domain.ts";
import { actionDigest, executionId } from "../execution.fixture.ts";
import type { EndingLease } from "../finishing/decide-endings.ts";
import type { HandedOutRow } from "./handed-out.store.ts";
import { leasesHere } from "./leases-here.ts";

function aRow(invocation = "i"): HandedOutRow {
  return {
    id: executionId(),
    project: "default",
    domain: protectedDomain,
    actionDigest: actionDigest("a"),
    invocation,
    doNotCache: false,
    attempt: 1,
    epoch: 1,
    worker: "w",
    workerInstance: "w-1",
    queuedAt: new Date(0),
    leasedAt: new Date(0),
    timeoutMs: 1_000,
    requirements: "[]",
    leastSizeClass: 1,
    mostSizeClass: null,
    isSized: false,
    sizeRetries: 0,
    hedgeOf: null,
    similarityKeys: [],
    owner: "",
    title: "",
    requestedTimeoutMs: 1_000,
  };
}

function endOf({ id: executionId, attempt, epoch }: HandedOutRow): EndingLease {
  return {
    lease: { executionId, attempt, epoch },
    by: { name: "w", instanceId: "w-1" },
    end: { kind: "reported", outcome: "succeeded", lacksInputs: false },
  };
}

test("an assigned execution is returned once, in its state at the assignment", () => {
  const leases = leasesHere();
  const rows = [aRow(), aRow()];
  for (const row of rows) leases.handedOut(row, 2);

  const taken = leases.take(rows.map(endOf));

  expect(taken).toMatchObject(
    rows.map((row) => ({ ...row, workerSizeClass: 2, startedAt: null, cancelRequested: false })),
  );
  expect(leases.take(rows.map(endOf))).toBeUndefined();
});

test.each<[string, (row: HandedOutRow) => readonly EndingLease[]]>([
  ["of a lease that is over", (row) => [endOf({ ...row, attempt: 2, epoch: 2 })]],
  ["from another process", (row) => [{ ...endOf(row), by: { name: "w", instanceId: "w-2" } }]],
  ["that is no report", (row) => [{ ...endOf(row), end: { kind: "expired" } }]],
  ["that is there twice", (row) => [endOf(row), endOf(row)]],
  ["beside one that nobody here knows", (row) => [endOf(row), endOf(aRow())]],
])("nothing is assumed of an end %s", (_, ends) => {
  const leases = leasesHere();
  const row = aRow();
  leases.handedOut(row, 1);

  expect(leases.take(ends(row))).toBeUndefined();
});

test("nothing is assumed for an execution that has started, or whose earlier assumption was wrong", () => {
  const leases = leasesHere();
  const [started, doubted, other, others] = [aRow("a"), aRow("b"), aRow("b"), aRow("c")];
  for (const row of [started, doubted, other, others]) leases.handedOut(row, 1);

  leases.forget(endOf(started).lease);
  leases.doubt(leases.take([endOf(doubted)]) ?? []);

  expect(leases.take([endOf(started)])).toBeUndefined();
  expect(leases.take([endOf(other)])).toBeUndefined();
  expect(leases.take([endOf(others)])).toHaveLength(1);
});
