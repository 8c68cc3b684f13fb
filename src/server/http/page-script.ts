/**
 * Returns the name of the script that a page needs besides `first.js`, which loads it once it has run. Undefined when it
 * is not known: the page then loads it as late as before.
 *
 * The groups of pages are in `scripts/page-graph.mjs`; the test of every page compares them with this list.
 */
export function scriptOfPage(path: string): string | undefined {
  const segments = path.split("/").filter((segment) => segment !== "");
  const [first = "", second, third] = segments;
  switch (first) {
    case "":
    case "repositories":
    case "new":
    case "times":
    case "flaky":
    case "searches":
    case "catalogs":
      return "commits.js";
    case "graphs":
      return third === "jobs" ? "job.js" : "graph.js";
    case "sets":
      return "graph.js";
    case "invocations":
      return second === undefined ? "builds.js" : "build.js";
    case "connect":
      return "builds.js";
    case "executions":
    case "targets":
      return "build.js";
    case "workers":
    case "size-classes":
    case "size-class-keys":
      return "workers.js";
    case "benchmarks":
      return scriptOfBenchmarkPage(second ?? "");
    case "granary":
    case "cache":
      return "granary.js";
    case "retention":
    case "rights":
    case "forge":
    case "share-links":
    case "sign-in":
      return "administration.js";
    case "shared":
      return "share.js";
    default:
      return undefined;
  }
}

function scriptOfBenchmarkPage(page: string): string {
  switch (page) {
    case "graphs":
    case "noise":
    case "series":
      return "plots.js";
    case "compare":
      return "comparison.js";
    default:
      return "benchmarks.js";
  }
}
