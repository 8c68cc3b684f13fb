import { z } from "zod";

const KeepMs = z.number().int().positive().max(Number.MAX_SAFE_INTEGER);
const Pattern = z.string().min(1).max(255);
const Label = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
    "a label has up to 64 letters, digits, dots, hyphens and underscores, and begins with a letter or a digit",
  );

/** The graphs that a rule applies to. */
export const RetentionPlace = z
  .strictObject({
    /** A repository's name, or `*` for all. */
    repository: Pattern,
    /** A branch, a pattern with `*`, or `@protected` for protected branches. */
    branch: Pattern,
  })
  .meta({ id: "RetentionPlace" });

/** Sets a rule. */
export const SetRetentionRule = RetentionPlace.extend({
  /** In milliseconds after a graph's end; null: never deleted. */
  keepMs: KeepMs.nullable(),
  /** The number of newest graphs per branch that are kept regardless of age. */
  keepNewest: z.number().int().min(0).max(100_000).default(0),
  /** The highest number of graphs per branch; older ones beyond it are deleted regardless of age. Null: no limit. */
  most: z.number().int().min(1).max(1_000_000).nullable().default(null),
})
  .refine(({ keepNewest, most }) => most === null || most >= keepNewest, {
    error: "`most` must not be less than `keepNewest`",
  })
  .meta({ id: "SetRetentionRule" });
export type SetRetentionRule = z.infer<typeof SetRetentionRule>;

/** How long graphs of some branches are kept. */
const RetentionRule = z
  .object({
    repository: z.string(),
    branch: z.string(),
    keepMs: KeepMs.nullable(),
    keepNewest: z.number().int(),
    most: z.number().int().nullable(),
    setBy: z.string(),
    setAt: z.iso.datetime(),
  })
  .meta({ id: "RetentionRule" });

/** The kinds of data whose retention time is the same for the whole farm. */
export const retentionKinds = [
  "executions",
  "invocations",
  "audit",
  "definitions",
  "benchmark-jobs",
] as const;
export type RetentionKind = (typeof retentionKinds)[number];

/** A submission notes at most once a day which definitions it uses. */
const leastForDefinitionsMs = 2 * 24 * 60 * 60_000;

export const SetRetentionAge = z
  .strictObject({
    kind: z.enum(retentionKinds),
    /** In milliseconds; null: never deleted. At least two days for definitions. */
    keepMs: KeepMs.nullable(),
  })
  .refine(
    ({ kind, keepMs }) =>
      kind !== "definitions" || keepMs === null || keepMs >= leastForDefinitionsMs,
    { error: "definitions are kept for at least two days", path: ["keepMs"] },
  )
  .meta({ id: "SetRetentionAge" });

const RetentionAge = z
  .object({
    kind: z.enum(retentionKinds),
    keepMs: KeepMs.nullable(),
    /** Null for Grange's default. */
    setBy: z.string().nullable(),
  })
  .meta({ id: "RetentionAge" });
export type RetentionAge = z.infer<typeof RetentionAge>;

/** A label that keeps a graph, regardless of the rules. */
const RetentionHold = z
  .object({
    graph: z.uuid(),
    label: z.string(),
    why: z.string().nullable(),
    setBy: z.string(),
    setAt: z.iso.datetime(),
  })
  .meta({ id: "RetentionHold" });

export const HoldGraph = z
  .strictObject({ label: Label, why: z.string().max(2_000).nullable().default(null) })
  .meta({ id: "HoldGraph" });

export const ReleaseHold = z.strictObject({ label: Label }).meta({ id: "ReleaseHold" });

/** All retention rules, times and holds. */
export const Retention = z
  .object({
    rules: z.array(RetentionRule),
    ages: z.array(RetentionAge),
    /** The latest 1,000. */
    holds: z.array(RetentionHold),
  })
  .meta({ id: "Retention" });
export type Retention = z.infer<typeof Retention>;
