import { join, relative } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { defaultProject } from "#core/default-project.ts";
import { namespaceOf, namespacesDirectory, ownNamespace } from "./namespace.ts";

const hostile = fc.oneof(
  fc.string({ unit: "binary", maxLength: 300 }),
  fc.constantFrom("..", "../..", "/", "/etc", "a/../../b", "\0", "CON", ".", "a\\..\\b", " "),
);

test("the default project's is the store itself", () => {
  expect(namespaceOf(defaultProject)).toBe(ownNamespace);
});

test("whatever a project is called, its namespace is one short directory among the others", () => {
  fc.assert(
    fc.property(
      hostile.filter((project) => project !== defaultProject),
      (project) => {
        const below = relative(namespacesDirectory, join(namespaceOf(project)));
        expect(below).toMatch(/^[a-z0-9-]{1,80}$/);
      },
    ),
    { numRuns: 2_000 },
  );
});

test("two projects have two namespaces, on file systems that ignore case, too", () => {
  fc.assert(
    fc.property(hostile, hostile, (one, other) => {
      fc.pre(one !== other);
      expect(namespaceOf(one).toLowerCase()).not.toBe(namespaceOf(other).toLowerCase());
    }),
    { numRuns: 2_000 },
  );
  const alike = [
    "team/a",
    "Team/a",
    "team-a",
    "team.a",
    "te\u0301am",
    "t\u00e9am",
    `${"a".repeat(60)}b`,
    `${"a".repeat(60)}c`,
  ];
  expect(new Set(alike.map((project) => namespaceOf(project).toLowerCase())).size).toBe(
    alike.length,
  );
});
