import { DefinitionDigest } from "#definitions/catalog.ts";
import type { JobDefinition } from "#definitions/job-definition.ts";
import { mapInTurns } from "#scheduling/turns.ts";
import type { TemplateCatalog } from "./template-catalog.ts";

/** A job of an existing graph, as it was stored. */
export interface StoredJob {
  readonly name: string;
  readonly digest: DefinitionDigest;
  readonly definition: JobDefinition;
}

/**
 * The jobs of a graph as definitions, under the digest of the graph's own catalog.
 *
 * Their placeholders were filled: text that looks like a placeholder now is escaped, so that it stays text. An optional
 * need of a job that the graph did not have is left out, because definitions must contain all jobs that they name.
 */
export async function catalogOfJobs(
  digest: string,
  jobs: readonly StoredJob[],
): Promise<TemplateCatalog> {
  const names = new Set(jobs.map(({ name }) => name));
  return {
    digest: DefinitionDigest.parse(digest),
    entries: await mapInTurns(jobs, (job) => ({
      kind: "job" as const,
      name: job.name,
      digest: job.digest,
      body: literal(withNeedsAmong(job.definition, names)),
    })),
  };
}

function withNeedsAmong(definition: JobDefinition, names: ReadonlySet<string>): JobDefinition {
  const { needs } = definition;
  if (needs === undefined || Object.keys(needs).every((on) => names.has(on))) return definition;
  const left = Object.entries(needs).filter(
    ([on, need]) => names.has(on) || need.optional !== true,
  );
  return { ...definition, needs: Object.fromEntries(left) };
}

/** Returns a value in a form that JSON-e returns unchanged. */
function literal(value: unknown): unknown {
  if (typeof value === "string") return literalText(value);
  if (Array.isArray(value)) return value.map(literal);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [
      literalText(key.startsWith("$") && !key.startsWith("${") ? `$${key}` : key),
      literal(part),
    ]),
  );
}

function literalText(text: string): string {
  return text.split("${").join("$${");
}
