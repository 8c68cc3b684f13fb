import { z } from "zod";
import { Fault } from "#core/fault.ts";
import { type ExpressionContext, type ExpressionValue, fillExpressions } from "./expression.ts";
import { Scalar, type Workflow } from "./workflow-file.ts";

const Call = z.object({
  inputs: z
    .record(
      z.string(),
      z
        .object({
          type: z.enum(["string", "boolean", "number"]).default("string"),
          required: z.boolean().default(false),
          default: Scalar.optional(),
        })
        .nullable(),
    )
    .nullish(),
});

/** The values of `inputs.NAME` in a workflow that a job calls, by their whole name. */
export type CallInputs = ReadonlyMap<string, ExpressionValue>;

/** Returns the path of a reusable workflow of this repository; undefined for one of another repository. */
export function pathOfCalled(uses: string): string | undefined {
  return /^\.\/(\.github\/workflows\/[^/@]+\.ya?ml)$/.exec(uses)?.[1];
}

/**
 * Returns the inputs of a called workflow, from the values that the calling job gives and from the defaults.
 *
 * Throws `unimplemented` with the reason when they are only known when the workflow runs, or do not fit.
 */
export function inputsOfCall(
  called: Workflow,
  given: Readonly<Record<string, string>>,
  context: ExpressionContext,
): CallInputs {
  const { on } = called;
  const events: unknown = typeof on === "string" ? { [on]: null } : on;
  const isList = Array.isArray(events) && events.includes("workflow_call");
  const parsed = z.object({ workflow_call: Call.nullable() }).safeParse(events);
  if (!parsed.success && !isList) throw new Fault("unimplemented", "has no `workflow_call`");
  const declared = parsed.data?.workflow_call?.inputs ?? {};
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(declared, name));
  if (unknown !== undefined)
    throw new Fault("unimplemented", `has no input ${unknown.slice(0, 60)}`);
  return new Map(
    Object.entries(declared).map(([name, input]) => {
      const value = Object.hasOwn(given, name) ? given[name] : undefined;
      if (value === undefined && input?.required === true)
        throw new Fault("unimplemented", `needs the input ${name.slice(0, 60)}`);
      const text = fillExpressions(value ?? input?.default ?? "", context);
      return [`inputs.${name}`, typed(text, input?.type ?? "string")] as const;
    }),
  );
}

function typed(text: string, type: "string" | "boolean" | "number"): ExpressionValue {
  switch (type) {
    case "string":
      return text;
    case "boolean":
      return text === "true";
    case "number":
      return Number(text);
  }
}
