import assert from "node:assert/strict";
import type { HostileSuite } from "./case.ts";
import { forkPoisons } from "./fork-poisons.ts";
import { forkReaches, forkReads, forkStays } from "./fork-reads-and-stays.ts";
import { type Fork, type ForkCase, fresh, openFork, random, refused } from "./fork-target.ts";

/** A call of the API with the permissions of the pull request's author, and no others. */
function denied(
  name: string,
  call: (graph: string) => readonly [path: string, body: object],
): ForkCase {
  return {
    name,
    async run({ farm, onMain, mallory, run }) {
      const graph = await onMain(fresh(["sleep 0.5", random]));
      const [path, body] = call(graph);
      for (const headers of [mallory, {}]) {
        const { status } = await farm.ask(path, body, headers);
        assert([401, 403].includes(status), `${path} answered ${status}`);
      }
      assert.equal((await run(graph)).outcome, "succeeded");
    },
  };
}

const plain = { commands: "x", inputs: [] };
const choosing: readonly ForkCase[] = [
  refused(
    "picks the label of trusted workers",
    { a: { ...plain, platform: { pool: "trusted" } } },
    /pool=trusted/,
  ),
  refused(
    "picks a great size class",
    { a: { ...plain, platform: { "size-class": "9" } } },
    /size-class/,
  ),
  refused(
    "picks a least size class",
    { a: { ...plain, platform: { "min-size-class": "9" } } },
    /min-size-class/,
  ),
  refused(
    "makes further graphs",
    { a: { kind: "graph", commands: "x", inputs: [] } },
    /kind graph/,
  ),
  refused(
    "tells people by the farm",
    { a: { kind: "notify", to: "https://example.org/" } },
    /kind notify/,
  ),
  refused("is run by a machine outside", { a: { outside: true } }, /another machine/),
  refused(
    "reads other repositories by the farm's rights",
    { a: { ...plain, sources: [{ repository: "/etc", at: "x" }] } },
    /sources/,
  ),
  {
    name: "gives itself the highest priority",
    async run({ farm, onPull, run }) {
      const graph = await onPull(fresh(random, { priority: 1_000 }));
      await run(graph);
      const told = (await (await farm.ask(`/graphs/${graph}`)).json()) as {
        priorityCap?: number;
        priority: number;
      };
      assert(told.priority <= 0);
    },
  },
];

const others: readonly ForkCase[] = [
  denied("cancels a graph of main", (graph) => [`/graphs/${graph}/cancel`, {}]),
  denied("cancels a job of main", (graph) => [`/graphs/${graph}/jobs/a/cancel`, {}]),
  denied("hurries a graph", (graph) => [`/graphs/${graph}/priority`, { priority: 9 }]),
  denied("submits to main by itself", () => [
    "/graphs",
    { repository: "/nowhere", branch: "main" },
  ]),
  denied("keeps a secret of its own", () => [
    "/secrets",
    {
      name: "MAINS",
      repository: "*",
      branch: "main",
      value: Buffer.from("12345678").toString("base64"),
    },
  ]),
  denied("removes main's secret", () => [
    "/secrets/remove",
    { name: "MAINS", repository: "*", branch: "*" },
  ]),
];

/** A user sends a pull request from a fork, with definitions and commands that this user wrote. */
export const forkPullRequestSuite: HostileSuite<Fork> = {
  interface: "pull requests from forks",
  atLeast: 25,
  open: openFork,
  cases: [...forkPoisons, ...forkReads, ...forkReaches, ...forkStays, ...choosing, ...others],
};
