import { expect, test } from "vitest";
import type { GraphSummary } from "#api/graph.ts";
import { madeUpGraph, smallPlan } from "../dev/made-up-graph.ts";
import { isNews } from "./is-news.ts";

const graph = (id: string, hour: number, version = 1): GraphSummary => ({
  ...madeUpGraph(id, smallPlan, {
    repository: "grange",
    subject: "A commit",
    author: "Ada",
    rev: "main",
    createdAt: new Date(Date.UTC(2026, 0, 1, hour)),
  }),
  version,
});
const list = [graph("new", 12), graph("old", 10)];

test.each([
  { what: "a graph that was loaded", heard: graph("new", 12), expected: false },
  { what: "a newer version of it", heard: graph("new", 12, 2), expected: true },
  { what: "a new graph", heard: graph("newest", 13), expected: true },
  {
    what: "a graph within the list, as a filter leaves out",
    heard: graph("other", 11),
    expected: true,
  },
  { what: "a graph of an older page", heard: graph("older", 9), expected: false },
])("$what is news: $expected", ({ heard, expected }) => {
  expect(isNews(list, heard)).toBe(expected);
});

test("every graph is news for an empty list", () => {
  expect(isNews([], graph("any", 1))).toBe(true);
});
