import fc from "fast-check";
import { expect, test } from "vitest";
import { preferPrefetchedWorker, swapAssignments } from "./prefer-prefetched-worker.ts";

const waiting = (id: string, lane = 1, priority = 0) => ({
  id: id as never,
  lane,
  priority,
  sizeClass: 1,
});

const kept = (owners: Readonly<Record<string, string>>) => (id: string) => owners[id];
const notFixed = () => false;

test.each([
  { what: "what is told to it", owners: { c: "me" }, first: "c" },
  { what: "what is nobody's before what is another's", owners: { a: "another" }, first: "b" },
  { what: "its own before what is nobody's", owners: { a: "another", c: "me" }, first: "c" },
  { what: "what goes first where nobody was told", owners: {}, first: "a" },
  { what: "nothing of another lane or priority", owners: { x: "me", y: "me" }, first: "a" },
  {
    what: "another's, where there is nothing else",
    owners: { a: "o", b: "o", c: "o" },
    first: "a",
  },
])("a worker gets $what", ({ owners, first }) => {
  const ordered = [waiting("a"), waiting("x", 2), waiting("y", 1, 5), waiting("b"), waiting("c")];

  const placed = preferPrefetchedWorker(ordered, 1, new Set(["me"]), kept(owners), notFixed);

  expect(placed[0]?.id).toBe(first);
});

test("a fixed assignment is not changed", () => {
  const ordered = [waiting("a"), waiting("b")];
  const all = () => true;

  expect(preferPrefetchedWorker(ordered, 1, new Set(["me"]), kept({ b: "me" }), all)).toEqual(
    ordered,
  );
});

test("whichever workers were told about an execution, each lane keeps its turns, and no execution is lost", () => {
  const candidate = fc.record({
    lane: fc.integer({ min: 1, max: 3 }),
    owner: fc.option(fc.constantFrom("a", "b", "c")),
  });
  fc.assert(
    fc.property(fc.array(candidate, { maxLength: 30 }), fc.nat(10), (all, assignments) => {
      const ordered = all.map(({ lane }, i) => waiting(`e${i}`, lane));
      const keptFor = (id: string) => all[Number(id.slice(1))]?.owner ?? undefined;

      const placed = preferPrefetchedWorker(
        ordered,
        assignments,
        new Set(["a"]),
        keptFor,
        notFixed,
      );

      expect(placed.map(({ lane }) => lane)).toEqual(ordered.map(({ lane }) => lane));
      expect(new Set(placed)).toEqual(new Set(ordered));
    }),
  );
});

test("workers of one round exchange their executions", () => {
  const assignments = ["a", "b", "c", "a"].map((instanceId) => ({ instanceId }));
  const ids = ["1", "2", "3", "4"] as never[];

  const taking = swapAssignments(assignments, ids, kept({ 1: "b", 3: "a", 4: "nobody" }));

  expect(taking.map(({ instanceId }) => instanceId)).toEqual(["b", "c", "a", "a"]);
});
