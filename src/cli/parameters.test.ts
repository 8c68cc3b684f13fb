import { expect, test } from "vitest";
import { parametersOf } from "./parameters.ts";

test("a value is JSON where it is, and text where it is not", () => {
  expect(parametersOf(["n=3", "on=true", 'list=["a"]', "name=main", "eq=a=b", "none="])).toEqual({
    n: 3,
    on: true,
    list: ["a"],
    name: "main",
    eq: "a=b",
    none: "",
  });
});

test.each(["alone", "=3"])("%s is no parameter", (text) => {
  expect(() => parametersOf([text])).toThrow(/--param NAME=VALUE/);
});
