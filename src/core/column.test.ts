import { expect, test } from "vitest";
import { z } from "zod";
import {
  enumColumn,
  IndexColumn,
  NullableNumberColumn,
  NumberColumn,
  nullableEnumColumn,
  StringColumn,
} from "./column.ts";

const Colour = z.enum(["red", "green"]);
const columns = [
  { name: "numbers", shape: NumberColumn, item: z.number() },
  { name: "numbers or null", shape: NullableNumberColumn, item: z.number().nullable() },
  { name: "indexes", shape: IndexColumn, item: z.number().int().nonnegative() },
  { name: "strings", shape: StringColumn, item: z.string() },
  { name: "enums", shape: enumColumn(Colour), item: Colour },
  { name: "enums or null", shape: nullableEnumColumn(Colour), item: Colour.nullable() },
];
const values = [0, 1, -1, 1.5, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY, "red", "blue", null]
  .map((value): unknown => value)
  .concat([undefined, {}, [], true]);

test.each(columns)("a column of $name accepts what an array of zod accepts", ({ shape, item }) => {
  const ofZod = z.array(item);
  const tried = [
    ...values.flatMap((value) => [[value], [value, 0], ["red", value]]),
    [],
    ...values,
  ];
  const accepted = tried.filter((each) => shape.safeParse(each).success);

  expect(accepted).toEqual(tried.filter((each) => ofZod.safeParse(each).success));
  expect(accepted.length).toBeLessThan(tried.length);
});

test.each(columns)("the schema of a column of $name is that of an array", ({ shape, item }) => {
  const { type, items } = z.toJSONSchema(shape, { unrepresentable: "any" });
  const ofItem = z.fromJSONSchema(items as Parameters<typeof z.fromJSONSchema>[0]);

  expect(type).toBe("array");
  for (const value of [0, -1, 1.5, "red", "blue", null]) {
    expect(ofItem.safeParse(value).success).toBe(item.safeParse(value).success);
  }
});

test("a value of a column that is not valid is an error of the whole answer", () => {
  const shape = z.object({ times: NumberColumn });

  expect(shape.safeParse({ times: [1, "2"] }).error?.issues).toMatchObject([
    { path: ["times"], message: "Invalid input: expected an array of number" },
  ]);
});
