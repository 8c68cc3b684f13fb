import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { orderRequests, type WaitingRequest } from "./order-requests.ts";

const day = (n: number) => new Date(Date.UTC(2026, 5, 1 + n));

function aRequest(id: number, change: Partial<WaitingRequest> = {}): WaitingRequest {
  return {
    id: `r${id}`,
    kind: "try",
    state: "artifacts-ready",
    pr: null,
    artifactId: id,
    artifact: `tag-${String(id).padStart(3, "0")}`,
    datedAt: day(id),
    parentId: null,
    createdAt: day(id),
    startedAt: null,
    ...change,
  };
}

const idsOf = (requests: readonly WaitingRequest[]) =>
  orderRequests(requests).map(({ request }) => request.id);

describe("the queue", () => {
  test("is ordered: in progress, releases, master, try, and last those that wait for artifacts", () => {
    const requests = [
      aRequest(1, { state: "waiting-for-artifacts" }),
      aRequest(2, { pr: 7 }),
      aRequest(3, { kind: "master" }),
      aRequest(4, { kind: "release", datedAt: day(9) }),
      aRequest(5, { kind: "release", datedAt: day(8) }),
      aRequest(6, { state: "in-progress", startedAt: day(3) }),
      aRequest(7, { state: "in-progress", startedAt: day(2) }),
    ];

    expect(idsOf(requests)).toEqual(["r7", "r6", "r5", "r4", "r3", "r2", "r1"]);
    expect(orderRequests(requests).map(({ place }) => place)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  test.each([
    { title: "a lower pull request", first: { pr: 1 }, second: { pr: 2 } },
    { title: "any pull request before none", first: { pr: 9_999 }, second: {} },
    { title: "the older", first: { createdAt: day(-5) }, second: {} },
    { title: "pull request 0, which is one", first: { pr: 0 }, second: { pr: 1 } },
  ])("has this first: $title", ({ first, second }) => {
    expect(idsOf([aRequest(1, second), aRequest(2, first)])).toEqual(["r2", "r1"]);
  });

  test("has parents before their children, and gives this reason", () => {
    const child = aRequest(1, { kind: "master", parentId: 2 });
    const parent = aRequest(2, { kind: "master", parentId: 3 });
    const grandparent = aRequest(3, { kind: "master" });

    const ordered = orderRequests([child, parent, grandparent]);

    expect(ordered.map(({ request }) => request.id)).toEqual(["r3", "r2", "r1"]);
    expect(ordered[2]?.because).toContain("after its parent tag-002");
  });

  test("does not wait for a parent that waits for its artifacts", () => {
    const parent = aRequest(1, { state: "waiting-for-artifacts" });

    expect(idsOf([parent, aRequest(2, { parentId: 1 })])).toEqual(["r2", "r1"]);
  });

  test("has an order even if artifacts are each other's parents", () => {
    expect(idsOf([aRequest(1, { parentId: 2 }), aRequest(2, { parentId: 1 })])).toHaveLength(2);
  });
});

const someRequests = fc
  .array(
    fc.record({
      kind: fc.constantFrom("master", "release", "try" as const),
      state: fc.constantFrom("artifacts-ready", "in-progress", "waiting-for-artifacts" as const),
      pr: fc.option(fc.nat(5)),
      parent: fc.option(fc.nat(15)),
      created: fc.nat(5),
      dated: fc.nat(5),
    }),
    { maxLength: 15 },
  )
  .map((rows) =>
    rows.map(({ kind, state, pr, parent, created, dated }, i) =>
      aRequest(i, {
        kind,
        state,
        pr,
        parentId: parent === i ? null : parent,
        createdAt: day(created),
        datedAt: day(dated),
        startedAt: state === "in-progress" ? day(created + 1) : null,
      }),
    ),
  );

describe("always", () => {
  test("each request has one place, for any order of the input", () => {
    fc.assert(
      fc.property(
        someRequests.chain((requests) =>
          fc.tuple(
            fc.constant(requests),
            fc.shuffledSubarray(requests, { minLength: requests.length }),
          ),
        ),
        ([requests, shuffled]) => {
          expect(idsOf(shuffled)).toEqual(idsOf(requests));
          expect(new Set(idsOf(requests)).size).toBe(requests.length);
        },
      ),
    );
  });

  test("the end of a request in progress does not change the order of others", () => {
    fc.assert(
      fc.property(someRequests, (requests) => {
        const before = orderRequests(requests).map(({ request }) => request);
        for (const over of requests.filter(({ state }) => state === "in-progress")) {
          const rest = before.filter((request) => request !== over);
          expect(idsOf(requests.filter((request) => request !== over))).toEqual(
            rest.map(({ id }) => id),
          );
        }
      }),
    );
  });

  test("the displayed order is the order in which they start", () => {
    fc.assert(
      fc.property(someRequests, (requests) => {
        const shown = orderRequests(requests.filter(({ state }) => state === "artifacts-ready"));
        let left = shown.map(({ request }) => request);
        const begun: string[] = [];
        while (left.length > 0) {
          const [first] = orderRequests(left);
          if (first === undefined) break;
          begun.push(first.request.id);
          const running = { ...first.request, state: "in-progress" as const, startedAt: day(90) };
          const rest = left.filter(({ id }) => id !== running.id);
          // While it runs, the rest has the same order as after its end.
          expect(idsOf([running, ...rest]).slice(1)).toEqual(idsOf(rest));
          left = rest;
        }
        expect(begun).toEqual(shown.map(({ request }) => request.id));
      }),
    );
  });
});
