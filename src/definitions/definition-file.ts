import { z } from "zod";
import { SwitchValue } from "#api/graph-choice.ts";
import { JobDefinition } from "./job-definition.ts";
import { NamedGraph } from "./named-graph.ts";

/** The types that a parameter's value can have. */
export const parameterTypes = ["string", "number", "boolean", "list", "map"] as const;

/** A placeholder in the definitions, filled when a graph is made. */
export const Parameter = z.strictObject({
  type: z
    .enum(parameterTypes, { error: `must be one of ${parameterTypes.join(", ")}` })
    .optional()
    .describe("The type of its values. Default: string."),
  default: z
    .json()
    .optional()
    .describe("Its value where none is given. Without one, a value must be given."),
  description: z.string().max(4_096).optional().describe("For people: what it changes."),
});
export type Parameter = z.output<typeof Parameter>;

/** A value that a branch, a named graph or a submission can turn on and off, or set to a text. */
export const Switch = z.strictObject({
  default: SwitchValue.optional().describe(
    "Its value if none is set; a text makes it a switch of texts. Default: false.",
  ),
  description: z.string().max(4_096).optional().describe("For people: what it changes."),
});
export type Switch = z.output<typeof Switch>;

/** A name that expressions can use after a dot. */
const nameOf = (what: string) =>
  z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_]{0,63}$/, `a ${what}'s name has letters, digits and _ only`);
const graphName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/, "a graph's name has letters, digits and . _ - only");

/** The top level of a file, with unfilled placeholders in its jobs. */
export const DefinitionFile = z.strictObject({
  version: z
    .literal(1, { error: "must be 1: the version of the language" })
    .describe("The version of the language: 1."),
  parameters: z
    .record(
      nameOf("parameter"),
      Parameter.nullable().transform((given): Parameter => given ?? {}),
    )
    .optional()
    .describe("Values that are filled in when a graph is created: parameters.NAME in expressions."),
  switches: z
    .record(
      nameOf("switch"),
      Switch.nullable().transform((given): Switch => given ?? {}),
    )
    .optional()
    .describe("What branches and submissions can turn on or off: switches.NAME in expressions."),
  graphs: z
    .record(
      graphName,
      NamedGraph.nullable().transform((given): NamedGraph => given ?? {}),
    )
    .optional()
    .describe("Graphs that can be requested by name. Without a name, the graph has all jobs."),
  jobs: z.record(z.string(), z.unknown()).optional().describe("The jobs, by name."),
});
export type DefinitionFile = z.output<typeof DefinitionFile>;

/** The same with the schema of its jobs, for the published schema. */
export const DefinitionFileInFull = DefinitionFile.extend({
  jobs: z.record(z.string(), JobDefinition).optional().describe("The jobs, by name."),
}).describe("Jobs of a Grange farm: .grange/*.yml");
