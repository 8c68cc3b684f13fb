import { z } from "zod";
import { Metric, MetricNature, MetricUnit } from "#core/benchmark-metric.ts";
import { Section, SuiteWord } from "#core/test-case.ts";

/**
 * The definition of a benchmark suite, as written in `.grange/bench/*.yml`: its artifacts and how to get them, its
 * measurements, and how to make them.
 *
 * Commands are argument lists; no shell reads them. In an argument, `{artifact}` is the folder of the artifact's
 * component, `{source}` that of the benchmark's sources, `{out}` an empty folder for output, `{state}` a folder that
 * exists from a scenario's first run to its measured one; an argument that is `{tool}` is replaced by the backend's
 * whole command. The working folder is `{source}`.
 */

const Argument = z
  .string()
  .max(4_096)
  .refine((text) => !text.includes("\0"), "no NUL");
const Command = z.array(Argument).min(1).max(200);
const Arguments = z.array(Argument).max(200).default([]);
const Environment = z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), z.string()).default({});
/** A relative path that does not leave its start folder. */
const RelativePath = z
  .string()
  .min(1)
  .max(1_024)
  .refine(
    (path) => !path.startsWith("/") && !path.includes("\0") && !path.split("/").includes(".."),
    "a path below the folder: not absolute, no `..`",
  );
const Pattern = z.string().max(500);

/** It becomes an argument of npm, so it must not look like an option, a folder or an address. */
// npm treats a name with a tarball's extension as a file of this machine.
export const NpmPackage = z
  .string()
  .regex(/^(?!.*\.(?:tgz|tar|tar\.gz)$)(@[a-z0-9][a-z0-9._~-]*\/)?[a-z0-9][a-z0-9._~-]*$/i, {
    error: "the name of an npm package",
  });
export const NpmVersion = z
  .string()
  .regex(/^(?!.*\.(?:tgz|tar|tar\.gz)$)\d[0-9A-Za-z.+-]{0,79}$/i, {
    error: "an exact version, such as 5.9.3",
  });
const Integrity = z.string().regex(/^sha512-[A-Za-z0-9+/]{86}==$/, {
  error: "sha512-…, as the registry's `dist.integrity` says",
});

/** A package at a version; its bytes are checked against a hash. */
export const PinnedPackage = z.strictObject({
  npm: NpmPackage,
  version: NpmVersion,
  integrity: Integrity,
});
export type PinnedPackage = z.infer<typeof PinnedPackage>;

/** The source of artifacts. */
const ArtifactSource = z.discriminatedUnion("from", [
  z.strictObject({
    from: z.literal("npm"),
    /** Regular expressions that classify versions; `date` is a named group of eight digits. */
    master: z.strictObject({ versions: Pattern, tag: z.string().max(80) }).optional(),
    release: z.strictObject({ versions: Pattern }).optional(),
  }),
  z.strictObject({
    from: z.literal("git"),
    repository: z.string().max(2_000),
    branch: z.string().max(200).default("main"),
    /** Regular expressions for tags of releases. */
    release: z.strictObject({ tags: Pattern }).optional(),
    /** Run once in the checked-out commit, with the network. */
    build: z.array(Command).max(20).default([]),
  }),
  /** Only artifacts that users upload: tarballs. */
  z.strictObject({ from: z.literal("nowhere") }),
]);

const Backend = z.strictObject({
  /** Whether a request that names no backends includes it. */
  default: z.boolean().default(true),
  /** For artifacts from npm: the packages that provide the backend; the first that has the version is used. */
  packages: z
    .array(
      z.strictObject({
        npm: NpmPackage,
        /** Only for these versions of the package. */
        versions: Pattern.optional(),
        tool: Command.optional(),
      }),
    )
    .max(20)
    .default([]),
  /** The command to call it; `packages[].tool` takes precedence. */
  tool: Command.optional(),
  env: Environment,
  /**
   * How instructions are counted: with hardware counters if the machine has them, otherwise with the named simulator,
   * otherwise not at all.
   */
  instructions: z
    .strictObject({
      /** The counter to use without hardware counters. */
      without: z.enum(["cachegrind", "nothing"]).default("nothing"),
      /** The simulator's own options. */
      simulator: Arguments,
      /**
       * Used only while counting, directly after the command's program: options of a runtime come before its script.
       */
      args: Arguments,
      env: Environment,
    })
    .prefault({}),
});
type Backend = z.infer<typeof Backend>;

const Profile = z.strictObject({ args: Arguments, default: z.boolean().default(true) });
const Scenario = z.strictObject({
  args: Arguments,
  /** The command runs once before without measurement, in the same folders. */
  warm: z.boolean().default(false),
  /** After that, this patch of the benchmark is applied. Benchmarks without the patch have no such case. */
  patch: SuiteWord.optional(),
});
const Patch = z.strictObject({
  file: RelativePath,
  append: z.string().max(100_000).optional(),
  replace: z.string().max(1_000_000).optional(),
});

const BenchmarkSource = z.union([
  /** The published files of the package. */
  PinnedPackage,
  z.strictObject({ git: z.string().max(2_000), commit: z.string().regex(/^[0-9a-f]{40}$/) }),
  /** The artifact's own folder. */
  z.strictObject({ artifact: z.literal(true) }),
]);

export const Benchmark = z.strictObject({
  source: BenchmarkSource.optional(),
  /** Only this folder of the source is used; it becomes `{source}`. */
  below: RelativePath.optional(),
  /** Files to write into the source: text unchanged, other values as JSON. */
  files: z.record(RelativePath, z.unknown()).default({}),
  /** Packages to install into `node_modules` of the source. */
  dependencies: z.array(PinnedPackage).max(100).default([]),
  patches: z.record(SuiteWord, Patch).default({}),
  args: Arguments,
  env: Environment,
  category: z.enum(["primary", "secondary"]).default("primary"),
  /** The set in the compile section; benchmarks of other sections belong to set 0. */
  set: z.int().min(0).max(99).default(0),
  /** Only these profiles; default: all of the section. */
  profiles: z.array(SuiteWord).optional(),
  scenarios: z.array(SuiteWord).optional(),
  backends: z.array(SuiteWord).optional(),
  /** Replaces the section's command. */
  command: Command.optional(),
});
export type Benchmark = z.infer<typeof Benchmark>;

export const SuiteSection = z.strictObject({
  /** Runs before, not measured, in the same folders. */
  prepare: Command.optional(),
  command: Command,
  /** Other exit codes are failures of the benchmark. */
  exitCodes: z.array(z.int().min(0).max(255)).min(1).default([0]),
  /** A line of the command's output must match, or the benchmark has failed: an exit code alone may not be enough. */
  mustPrint: Pattern.optional(),
  timeoutMinutes: z
    .number()
    .positive()
    .max(24 * 60)
    .default(30),
  /**
   * Files to write into the sources of every benchmark that has no file of that name. `parseSuite` copies them there.
   */
  files: z.record(RelativePath, z.unknown()).default({}),
  profiles: z.record(SuiteWord, Profile).default({}),
  scenarios: z.record(SuiteWord, Scenario).default({}),
  benchmarks: z.record(SuiteWord, Benchmark),
});
export type SuiteSection = z.infer<typeof SuiteSection>;

/** How the value of a metric is obtained. */
export const MetricSource = z.discriminatedUnion("from", [
  z.strictObject({ from: z.literal("instructions") }),
  z.strictObject({ from: z.literal("user-time") }),
  z.strictObject({ from: z.literal("system-time") }),
  z.strictObject({ from: z.literal("wall-time") }),
  z.strictObject({ from: z.literal("max-rss") }),
  /** The first group of the first matching line of the command's output, multiplied by `scale`. */
  z.strictObject({
    from: z.literal("output"),
    pattern: Pattern,
    scale: z.number().positive().default(1),
  }),
  /** A number in the last line of output that is JSON, at its JSON pointer. */
  z.strictObject({ from: z.literal("json"), pointer: z.string().max(500) }),
  /** The bytes of all files below a folder; links are not followed. */
  z.strictObject({ from: z.literal("size"), of: z.string().max(1_024) }),
]);
export type MetricSource = z.infer<typeof MetricSource>;

const DefinedMetric = z.strictObject({
  take: MetricSource,
  nature: MetricNature,
  unit: MetricUnit,
  better: Metric.shape.better.default("lower"),
  decides: z.boolean().default(true),
  /** Only in these sections; default: all. */
  sections: z.array(Section).optional(),
});
export type DefinedMetric = z.infer<typeof DefinedMetric>;

export const Suite = z.strictObject({
  /** The suite's name. */
  suite: SuiteWord,
  description: z.string().max(2_000).default(""),
  artifacts: ArtifactSource,
  backends: z.record(SuiteWord, Backend),
  /**
   * The target of the measurement, e.g. `linux-x64` (Node's platform and architecture); no work waits for `optional`
   * ones.
   */
  targets: z.record(SuiteWord, z.strictObject({ optional: z.boolean().default(false) })),
  metrics: z.record(Metric.shape.name, DefinedMetric),
  /** The first metric on pages. */
  headline: Metric.shape.name,
  compile: SuiteSection.optional(),
  runtime: SuiteSection.optional(),
  toolchain: SuiteSection.optional(),
  iterations: z
    .strictObject({
      /**
       * Runs with the counter of instructions. Five show how much a count varies by itself: see
       * comparison/judge-counts.ts.
       */
      counted: z.int().min(1).max(20).default(5),
      /** Runs with a clock, of which the lowest value is used. */
      timed: z.int().min(1).max(50).default(3),
    })
    .prefault({}),
  /** Alternating processes of parent and child, for noisy metrics that decide. */
  pairs: z
    .strictObject({
      /** The default for requests that do not state it. */
      default: z.boolean().default(false),
      /** The numbers of pairs after which to decide whether more are needed. */
      rounds: z.array(z.int().min(4).max(100)).min(1).max(6).default([5, 10, 20]),
    })
    .prefault({}),
  /** Which artifacts the farm finds itself. Off: an artifact is known only when a user names it. */
  discover: z
    .strictObject({
      everyMinutes: z.int().min(1).max(1_440),
      /** Older commits of the main line are not requested. */
      masterDays: z.int().min(0).max(365).default(29),
      releases: z.int().min(0).max(100).default(20),
    })
    .optional(),
  /** How many requests may be in progress at once. */
  requestsAtOnce: z.int().min(1).max(20).default(1),
  maxAttempts: z.int().min(1).max(10).default(3),
});
export type Suite = z.infer<typeof Suite>;
