import { z } from "zod";
import { Metric, MetricNature, MetricUnit } from "#core/benchmark-metric.ts";
import { Section, SuiteWord } from "#core/test-case.ts";

/**
 * The definition of a benchmark suite, as it stands in `.grange/bench/*.yml`: which artifacts there are and
 * how to get one, what is measured of them, and how.
 *
 * Commands are argument lists; no shell reads them. In an argument, `{artifact}` is the folder of the artifact's
 * component, `{source}` that of the benchmark's sources, `{out}` an empty folder for output, `{state}` one that
 * lives from a scenario's first run to its measured one; an argument that is `{tool}` stands for the backend's
 * whole command. The working folder is `{source}`.
 */

const Argument = z
  .string()
  .max(4_096)
  .refine((text) => !text.includes("\0"), "no NUL");
const Command = z.array(Argument).min(1).max(200);
const Arguments = z.array(Argument).max(200).default([]);
const Environment = z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), z.string()).default({});
/** Relative, and it stays below where it starts. */
const RelativePath = z
  .string()
  .min(1)
  .max(1_024)
  .refine(
    (path) => !path.startsWith("/") && !path.includes("\0") && !path.split("/").includes(".."),
    "a path below the folder: not absolute, no `..`",
  );
const Pattern = z.string().max(500);

/** It becomes an argument of npm: nothing that npm could take for an option, a folder or an address. */
// npm takes what ends as a tarball does for a file of this machine.
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

/** A package at a version, its bytes held to a hash. */
export const PinnedPackage = z.strictObject({
  npm: NpmPackage,
  version: NpmVersion,
  integrity: Integrity,
});
export type PinnedPackage = z.infer<typeof PinnedPackage>;

/** Where artifacts come from. */
const ArtifactSource = z.discriminatedUnion("from", [
  z.strictObject({
    from: z.literal("npm"),
    /** Whose versions are which: regular expressions; `date` is a named group of eight digits. */
    master: z.strictObject({ versions: Pattern, tag: z.string().max(80) }).optional(),
    release: z.strictObject({ versions: Pattern }).optional(),
  }),
  z.strictObject({
    from: z.literal("git"),
    repository: z.string().max(2_000),
    branch: z.string().max(200).default("main"),
    /** Which tags are releases. */
    release: z.strictObject({ tags: Pattern }).optional(),
    /** Run once in the checked-out commit, with the network. */
    build: z.array(Command).max(20).default([]),
  }),
  /** Only what is given by hand: tarballs. */
  z.strictObject({ from: z.literal("nowhere") }),
]);

const Backend = z.strictObject({
  /** Whether a request takes it that names no backends. */
  default: z.boolean().default(true),
  /** Of artifacts from npm: what serves the backend, the first that has the version. */
  packages: z
    .array(
      z.strictObject({
        npm: NpmPackage,
        /** Only these versions of it. */
        versions: Pattern.optional(),
        tool: Command.optional(),
      }),
    )
    .max(20)
    .default([]),
  /** How to call it; `packages[].tool` goes before. */
  tool: Command.optional(),
  env: Environment,
  /** How instructions are counted: hardware counters where the machine has them, else by the named simulator, else not at all. */
  instructions: z
    .strictObject({
      /** What counts where there are no hardware counters. */
      without: z.enum(["cachegrind", "nothing"]).default("nothing"),
      /** The simulator's own options. */
      simulator: Arguments,
      /** Only while counting, right behind the command's program: options of a runtime come before its script. */
      args: Arguments,
      env: Environment,
    })
    .prefault({}),
});
type Backend = z.infer<typeof Backend>;

const Profile = z.strictObject({ args: Arguments, default: z.boolean().default(true) });
const Scenario = z.strictObject({
  args: Arguments,
  /** The command is run once before, not measured, in the same folders. */
  warm: z.boolean().default(false),
  /** After that, this patch of the benchmark is put on. Benchmarks without it have no such case. */
  patch: SuiteWord.optional(),
});
const Patch = z.strictObject({
  file: RelativePath,
  append: z.string().max(100_000).optional(),
  replace: z.string().max(1_000_000).optional(),
});

const BenchmarkSource = z.union([
  /** Its published files. */
  PinnedPackage,
  z.strictObject({ git: z.string().max(2_000), commit: z.string().regex(/^[0-9a-f]{40}$/) }),
  /** The artifact's own folder. */
  z.strictObject({ artifact: z.literal(true) }),
]);

export const Benchmark = z.strictObject({
  source: BenchmarkSource.optional(),
  /** Only this folder of the source; it becomes `{source}`. */
  below: RelativePath.optional(),
  /** Written into the source: text as it is, all else as JSON. */
  files: z.record(RelativePath, z.unknown()).default({}),
  /** Put into `node_modules` of the source. */
  dependencies: z.array(PinnedPackage).max(100).default([]),
  patches: z.record(SuiteWord, Patch).default({}),
  args: Arguments,
  env: Environment,
  category: z.enum(["primary", "secondary"]).default("primary"),
  /** Of the compile section; others belong to set 0. */
  set: z.int().min(0).max(99).default(0),
  /** Only these; default all of the section. */
  profiles: z.array(SuiteWord).optional(),
  scenarios: z.array(SuiteWord).optional(),
  backends: z.array(SuiteWord).optional(),
  /** In place of the section's. */
  command: Command.optional(),
});
export type Benchmark = z.infer<typeof Benchmark>;

export const SuiteSection = z.strictObject({
  /** Run before, not measured, in the same folders. */
  prepare: Command.optional(),
  command: Command,
  /** Others are failures of the benchmark. */
  exitCodes: z.array(z.int().min(0).max(255)).min(1).default([0]),
  /** A line of the command's output that fits must be there, or the benchmark has failed: an exit code may say too little. */
  mustPrint: Pattern.optional(),
  timeoutMinutes: z
    .number()
    .positive()
    .max(24 * 60)
    .default(30),
  /** Written into the sources of every benchmark that has none of that name. `parseSuite` copies them there. */
  files: z.record(RelativePath, z.unknown()).default({}),
  profiles: z.record(SuiteWord, Profile).default({}),
  scenarios: z.record(SuiteWord, Scenario).default({}),
  benchmarks: z.record(SuiteWord, Benchmark),
});
export type SuiteSection = z.infer<typeof SuiteSection>;

/** How a metric is taken. */
export const MetricSource = z.discriminatedUnion("from", [
  z.strictObject({ from: z.literal("instructions") }),
  z.strictObject({ from: z.literal("user-time") }),
  z.strictObject({ from: z.literal("system-time") }),
  z.strictObject({ from: z.literal("wall-time") }),
  z.strictObject({ from: z.literal("max-rss") }),
  /** The first group of the first line of the command's output that matches, times `scale`. */
  z.strictObject({
    from: z.literal("output"),
    pattern: Pattern,
    scale: z.number().positive().default(1),
  }),
  /** A number in the last line of output that is JSON, by its JSON pointer. */
  z.strictObject({ from: z.literal("json"), pointer: z.string().max(500) }),
  /** Bytes of all files below a folder, links not followed. */
  z.strictObject({ from: z.literal("size"), of: z.string().max(1_024) }),
]);
export type MetricSource = z.infer<typeof MetricSource>;

const DefinedMetric = z.strictObject({
  take: MetricSource,
  nature: MetricNature,
  unit: MetricUnit,
  better: Metric.shape.better.default("lower"),
  decides: z.boolean().default(true),
  /** Only in these sections; default all. */
  sections: z.array(Section).optional(),
});
export type DefinedMetric = z.infer<typeof DefinedMetric>;

export const Suite = z.strictObject({
  /** The suite's name. */
  suite: SuiteWord,
  description: z.string().max(2_000).default(""),
  artifacts: ArtifactSource,
  backends: z.record(SuiteWord, Backend),
  /** Where it is measured, e.g. `linux-x64` (Node's platform and architecture); `optional` ones hold nobody up. */
  targets: z.record(SuiteWord, z.strictObject({ optional: z.boolean().default(false) })),
  metrics: z.record(Metric.shape.name, DefinedMetric),
  /** The metric that pages begin with. */
  headline: Metric.shape.name,
  compile: SuiteSection.optional(),
  runtime: SuiteSection.optional(),
  toolchain: SuiteSection.optional(),
  iterations: z
    .strictObject({
      /** Runs under the counter of instructions. Five show how far a count strays by itself: see comparison/judge-counts.ts. */
      counted: z.int().min(1).max(20).default(5),
      /** Runs by the clock, of which the least is taken. */
      timed: z.int().min(1).max(50).default(3),
    })
    .prefault({}),
  /** Interleaved processes of parent and child, for noisy metrics that decide. */
  pairs: z
    .strictObject({
      /** Whether requests take them that do not say. */
      default: z.boolean().default(false),
      /** After how many pairs it is judged whether more are needed. */
      rounds: z.array(z.int().min(4).max(100)).min(1).max(6).default([5, 10, 20]),
    })
    .prefault({}),
  /** What the farm finds by itself. Off: artifacts are known when somebody names them. */
  discover: z
    .strictObject({
      everyMinutes: z.int().min(1).max(1_440),
      /** Older commits of the main line are not asked for. */
      masterDays: z.int().min(0).max(365).default(29),
      releases: z.int().min(0).max(100).default(20),
    })
    .optional(),
  /** How many requests may be in progress at once. */
  requestsAtOnce: z.int().min(1).max(20).default(1),
  maxAttempts: z.int().min(1).max(10).default(3),
});
export type Suite = z.infer<typeof Suite>;
