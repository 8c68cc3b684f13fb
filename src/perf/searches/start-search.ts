import { randomUUID } from "node:crypto";
import type { z } from "zod";
import type { StartBenchmarkSearch } from "#api/benchmark-history.ts";
import { Fault } from "#core/fault.ts";
import { caseKey } from "#core/test-case.ts";
import type { Tx } from "#db/db.ts";
import { planCases, setOf } from "#suites/plan-cases.ts";
import { Suite } from "#suites/suite.ts";
import { caseIds } from "../results/name-figures.store.ts";
import {
  artifactsOfTags,
  BenchmarkSearchId,
  definitionOf,
  type EndRow,
  insertBenchmarkSearch,
} from "./search.store.ts";

/** Starts a search; its requests are made when searches are advanced. */
export async function startBenchmarkSearch(
  tx: Tx,
  wanted: z.output<typeof StartBenchmarkSearch>,
  by: string,
  now: Date,
): Promise<BenchmarkSearchId> {
  const definition = await definitionOf(tx, wanted.suite);
  if (definition === undefined) {
    throw new Fault(
      "not_found",
      `there is no suite "${wanted.suite}"; \`grange bench suite list\` lists them`,
    );
  }
  const suite = Suite.parse(definition);
  const metric = wanted.metric ?? suite.headline;
  requireMetric(suite, metric);
  requireCase(suite, wanted);
  const [from, to] = endsOf(
    wanted,
    await artifactsOfTags(tx, wanted.suite, [wanted.from, wanted.to]),
  );
  const id = BenchmarkSearchId.parse(randomUUID());
  const caseId = (await caseIds(tx, wanted.suite, [wanted.case])).get(caseKey(wanted.case));
  if (caseId === undefined) throw new Error(`the case ${caseKey(wanted.case)} has no number`);
  await insertBenchmarkSearch(tx, {
    id,
    suite: wanted.suite,
    kind: wanted.kind,
    caseId,
    metric,
    fromId: from.id,
    toId: to.id,
    every: wanted.kind === "scan" ? String(wanted.every ?? 1) : null,
    least: wanted.least,
    requestedBy: by,
    createdAt: now,
  });
  return id;
}

function requireMetric(suite: Suite, metric: string): void {
  if (Object.hasOwn(suite.metrics, metric)) return;
  throw new Fault(
    "invalid_argument",
    `the suite "${suite.suite}" has no metric "${metric}"; it has ${Object.keys(suite.metrics).toSorted().join(", ")}`,
  );
}

function requireCase(suite: Suite, { case: wanted }: z.output<typeof StartBenchmarkSearch>): void {
  const defined = suite[wanted.section]?.benchmarks[wanted.benchmark];
  const set = defined === undefined ? 0 : setOf(wanted.section, defined);
  const { section, target, backend, profile, benchmark } = wanted;
  const planned = planCases(suite, {
    section,
    target,
    backend,
    profile,
    set,
    benchmarks: [benchmark],
  });
  const key = caseKey(wanted);
  if (planned.some((each) => caseKey(each) === key)) return;
  const near = planned
    .slice(0, 5)
    .map((each) => `"${caseKey(each)}"`)
    .join(", ");
  throw new Fault(
    "invalid_argument",
    `the suite "${suite.suite}" has no case "${key}"${near === "" ? "" : `; of that benchmark it has ${near}`}`,
  );
}

function endsOf(
  wanted: z.output<typeof StartBenchmarkSearch>,
  found: readonly EndRow[],
): readonly [EndRow, EndRow] {
  const end = (tag: string) => {
    const artifact = found.find((each) => each.tag === tag);
    if (artifact !== undefined) return artifact;
    throw new Fault(
      "not_found",
      `the suite "${wanted.suite}" knows no artifact "${tag}"; \`grange bench artifacts --suite ${wanted.suite}\` lists them`,
    );
  };
  const [from, to] = [end(wanted.from), end(wanted.to)];
  if (from.kind !== to.kind || from.kind === "try") {
    throw new Fault(
      "invalid_argument",
      `${from.tag} is a ${from.kind} artifact and ${to.tag} a ${to.kind} one: a search follows the main branch or the releases`,
    );
  }
  const before =
    from.dated_at < to.dated_at || (+from.dated_at === +to.dated_at && from.tag < to.tag);
  if (!before) {
    throw new Fault("invalid_argument", `${from.tag} does not come before ${to.tag}`);
  }
  return [from, to];
}
