import { describe, expect, test } from "vitest";
import { groupOf, markedPage, navigationGroups, pageAbove } from "./navigation.ts";

describe("the group of a page", () => {
  test.each([
    { path: "/repositories/app/branches", group: "Commits" },
    { path: "/graphs/0199/jobs/unit", group: "Commits" },
    { path: "/executions/0199", group: "Builds" },
    { path: "/size-class-keys/a", group: "Workers" },
    { path: "/size-classes", group: "Workers" },
    { path: "/granary/builds/1", group: "Cache" },
    { path: "/", group: undefined },
    { path: "/sign-in", group: undefined },
    { path: "/newcomers", group: undefined },
  ])("$path is in $group", ({ path, group }) => {
    expect(groupOf(path)?.label).toBe(group);
  });

  test("contains the page that the group opens with", () => {
    for (const group of navigationGroups) expect(groupOf(group.pages[0].to)).toBe(group);
  });
});

describe("the page above", () => {
  test.each([
    { path: "/repositories/app/branches", above: "/repositories" },
    { path: "/graphs/0199/jobs/unit", above: "/repositories" },
    { path: "/executions/0199", above: "/invocations" },
    { path: "/size-class-keys/a", above: "/size-classes" },
    { path: "/granary/builds/1", above: "/granary" },
    { path: "/repositories", above: undefined },
    { path: "/", above: undefined },
    { path: "/sign-in", above: undefined },
  ])("$path is $above", ({ path, above }) => {
    expect(pageAbove(path)?.to).toBe(above);
  });
});

describe("the marked page", () => {
  test.each([
    { path: "/repositories/app/branches", marked: "Repositories" },
    { path: "/graphs/0199", marked: "Repositories" },
    { path: "/executions/0199", marked: "Invocations" },
    { path: "/size-class-keys/a", marked: "Size classes" },
    { path: "/workers", marked: "Workers" },
    { path: "/workers/timeline", marked: "Timeline" },
    { path: "/flaky", marked: "Flaky" },
    { path: "/", marked: undefined },
  ])("of $path is $marked", ({ path, marked }) => {
    expect(markedPage(path)?.label).toBe(marked);
  });
});
