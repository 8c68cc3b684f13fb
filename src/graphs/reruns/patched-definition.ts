import { canonicalJson } from "#core/canonical-json.ts";
import { Fault } from "#core/fault.ts";
import { hidden } from "#core/hide-secrets.ts";
import type { CatalogEntry } from "#definitions/catalog.ts";
import { catalogOf } from "#definitions/catalog.ts";
import { DefinitionProblems } from "#definitions/definition-problems.ts";
import type { JobDefinition } from "#definitions/job-definition.ts";
import { parseJob } from "#definitions/parse-job.ts";
import type { Json } from "./definition-changes.ts";
import { type JsonObject, mergePatch } from "./json-merge-patch.ts";

/** The keys that identify a job in its graph: its edges are stored, and other jobs depend on its kind. */
const fixedKeys: Readonly<Record<string, string>> = {
  kind: "the kind of a job cannot be changed in a graph",
  needs: "the edges of a graph are fixed: waive one, or submit other definitions",
  "inputs-from": "which job finds the inputs is fixed, as all edges are: submit other definitions",
  when: "the job is in the graph already: deactivate it instead",
  protect: "only the definition of a job can protect it",
};

/**
 * Returns a job's definition with a patch, under its own name.
 *
 * Checked like any definition: throws `DefinitionProblems`. Throws `permission_denied` for a protected job, whoever the
 * caller is.
 */
export function patchedDefinition(
  name: string,
  template: JobDefinition,
  patch: JsonObject,
): CatalogEntry {
  if (template.protect === true) {
    throw new Fault(
      "permission_denied",
      `the definition of ${name} forbids changes for single graphs: change the definition`,
    );
  }
  const problems = [
    ...Object.keys(patch).flatMap((key) => fixedKeys[key] ?? []),
    ...hiddenVariablesIn(patch),
  ];
  if (problems.length > 0) throw problemsOfPatch(name, problems);
  const parsed = parseJob(name, mergePatch(jsonOf(template), patch));
  if ("findings" in parsed) {
    throw problemsOfPatch(
      name,
      parsed.findings.map(({ message }) => message),
    );
  }
  const { definition } = parsed;
  if (definition.sources?.some(({ commit }) => commit === undefined) === true) {
    throw problemsOfPatch(name, [
      "sources: name a commit; a branch or a tag is looked up only at submission",
    ]);
  }
  const [entry] = catalogOf(new Map([[name, definition]])).entries;
  if (entry === undefined) throw new Fault("internal", `${name} got no digest`);
  return entry;
}

/**
 * Returns the hidden variables: an edit of a shown definition would replace their values by the sign for a hidden
 * value.
 */
function hiddenVariablesIn({ environment }: JsonObject): string[] {
  if (typeof environment !== "object" || environment === null) return [];
  return Object.entries(environment).flatMap(([name, value]) =>
    value === hidden
      ? [
          `environment: the value of ${name} is not shown, only ${hidden}: leave it out, or write the value`,
        ]
      : [],
  );
}

/** Throws `DefinitionProblems` when other jobs use outputs by name that this one would not make. */
export function assertMakesWhatIsTaken(
  name: string,
  { outputs: made = [] }: JobDefinition,
  dependents: readonly { readonly job: string; readonly takes: readonly string[] }[],
): void {
  const problems = dependents.flatMap(({ job, takes }) =>
    takes
      .filter((path) => !made.some((output) => path === output || path.startsWith(`${output}/`)))
      .map((path) => `outputs: ${job} uses "${path}" of it, which it would not make`),
  );
  if (problems.length > 0) throw problemsOfPatch(name, problems);
}

/** Returns a definition in its stored form. */
export function jsonOf(definition: object): Json {
  return JSON.parse(canonicalJson(definition)) as Json;
}

function problemsOfPatch(name: string, messages: readonly string[]): DefinitionProblems {
  const place = { file: `patch of ${name}`, line: null, column: null };
  return new DefinitionProblems(messages.map((message) => ({ ...place, message })));
}
