import { randomUUID } from "node:crypto";
import type { z } from "zod";
import type { ImportedResults, ImportResults } from "#api/benchmark-history.ts";
import type { Metric } from "#core/benchmark-metric.ts";
import { Fault } from "#core/fault.ts";
import { caseKey, type TestCase } from "#core/test-case.ts";
import type { Tx } from "#db/db.ts";
import { together } from "#db/together.ts";
import { suiteDigest } from "#suites/suite-digest.ts";
import { notifyBenchmarkChange } from "../change.store.ts";
import { keepEnvironment } from "../collectors/collector.store.ts";
import { environmentFingerprint } from "../collectors/environment-fingerprint.ts";
import { noteNewResults } from "../history/note-results.ts";
import {
  addArtifact,
  findArtifact,
  newestMaster,
  type StoredArtifact,
} from "../requests/artifact.store.ts";
import { deriveResult, insertIterations } from "../results/figures.store.ts";
import { figuresInOrder } from "../results/figures-in-order.ts";
import { caseIds, metricOrdinals } from "../results/name-figures.store.ts";
import { keepSuite, lockSuite } from "../suites.store.ts";
import { environmentIdOf, iterationsStored, lockSuiteOfImports } from "./import.store.ts";
import type { ImportedCase } from "./imported-case.ts";
import { importedBackend, suiteOfImports } from "./suite-of-imports.ts";

/** The collector name of figures that no collector measured. */
const importer = "import";

/**
 * Stores the measurements of another tool, as results of an artifact of a suite that only imports create.
 *
 * A repeated import changes nothing: results are append-only, and a second run of the tool on the same artifact and the
 * same kind of machine adds no iterations.
 */
export async function importResults(
  tx: Tx,
  given: z.output<typeof ImportResults>,
  imported: readonly ImportedCase[],
  by: string,
  now: Date,
): Promise<ImportedResults> {
  const metrics = metricsIn(imported);
  await keepSuiteOfImports(tx, given, imported, metrics, by, now);
  const artifact = await artifactOf(tx, given, now);
  const fingerprint = environmentFingerprint(given.environment);
  await keepEnvironment(tx, fingerprint, given.environment, now);
  const environmentId = await environmentIdOf(tx, fingerprint);
  const ordinals = await metricOrdinals(tx, given.suite, metrics);
  const higher = metrics
    .filter(({ better }) => better === "higher")
    .map(({ name }) => ordinals.get(name) ?? 0);
  const named = imported.map((each) => ({ ...each, case: caseOf(each, given.target) }));
  const ids = await caseIds(
    tx,
    given.suite,
    named.map((each) => each.case),
  );

  const jobId = randomUUID();
  let iterations = 0;
  let kept = 0;
  for (const each of named) {
    const caseId = ids.get(caseKey(each.case));
    if (caseId === undefined) throw new Error(`the case ${caseKey(each.case)} has no number`);
    const taken = {
      artifactId: artifact.id,
      caseId,
      environmentId,
      collector: importer,
      jobId,
      epoch: 0,
      at: now,
    };
    if ((await iterationsStored(tx, taken)) > 0) {
      kept += 1;
      continue;
    }
    const [added] = await together([
      insertIterations(
        tx,
        taken,
        each.iterations.map((values, i) => ({
          iteration: i + 1,
          sample: figuresInOrder(values, ordinals),
          warnings: [],
        })),
      ),
      deriveResult(tx, taken, higher),
    ]);
    iterations += added;
  }
  if (iterations > 0) await noteNewResults(tx, [artifact.id], now);
  await notifyBenchmarkChange(tx, given.suite);
  return { suite: given.suite, artifact: given.artifact, cases: named.length, iterations, kept };
}

/** Returns all metrics of an import; throws for two cases that define one metric differently. */
function metricsIn(imported: readonly ImportedCase[]): Metric[] {
  const found = new Map<string, Metric>();
  for (const { metrics, original } of imported) {
    for (const metric of metrics) {
      const before = found.get(metric.name);
      if (before !== undefined && before.unit !== metric.unit) {
        throw new Fault(
          "invalid_argument",
          `"${original.slice(0, 200)}" measures ${metric.name} in ${metric.unit}, others in ${before.unit}`,
        );
      }
      found.set(metric.name, before ?? metric);
    }
  }
  return [...found.values()];
}

async function keepSuiteOfImports(
  tx: Tx,
  { suite: name, target }: z.output<typeof ImportResults>,
  imported: readonly ImportedCase[],
  metrics: readonly Metric[],
  by: string,
  now: Date,
): Promise<void> {
  await lockSuiteOfImports(tx, name);
  const known = await lockSuite(tx, name);
  const suite = suiteOfImports(name, known?.definition, {
    target,
    metrics,
    benchmarks: imported.map(({ benchmark }) => benchmark),
  });
  await keepSuite(tx, suite, suiteDigest(suite), by, now);
}

async function artifactOf(
  tx: Tx,
  given: z.output<typeof ImportResults>,
  now: Date,
): Promise<StoredArtifact> {
  const known = await findArtifact(tx, given.suite, given.artifact);
  if (known !== undefined) return known;
  const datedAt = given.datedAt === undefined ? now : new Date(given.datedAt);
  const follows =
    given.parent === undefined
      ? await newestMaster(tx, given.suite, datedAt)
      : await findArtifact(tx, given.suite, given.parent);
  if (given.parent !== undefined && follows === undefined) {
    throw new Fault(
      "not_found",
      `no results of ${given.parent} are imported yet: import them first, or omit the parent`,
    );
  }
  return addArtifact(
    tx,
    {
      suite: given.suite,
      tag: given.artifact,
      kind: given.kind,
      datedAt,
      components: {},
      parentId: follows?.id ?? null,
    },
    now,
  );
}

function caseOf({ benchmark }: ImportedCase, target: string): TestCase {
  return {
    section: "runtime",
    benchmark,
    profile: "",
    scenario: "",
    backend: importedBackend,
    target,
  };
}
