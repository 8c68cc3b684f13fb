import { expect, test } from "vitest";
import { nodeProblem } from "./node-problem.ts";

test.each(["v20.12.0", "v20.20.2\n", "v22.1.0", "v100.0.0"])("%j will do", (version) => {
  expect(nodeProblem("attic", version, "node")).toBeUndefined();
});

test.each([
  { version: "", says: "attic has no node on the PATH" },
  { version: "v18.20.8", says: "attic has Node 18.20.8, which is too old: install Node 20.12" },
  { version: "v20.11.1", says: "too old" },
  { version: "Python 3.11", says: "is not Node: it prints Python 3.11" },
])("$version will not, and it is said what to do", ({ version, says }) => {
  expect(nodeProblem("attic", version, "node")).toContain(says);
});
