import fc from "fast-check";
import { expect, test } from "vitest";
import { largePlan, madeUpGraph, type Plan, smallPlan } from "../../dev/made-up-graph.ts";
import { boxesOf } from "./boxes.ts";
import { layOut } from "./lay-out.ts";
import { layOutCarefully } from "./lay-out-carefully.ts";
import { layOutFast } from "./lay-out-fast.ts";
import type { Drawing, Layout } from "./layers.ts";

const about = { repository: "r", subject: "s", author: "a", rev: "main", createdAt: new Date(0) };

const drawingOf = (plan: Plan): Drawing => {
  const graph = madeUpGraph("g", plan, about);
  const { boxes, edges } = boxesOf(graph.jobList, graph.edges);
  return { sizes: boxes, edges };
};

const overlaps = (drawing: Drawing, layout: Layout) =>
  drawing.sizes.some((a, i) =>
    drawing.sizes.some(
      (b, j) =>
        i < j &&
        Math.abs((layout.x[i] ?? 0) - (layout.x[j] ?? 0)) < (a.width + b.width) / 2 - 0.5 &&
        Math.abs((layout.y[i] ?? 0) - (layout.y[j] ?? 0)) < (a.height + b.height) / 2 - 0.5,
    ),
  );

const anyDrawing: fc.Arbitrary<Drawing> = fc.integer({ min: 1, max: 40 }).chain((count) =>
  fc.record({
    sizes: fc.array(
      fc.record({ width: fc.constant(200), height: fc.integer({ min: 20, max: 300 }) }),
      {
        minLength: count,
        maxLength: count,
      },
    ),
    edges: fc
      .uniqueArray(fc.tuple(fc.nat(count - 1), fc.nat(count - 1)), {
        maxLength: 60,
        selector: ([from, to]) => `${from} ${to}`,
      })
      .map((edges) => edges.filter(([from, to]) => from < to)),
  }),
);

test.each([
  ["carefully", layOutCarefully],
  ["fast", layOutFast],
])("laid out %s, no boxes overlap, and what waits is to the right", (_, how) => {
  fc.assert(
    fc.property(anyDrawing, (drawing) => {
      const layout = how(drawing);
      expect(overlaps(drawing, layout)).toBe(false);
      for (const [from, to] of drawing.edges)
        expect(layout.x[from]).toBeLessThan(layout.x[to] ?? 0);
      for (const route of layout.routes) expect(route.length).toBeGreaterThanOrEqual(4);
    }),
    { numRuns: 50 },
  );
});

test("chunks of a suite become one block", () => {
  const graph = madeUpGraph("g", largePlan(1_000), about);
  const { boxes } = boxesOf(graph.jobList, graph.edges);

  expect(boxes.length).toBeLessThan(100);
  expect(boxes.flatMap((box) => box.jobs).length).toBe(1_000);
});

test("jobs of a small graph stay separate", () => {
  expect(drawingOf(smallPlan).sizes.length).toBe(smallPlan.length);
});

test.each([
  ["with many chunks", largePlan(1_000)],
  [
    "without any twins",
    Array.from({ length: 1_000 }, (_, n): Plan[number] =>
      n === 0
        ? ["a0"]
        : [
            `${"abcdefgh"[n % 8]}${n}x`,
            `${"abcdefgh"[Math.floor(n / 3) % 8] ?? "a"}${Math.floor(n / 3)}${n < 3 ? "" : "x"}`,
          ],
    ),
  ],
])("a thousand jobs %s are laid out", (_, plan) => {
  const layout = layOut(drawingOf(plan));

  expect(layout.width).toBeGreaterThan(0);
});
