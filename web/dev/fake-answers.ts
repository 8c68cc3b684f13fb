import { Branch, type BranchBody, SetBranch } from "#api/branch.ts";
import { CatalogDetail, CatalogDiff } from "#api/catalog.ts";
import { type Graph, SubmittedGraph } from "#api/graph.ts";
import { GraphPreview, PreviewGraph } from "#api/preview.ts";
import { GraphSet } from "#api/rerun.ts";
import { SubmitGraph } from "#api/submit-graph.ts";
import { type FakeFarm, summaryOf } from "./fake-farm.ts";
import { FakeRefusal } from "./fake-refusal.ts";
import { commitFor, madeUpGraph, type Plan } from "./made-up-graph.ts";

const catalog = commitFor("catalog").repeat(2).slice(0, 64);
const aTime = "2026-01-01T12:00:00Z";

const plan: Plan = [["install"], ["lint", "install"], ["unit", "install"], ["pgo", "unit"]];

interface Requested {
  readonly switches?: Record<string, unknown>;
  readonly graph?: string | undefined;
  readonly select?: string | undefined;
}

/** Returns the jobs of a choice: the switch `pgo` adds a job, the graph `tests` leaves one out; a name selects. */
function jobsOf({ switches, graph, select }: Requested): Plan {
  const chosen = plan.filter(([name]) =>
    name === "pgo" ? switches?.pgo === true : name !== "lint" || graph !== "tests",
  );
  const named = select?.match(/^name:(\S+)$/)?.[1];
  if (named === undefined) return chosen;
  const needs = new Map(chosen.map(([name, ...on]) => [name, on]));
  const wanted = new Set([named]);
  // Adding to the set while it is iterated is intended.
  for (const name of wanted) for (const on of needs.get(name) ?? []) wanted.add(on);
  return chosen.filter(([name]) => wanted.has(name));
}

export function fakePreview(body: unknown): GraphPreview {
  const asked = PreviewGraph.parse(body);
  const chosen = jobsOf(asked);
  return GraphPreview.parse({
    repository: asked.repository ?? null,
    branch: "main",
    commit: commitFor(asked.rev ?? "HEAD"),
    catalog,
    rendered: catalog,
    parameters: { level: 3, ...asked.parameters },
    switches: { pgo: false, ...asked.switches },
    jobs: chosen.map(([name, ...on]) => ({
      name,
      kind: "command",
      state: on.length === 0 ? "ready" : "blocked",
      tags: {},
      definition: name,
      expectedMs: name === "pgo" ? null : 60_000,
      hasResult: name === "install",
    })),
    edges: chosen.flatMap(([job, ...on]) =>
      on.map((each) => ({ job, on: each, condition: "success" })),
    ),
    expectedMs: 120_000,
    criticalPathMs: 60_000,
  });
}

export function fakeSubmission(farm: FakeFarm, body: unknown): SubmittedGraph {
  const asked = SubmitGraph.parse(body);
  farm.submissions.push(asked);
  const id = asked.id ?? "submitted";
  const graph: Graph = farm.add(
    madeUpGraph(id, jobsOf(asked), {
      repository: asked.repository.split("/").at(-1) ?? "",
      subject: "Submitted in the page",
      author: "Ada",
      rev: asked.rev,
      createdAt: new Date(),
    }),
  );
  return SubmittedGraph.parse({ id, url: `/graphs/${id}`, graph: summaryOf(graph) });
}

export function fakeCatalog(): CatalogDetail {
  const entry = (kind: string, name: string, body: unknown) => ({ kind, name, digest: name, body });
  return CatalogDetail.parse({
    holds: "templates",
    digest: catalog,
    createdAt: aTime,
    counts: { job: 4, switch: 1, parameter: 1, graph: 1 },
    entries: [
      ...plan.map(([name]) => entry("job", name, { commands: name })),
      entry("switch", "pgo", { description: "Build with profiles" }),
      entry("parameter", "level", { type: "number", default: 3 }),
      entry("graph", "tests", { description: "What a push wants" }),
    ],
  });
}

export function fakeCatalogDiff(a: string, b: string): CatalogDiff {
  const none = { added: [], removed: [], changed: [] };
  const side = (written: string) => ({ written, digest: catalog, repository: null, branch: null });
  if (a === "nowhere") throw new FakeRefusal(404, "not_found", "there is no catalog nowhere");
  return CatalogDiff.parse({
    a: side(a),
    b: side(b),
    same: a === b,
    jobs:
      a === b
        ? none
        : {
            added: ["fuzz"],
            removed: ["old-lint"],
            changed: [{ name: "unit", parts: [{ path: "timeout", before: "10m", after: "20m" }] }],
          },
    parameters: none,
    switches: none,
    graphs: none,
    edges: a === b ? [] : [{ job: "fuzz", on: "install", before: null, after: "success" }],
    switchValues: [],
  });
}

export function fakeSet(farm: FakeFarm, id: string): GraphSet {
  const graphs = [...farm.graphs.values()].filter((graph) => graph.set === id);
  return GraphSet.parse({ id, name: graphs[0]?.setName ?? null, graphs: graphs.map(summaryOf) });
}

function said(farm: FakeFarm, repository: string, branch: string): Branch {
  const history = farm.branchChanges.get(`${repository} ${branch}`) ?? [];
  const own: BranchBody | null = history[0]?.body ?? null;
  const isProtected = own?.protected ?? branch === "release";
  return Branch.parse({
    repository,
    branch,
    own,
    resolved: {
      protected: isProtected,
      customisable: own?.customisable ?? !isProtected,
      priorityCap: own?.priorityCap ?? null,
      switches: own?.switches ?? {},
      parameters: own?.parameters ?? {},
      source: own?.source ?? { kind: "commit" },
    },
    history,
    catalog:
      branch === "*" ? null : { branch, catalog, commit: null, setBy: "anyone", since: aTime },
    next: { catalog: branch === "*" ? null : catalog, commit: null, problem: null },
    noticed: null,
  });
}

export const fakeBranches = (farm: FakeFarm, repository: string): Branch[] =>
  ["*", "main", "release"].map((branch) => said(farm, repository, branch));

export function setFakeBranch(
  farm: FakeFarm,
  repository: string,
  branch: string,
  body: unknown,
): Branch {
  const asked = SetBranch.parse(body);
  const key = `${repository} ${branch}`;
  const history = farm.branchChanges.get(key) ?? [];
  const latest = history[0]?.number ?? 0;
  if (asked.after !== undefined && asked.after < latest) {
    throw new FakeRefusal(409, "failed_precondition", "somebody else changed it meanwhile");
  }
  const change = {
    number: latest + 1,
    body: asked.body,
    setBy: "anyone",
    why: asked.why ?? null,
    setAt: new Date().toISOString(),
  };
  if (!asked.dryRun) farm.branchChanges.set(key, [change, ...history]);
  return said(farm, repository, branch);
}
