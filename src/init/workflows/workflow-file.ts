import { z } from "zod";
import { parseBoundedYaml } from "#core/bounded-yaml.ts";
import { messageOf } from "#core/fault.ts";

/** Larger files are not workflows that a person wrote. */
const maxCharacters = 512 * 1024;
/** The limit for the expansion of aliases; GitHub itself supported none for years. */
const maxAliasCount = 100;
/** Workflows nest maps and lists about ten deep. */
const maxDepth = 64;

/** A value that YAML may write with or without quotes. */
export const Scalar = z
  .union([z.string(), z.number(), z.boolean(), z.null().transform(() => "")])
  .transform(String);
const Variables = z.record(z.string(), Scalar).optional();
const OneOrMany = z.union([z.string().transform((one) => [one]), z.array(z.string())]);

const Defaults = z
  .object({
    run: z
      .object({ shell: z.string().optional(), "working-directory": z.string().optional() })
      .optional(),
  })
  .optional();

export const Step = z.object({
  name: z.string().optional(),
  id: z.string().optional(),
  if: Scalar.optional(),
  uses: z.string().optional(),
  run: z.string().optional(),
  with: Variables,
  env: Variables,
  shell: z.string().optional(),
  "working-directory": z.string().optional(),
  "continue-on-error": Scalar.optional(),
});
export type Step = z.output<typeof Step>;

const Job = z.object({
  if: Scalar.optional(),
  needs: OneOrMany.optional(),
  "runs-on": z.unknown().optional(),
  uses: z.string().optional(),
  with: Variables,
  container: z.unknown().optional(),
  services: z.unknown().optional(),
  env: z.union([Variables, z.string()]),
  defaults: Defaults,
  strategy: z.object({ matrix: z.unknown().optional() }).optional(),
  "timeout-minutes": z.unknown().optional(),
  steps: z.array(Step).max(500).default([]),
});
export type WorkflowJob = z.output<typeof Job>;

const Workflow = z.object({
  on: z.unknown().optional(),
  env: Variables,
  defaults: Defaults,
  jobs: z.record(z.string(), Job),
});
export type Workflow = z.output<typeof Workflow>;

/** Reads one file of .github/workflows; the problem is a sentence for people. */
export function readWorkflow(text: string): { workflow: Workflow } | { problem: string } {
  const read = readYaml(text, Workflow);
  return "problem" in read ? read : { workflow: read.value };
}

/** Reads a file that the repository's authors wrote, within limits; the problem is a sentence for people. */
export function readYaml<T>(text: string, form: z.ZodType<T>): { value: T } | { problem: string } {
  if (text.length > maxCharacters) return { problem: `is larger than ${maxCharacters} characters` };
  let value: unknown;
  try {
    const document = parseBoundedYaml(text, maxDepth, { logLevel: "error" });
    const [error] = document.errors;
    if (error !== undefined) throw error;
    value = document.toJS({ maxAliasCount });
  } catch (reason) {
    return { problem: `is no YAML that can be read: ${messageOf(reason).split("\n")[0]}` };
  }
  const parsed = form.safeParse(value);
  if (parsed.success) return { value: parsed.data };
  const [issue] = parsed.error.issues;
  return {
    problem: `has an unexpected form at ${issue?.path.join(".") || "its top"}: ${issue?.message}`,
  };
}

/** The events that start a workflow. */
export function eventsOf({ on }: Workflow): string[] {
  if (typeof on === "string") return [on];
  if (Array.isArray(on)) return on.filter((event) => typeof event === "string");
  return typeof on === "object" && on !== null ? Object.keys(on) : [];
}
