import { DefinitionDigest } from "#definitions/catalog.ts";
import type { JobDefinition } from "#definitions/job-definition.ts";
import { mapInTurns } from "#scheduling/turns.ts";
import type { TemplateCatalog } from "./template-catalog.ts";

/** A job of a graph that was made, as it was stored. */
export interface StoredJob {
  readonly name: string;
  readonly digest: DefinitionDigest;
  readonly definition: JobDefinition;
}

/**
 * The jobs of a graph as definitions, under the digest of the graph's own catalog.
 *
 * Their holes were filled: what looks like a hole now is text, and is written so that it stays text. A need that is
 * optional, of a job that the graph did not have, is left out: definitions must have all jobs that they name.
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

/** A value as JSON-e gives it back unchanged. */
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
