import { expect, test } from "vitest";
import { pageAddress, pageLine } from "./page-address.ts";

const farm = "http://farm:8980/";

test("a page's address has its words encoded, and leaves out those that are not given", () => {
  const query = { suite: "toy", case: "compile a & b - x", metric: undefined };
  const address = pageAddress(farm, ["series"], query);
  expect(address).toBe(
    "http://farm:8980/benchmarks/series?suite=toy&case=compile%20a%20%26%20b%20-%20x",
  );
  expect(Object.fromEntries(new URL(address).searchParams)).toEqual({
    suite: "toy",
    case: "compile a & b - x",
  });
});

test.each(["5.10", "98e123456789", "281637299013", "true"])(
  "%s is a text to the pages, and no number",
  (tag) => {
    const written = new URL(pageAddress(farm, ["compare"], { after: tag })).searchParams;
    expect(JSON.parse(written.get("after") ?? "")).toBe(tag);
  },
);

test("what a shell would take apart stands in quotes, and has none inside", () => {
  expect(pageLine(farm, ["compare"], { before: "it's", after: "b" })).toBe(
    "page: 'http://farm:8980/benchmarks/compare?before=it%27s&after=b'",
  );
  expect(pageLine(farm, [])).toBe("page: http://farm:8980/benchmarks");
});
