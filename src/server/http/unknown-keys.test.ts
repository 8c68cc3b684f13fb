import { expect, test } from "vitest";
import { z } from "zod";
import { unknownKeys } from "./unknown-keys.ts";

const Point = z.object({ x: z.number(), at: z.object({ y: z.number() }).optional() });

test.each<{ schema: z.ZodType; value: unknown; unknown: string[] }>([
  { schema: Point, value: { x: 1, at: { y: 2 } }, unknown: [] },
  { schema: Point, value: { x: 1, z: 2 }, unknown: ["z"] },
  { schema: Point, value: { x: 1, at: { y: 2, z: 3 } }, unknown: ["at.z"] },
  {
    schema: Point,
    value: { ["__proto__"]: 1, constructor: 2 },
    unknown: ["__proto__", "constructor"],
  },
  { schema: Point.nullable().default({ x: 1 }), value: { z: 2 }, unknown: ["z"] },
  { schema: z.array(Point), value: [{ x: 1 }, { z: 1 }], unknown: ["1.z"] },
  { schema: z.tuple([z.string(), Point]), value: ["a", { z: 1 }], unknown: ["1.z"] },
  { schema: z.record(z.string(), Point), value: { a: { z: 1 } }, unknown: ["a.z"] },
  { schema: z.record(z.string(), z.json()), value: { a: { z: 1 } }, unknown: [] },
  { schema: z.lazy(() => Point), value: { z: 1 }, unknown: ["z"] },
  { schema: Point.transform(({ x }) => x), value: { z: 1 }, unknown: ["z"] },
  { schema: Point.and(z.object({ b: z.number() })), value: { x: 1, b: 2, z: 3 }, unknown: ["z"] },
  { schema: z.strictObject({ a: Point }), value: { a: { z: 1 }, b: 1 }, unknown: ["a.z", "b"] },
  { schema: z.looseObject({ a: Point }), value: { a: { z: 1 }, b: 1 }, unknown: ["a.z"] },
  { schema: z.union([z.string(), Point]), value: "text", unknown: [] },
  { schema: z.union([z.string(), Point]), value: { x: 1, z: 1 }, unknown: ["z"] },
  {
    schema: z.discriminatedUnion("kind", [
      z.object({ kind: z.literal("a"), one: z.number() }),
      z.object({ kind: z.literal("b"), two: z.number(), z: z.number() }),
    ]),
    value: { kind: "a", one: 1, z: 2 },
    unknown: ["z"],
  },
  { schema: Point, value: "no object", unknown: [] },
])("of $value, $unknown are unknown", ({ schema, value, unknown }) => {
  expect(unknownKeys(schema, value).map(({ path, key }) => [...path, key].join("."))).toEqual(
    unknown,
  );
});
