import type { GraphSummary } from "#api/graph.ts";
import { printableLine } from "../terminal/printable-text.ts";
import type { RemoteBuildSummary } from "./build-remotely.ts";
import type { CcacheSummary } from "./build-with-ccache.ts";
import type { DemoTools } from "./demo-steps.ts";
import type { MeasuredSummary } from "./measure-commits.ts";

/** Returns the lines that the demo prints: one for each step, with the address of a page. */

export function demoProjectLine(path: string, commits: number): string {
  return `The demo project: ${path} (${commits} commits)`;
}

/** Undefined when nothing is left out. */
export function leftOutLine({ hasCompiler, hasCcache }: DemoTools): string | undefined {
  if (!hasCompiler)
    return "Not included: the jobs of the C library and ccache, because this machine has no C compiler (cc).";
  if (!hasCcache)
    return "Not included: the build with ccache, because ccache 4.7 is not installed.";
  return undefined;
}

export function graphLine(url: string, number: number, graph: GraphSummary): string {
  const subject = printableLine(graph.subject);
  return `  commit ${number} ${graph.state.padEnd(9)}  ${subject}: ${graphUrl(url, graph)}`;
}

export function releaseLine(url: string, graph: GraphSummary): string {
  return `  release waits at its breakpoint until you release it: ${graphUrl(url, graph)}`;
}

export function remoteBuildLine(
  url: string,
  first: RemoteBuildSummary,
  second: RemoteBuildSummary,
): string {
  const page = new URL(`/invocations/${first.invocation}`, url).href;
  return `  remote execution: ${first.actions} actions, the second time ${second.cached} of them from the cache: ${page}`;
}

export function ccacheLine({ compilations, hits }: CcacheSummary): string {
  return `  ccache: ${compilations} compilations, the second time ${hits} of them from the farm`;
}

export function measuredLine({ commits, worse, cases, url }: MeasuredSummary): string {
  return `  benchmarks of ${commits} commits: commit 5 is slower in ${worse} of ${cases} cases: '${url}'`;
}

/** Returns the last lines: the first pages to open. */
export function tourLines(url: string, path: string): string[] {
  return [
    "The demo is complete. See:",
    `  each commit and its graph: ${url}/repositories/concordance`,
    `  builds of tools:           ${url}/invocations`,
    `  benchmarks:                ${url}/benchmarks/graphs?suite=concordance`,
    `  your own change: commit it in ${path}, then run it at ${url}/new`,
    "docs/demo.md explains what you see. For your own project: npm start -- --repo PATH",
  ];
}

function graphUrl(url: string, graph: GraphSummary): string {
  return new URL(`/graphs/${graph.id}`, url).href;
}
