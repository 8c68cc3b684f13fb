import { describe, expect, test } from "vitest";
import { type JsonSchema, shapeStrays, strays } from "./json-shape.ts";

const user: JsonSchema = {
  type: "object",
  required: ["login", "id"],
  properties: {
    login: { type: "string" },
    id: { type: "integer" },
    url: { type: "string", format: "uri" },
  },
};
const comment: JsonSchema = {
  type: "object",
  required: ["user", "at"],
  properties: {
    user: { $ref: "#/components/schemas/user" },
    at: { type: "string", format: "date-time" },
    state: { type: "string", enum: ["open", "closed"] },
    by: { nullable: true, type: "object", properties: {} },
    labels: {
      type: "array",
      items: {
        anyOf: [{ type: "string" }, { type: "object", properties: { name: { type: "string" } } }],
      },
    },
  },
};
const named = () => user;
const good = { user: { login: "a", id: 1 }, at: "2026-01-01T00:00:00Z" };

describe("compared with a schema", () => {
  test.each([
    ["what fits", good, []],
    ["an id of many digits", { ...good, user: { login: "a", id: 2n ** 60n } }, []],
    ["null where it may be", { ...good, by: null }, []],
    ["any of several", { ...good, labels: ["x", { name: "y" }] }, []],
    ["a missing field", { ...good, user: { login: "a" } }, ["$.user.id is missing"]],
    ["another type", { ...good, user: { login: 1, id: 1 } }, ["$.user.login: number, not string"]],
    ["null where it may not be", { ...good, user: null }, ["$.user: null, not object"]],
    ["a field without a description", { ...good, extra: 1 }, ["$.extra is not described"]],
    [
      "another word",
      { ...good, state: "merged" },
      ['$.state: "merged" is none of ["open","closed"]'],
    ],
    ["no time", { ...good, at: "yesterday" }, ["$.at: no time"]],
    ["no address", { ...good, user: { login: "a", id: 1, url: "x" } }, ["$.user.url: no address"]],
    ["none of several", { ...good, labels: [1] }, ["$.labels[0]: number, not string"]],
  ])("%s", (_, value, expected) => {
    expect(strays(value, comment, named)).toEqual(expected);
  });
});

describe("compared with an example", () => {
  test.each([
    ["the same fields", { a: 1, b: { c: "x" } }, []],
    ["more fields", { a: 1, b: { c: "x", d: 1 } }, []],
    ["a missing field", { a: 1, b: {} }, ["$.b.c is missing"]],
    ["another type", { a: "1", b: { c: "x" } }, ["$.a: string, not number"]],
    ["no object", { a: 1, b: [] }, ["$.b: no object"]],
  ])("%s", (_, value, expected) => {
    expect(shapeStrays(value, { a: 1, b: { c: "x" } })).toEqual(expected);
  });
});
