import { expect, test } from "vitest";
import { bodyOf, formOf } from "./branch-form.ts";

const empty = formOf(null);

test("an empty form sets nothing, so everything is inherited", () => {
  expect(bodyOf(empty)).toEqual({});
});

test.each([
  { protected: true, priorityCap: null, switches: { pgo: true, channel: "beta" } },
  { customisable: false, priorityCap: -5, parameters: { level: [1, 2] } },
  { source: { kind: "repository", repository: "defs", rev: "v1" } },
  { source: { kind: "directory", path: "/srv/defs" } },
] as const)("what is said comes back from its form: %j", (body) => {
  expect(bodyOf(formOf(body as never))).toEqual(body);
});

test("an invalid value gives a message", () => {
  expect(bodyOf({ ...empty, switches: "{pgo" })).toContain("Switches are not JSON");
  expect(bodyOf({ ...empty, priorityCap: "high" })).toContain("priorityCap");
  expect(bodyOf({ ...empty, sourceKind: "directory" })).toContain("source.path");
});
