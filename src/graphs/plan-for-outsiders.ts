import { z } from "zod";
import { IsolationLevel, strongerIsolation } from "#core/isolation-level.ts";
import { imageProperty } from "#core/platform.ts";
import { fitsStars } from "#core/star-pattern.ts";
import { definitionLimits } from "#definitions/definition-limits.ts";
import { DefinitionProblems } from "#definitions/definition-problems.ts";
import type { DefinedJob, Definitions } from "#definitions/fill-templates.ts";
import type { JobDefinition } from "#definitions/job-definition.ts";
import { type Plan, plan } from "./plan.ts";

/** The limits for definitions of authors who may not write in the repository: of pull requests from forks. */
export const OutsiderRules = z.object({
  network: z.boolean(),
  /** Property of a platform → patterns of values; no other properties may be required, nor size classes. */
  platform: z.record(z.string(), z.array(z.string()).readonly()).readonly(),
  /** The least isolation of their jobs; absent: any, as for graphs from before this rule. */
  isolation: IsolationLevel.optional(),
});
export type OutsiderRules = Readonly<z.infer<typeof OutsiderRules>>;

/**
 * Other kinds have effects outside the graph: they make further graphs, send messages, or wait for machines with their
 * own rights.
 */
const allowedKinds: readonly (JobDefinition["kind"] | undefined)[] = [
  undefined,
  "command",
  "join",
  "dummy",
  "timer",
  "breakpoint",
];

/**
 * Plans definitions that an outsider wrote; throws `DefinitionProblems` for everything that the rules forbid.
 *
 * Only jobs that would be in the graph count. Nothing is fetched: other repositories are read with the farm's own
 * rights, so jobs of outsiders may not have sources.
 */
export async function planForOutsiders(
  definitions: Definitions,
  select: string | undefined,
  rules: OutsiderRules,
): Promise<Plan> {
  const planned = await plan(isolated(definitions, rules), select);
  const names = new Set(planned.catalog.entries.map(({ name }) => name));
  const problems = definitions.jobs
    .filter(({ name }) => names.has(name))
    .flatMap((job) => problemsOfOutsider(job, rules));
  if (problems.length === 0) return planned;
  throw new DefinitionProblems(problems.slice(0, definitionLimits.problems));
}

/** Returns the definitions with the isolation that the rules require, where a job does not require more. */
function isolated(definitions: Definitions, { isolation }: OutsiderRules): Definitions {
  if (isolation === undefined) return definitions;
  const jobs = definitions.jobs.map((job): DefinedJob => {
    if ((job.definition.kind ?? "command") !== "command") return job;
    const level = strongerIsolation(job.definition.isolation, isolation);
    return { ...job, definition: { ...job.definition, isolation: level } };
  });
  return { ...definitions, jobs };
}

function problemsOfOutsider(job: DefinedJob, { network, platform }: OutsiderRules) {
  const { definition } = job;
  const refused: { readonly path: readonly string[]; readonly what: string }[] = [];
  if (!allowedKinds.includes(definition.kind)) {
    refused.push({ path: ["kind"], what: `jobs of the kind ${definition.kind}` });
  }
  if (definition.network === true && !network) refused.push({ path: ["network"], what: "network" });
  const { sources = [] } = definition;
  if (sources.some(({ submodule }) => submodule !== true))
    refused.push({ path: ["sources"], what: "sources" });
  if (sources.some(({ submodule }) => submodule === true))
    refused.push({ path: ["inputs"], what: "submodules, unless it says `submodules: false`," });
  if (definition.secrets !== undefined) refused.push({ path: ["secrets"], what: "secrets" });
  if (definition.identity !== undefined) {
    refused.push({ path: ["identity"], what: "an identity" });
  }
  if (definition.outside === true) {
    refused.push({ path: ["outside"], what: "jobs that another machine runs" });
  }
  // With an image, an outsider could read what the worker's credentials may pull.
  const { image, services = {} } = definition;
  const asked = [
    ...Object.entries(definition.platform ?? {}).map(
      ([name, value]) => ({ name, value, path: ["platform", name] }) as const,
    ),
    ...(image === undefined
      ? []
      : [{ name: imageProperty, value: image, path: ["image"] } as const]),
    ...Object.entries(services).map(
      ([name, service]) =>
        ({ name: imageProperty, value: service.image, path: ["services", name] }) as const,
    ),
  ];
  for (const { name, value, path } of asked) {
    const allowed = Object.hasOwn(platform, name) ? (platform[name] ?? []) : [];
    if (allowed.some((pattern) => fitsStars(pattern.split("*"), value))) continue;
    refused.push({ path, what: `the platform ${name}=${value}` });
  }
  return refused.map(({ path, what }) =>
    job.problemAt(
      path,
      `job "${job.name}": pull requests from forks may not have ${what} here; \`grange forge set\` changes what they may have`,
      "key",
    ),
  );
}
