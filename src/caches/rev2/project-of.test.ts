import { expect, test } from "vitest";
import { projectOf } from "./project-of.ts";

test.each([
  ["", "default"],
  ["default", "default"],
  ["main", "main"],
  ["team/repo.git", "team/repo.git"],
])("the instance %j is the project %j", (instanceName, project) => {
  expect(projectOf(instanceName)).toBe(project);
});

test.each([
  "/",
  "a/",
  "/a",
  "a//b",
  "a b",
  "blobs",
  "a/uploads/b",
  "a/..",
  "ä",
  "-a",
  "a".repeat(129),
])("the instance %j is refused", (instanceName) => {
  expect(() => projectOf(instanceName)).toThrow("the instance name");
});
