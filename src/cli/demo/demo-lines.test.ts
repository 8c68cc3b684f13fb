import { expect, test } from "vitest";
import { leftOutLine, measuredLine, remoteBuildLine } from "./demo-lines.ts";

test.each([
  { tools: { hasCompiler: false, hasCcache: true }, says: /no C compiler/ },
  { tools: { hasCompiler: true, hasCcache: false }, says: /ccache 4\.7 is not installed/ },
])("what is left out is said with its reason: $says", ({ tools, says }) => {
  expect(leftOutLine(tools)).toMatch(says);
});

test("nothing is said where nothing is left out", () => {
  expect(leftOutLine({ hasCompiler: true, hasCcache: true })).toBeUndefined();
});

test("a line names the page to look at", () => {
  const first = { invocation: "one", actions: 8, cached: 0 };
  const second = { invocation: "two", actions: 8, cached: 8 };

  expect(remoteBuildLine("http://farm:1", first, second)).toBe(
    "  remote execution: 8 actions, the second time 8 of them from the cache: http://farm:1/invocations/one",
  );
  expect(measuredLine({ commits: 6, worse: 2, cases: 3, url: "http://farm:1/x?a=b" })).toContain(
    "slower in 2 of 3 cases: 'http://farm:1/x?a=b'",
  );
});
