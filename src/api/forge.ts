import { z } from "zod";
import { IsolationLevel } from "#core/isolation-level.ts";
import { SuiteWord } from "#core/test-case.ts";

/** The permission at the forge that a farm's right requires, from the least to the most. */
export const NeededPermission = z.enum(["read", "triage", "write", "maintain", "admin", "nobody"]);
export type NeededPermission = z.infer<typeof NeededPermission>;

/** From property to patterns with `*`. */
const ForkPlatform = z.record(z.string().min(1).max(256), z.array(z.string().max(1_024)).max(100));

const ForkIsolation = z.enum(["any", ...IsolationLevel.options]);

const pollLimits = { error: "at least a second, at most a day" };
const PollMs = z.number().int().min(1_000, pollLimits).max(86_400_000, pollLimits);

/** What the farm does with a repository's commits and pull requests, and who may use which comment commands. */
export const ForgePolicy = z.strictObject({
  /** The named graph to make; all jobs when absent. */
  graph: z.string().min(1).max(200).optional(),
  /** Which tags get a graph: a pattern with `*`. */
  tags: z.string().min(1).max(200).default("*"),
  /** Whether to make graphs for commits of the default branch and of tags; and for pull requests. */
  branchGraphs: z.boolean().default(true),
  pullGraphs: z.boolean().default(true),
  /** For pull requests from forks: after approval of that exact commit, at once, or never. */
  forkGraphs: z.enum(["approved", "always", "never"]).default("approved"),
  forkBench: z.enum(["approved", "never"]).default("approved"),
  /** The named graph of pull requests from forks; the same as for other pull requests when absent. */
  forkGraph: z.string().min(1).max(200).optional(),
  /** The limits for their definitions: network access, and properties of platforms by patterns of their values. */
  forkNetwork: z.boolean().default(false),
  forkPlatform: ForkPlatform.default({ OSFamily: ["*"], ISA: ["*"] }),
  /** The isolation that a worker must have for their jobs, which wait for such a worker. */
  forkIsolation: ForkIsolation.default("strict"),
  /** The suite that measures commits; no measurements when absent. */
  suite: SuiteWord.optional(),
  /** Whether to measure each head of the default branch, each tag. */
  benchMaster: z.boolean().default(true),
  benchReleases: z.boolean().default(true),
  /** The permission at the forge that a user needs for a command. */
  commands: z
    .strictObject({
      bench: NeededPermission.default("write"),
      build: NeededPermission.default("write"),
      retrigger: NeededPermission.default("write"),
      cancel: NeededPermission.default("write"),
      approve: NeededPermission.default("write"),
    })
    .prefault({}),
  /** The interval of full comparisons with the forge; the server's default when absent. */
  pollMs: PollMs.optional(),
  /** The permission at the forge that lets an account read the repository here, beside grants. */
  readers: NeededPermission.default("nobody"),
});
export type ForgePolicy = z.infer<typeof ForgePolicy>;

/** A change of a policy: named values are set; null restores the default. */
export const ForgePolicyChange = z.strictObject({
  graph: z.string().min(1).max(200).nullable().optional(),
  tags: z.string().min(1).max(200).nullable().optional(),
  branchGraphs: z.boolean().nullable().optional(),
  pullGraphs: z.boolean().nullable().optional(),
  forkGraphs: z.enum(["approved", "always", "never"]).nullable().optional(),
  forkBench: z.enum(["approved", "never"]).nullable().optional(),
  forkGraph: z.string().min(1).max(200).nullable().optional(),
  forkNetwork: z.boolean().nullable().optional(),
  forkPlatform: ForkPlatform.nullable().optional(),
  forkIsolation: ForkIsolation.nullable().optional(),
  suite: SuiteWord.nullable().optional(),
  benchMaster: z.boolean().nullable().optional(),
  benchReleases: z.boolean().nullable().optional(),
  commands: z
    .partialRecord(z.enum(["bench", "build", "retrigger", "cancel", "approve"]), NeededPermission)
    .optional(),
  pollMs: PollMs.nullable().optional(),
  readers: NeededPermission.nullable().optional(),
});
export type ForgePolicyChange = z.infer<typeof ForgePolicyChange>;

const Time = z.iso.datetime();
/** The name of a kind of forge; the server has the list of kinds. */
const Kind = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,31}$/, "the name of a kind of forge, such as github or git");
const Place = z.string().min(1).max(4_096);

/** `POST /forge/repositories` */
export const AddForgeRepository = z
  .strictObject({
    kind: Kind,
    /** `OWNER/NAME` at GitHub; for a plain Git repository, its URL. */
    slug: Place,
    policy: ForgePolicyChange.optional(),
  })
  .meta({ id: "AddForgeRepository" });
export type AddForgeRepository = z.infer<typeof AddForgeRepository>;

/** `POST /forge/repositories/remove|look` */
export const NameForgeRepository = z
  .strictObject({ repository: Place })
  .meta({ id: "NameForgeRepository" });
/** `POST /forge/repositories/policy` */
export const ChangeForgePolicy = z
  .strictObject({ repository: Place, policy: ForgePolicyChange })
  .meta({ id: "ChangeForgePolicy" });
/** `POST /forge/approve` */
export const ApprovePull = z
  .strictObject({
    repository: Place,
    number: z.int().min(1),
    // The full id, because an attacker can make a commit whose id has the same beginning.
    head: z
      .string()
      .regex(
        /^[0-9a-f]{40}$/,
        "give the full id of the commit that you have reviewed: 40 hex digits",
      ),
  })
  .meta({ id: "ApprovePull" });

export const ApprovedPull = z
  .object({ approved: z.object({ number: z.int(), head: z.string() }) })
  .meta({ id: "ApprovedPull" });
export const RemovedForgeRepository = z
  .object({ removed: z.string() })
  .meta({ id: "RemovedForgeRepository" });

export const ForgeRepository = z
  .object({
    /** The name that graphs use. */
    name: z.string(),
    kind: Kind,
    /** Without credentials. */
    url: z.string(),
    defaultBranch: z.string(),
    policy: ForgePolicy,
    addedBy: z.string(),
    addedAt: Time,
    /** The times of the last and the next full comparison with the forge. */
    reconciledAt: Time.nullable(),
    nextAt: Time,
    /** Why the comparison failed, if it did. */
    error: z.string().nullable(),
    /** Whether the forge has pull requests, and how many are open. */
    hasPulls: z.boolean(),
    openPulls: z.number().int(),
  })
  .meta({ id: "ForgeRepository" });
export type ForgeRepository = z.infer<typeof ForgeRepository>;
export const ForgeRepositories = z
  .object({ repositories: z.array(ForgeRepository) })
  .meta({ id: "ForgeRepositories" });

export const ForgePull = z.object({
  number: z.number().int(),
  title: z.string(),
  author: z.string(),
  state: z.enum(["open", "closed", "merged"]),
  head: z.string(),
  isFork: z.boolean(),
  /** Whether its commit waits for approval. */
  isHeld: z.boolean(),
  approvedBy: z.string().nullable(),
  problem: z.string().nullable(),
  /** The graph of its head, when there is one. */
  graph: z.string().nullable(),
});
export type ForgePull = z.infer<typeof ForgePull>;

export const ForgeHead = z.object({
  ref: z.string(),
  head: z.string(),
  problem: z.string().nullable(),
  graph: z.string().nullable(),
});
export type ForgeHead = z.infer<typeof ForgeHead>;

export const ForgeDeliveryView = z.object({
  id: z.string(),
  event: z.string(),
  slug: z.string(),
  receivedAt: Time,
  state: z.enum(["waiting", "done", "failed"]),
  error: z.string().nullable(),
});
export type ForgeDeliveryView = z.infer<typeof ForgeDeliveryView>;
export const ForgeDeliveries = z
  .object({ deliveries: z.array(ForgeDeliveryView) })
  .meta({ id: "ForgeDeliveries" });

/** A report that was not yet written to the forge, or was given up. */
export const ForgeUnsent = z.object({
  repository: z.string(),
  key: z.string(),
  attempts: z.number().int(),
  nextAt: Time,
  error: z.string().nullable(),
  failedAt: Time.nullable(),
});
export type ForgeUnsent = z.infer<typeof ForgeUnsent>;

export const ForgeRepositoryDetail = ForgeRepository.extend({
  heads: z.array(ForgeHead),
  pulls: z.array(ForgePull),
  deliveries: z.array(ForgeDeliveryView),
  unsent: z.array(ForgeUnsent),
}).meta({ id: "ForgeRepositoryDetail" });
export type ForgeRepositoryDetail = z.infer<typeof ForgeRepositoryDetail>;

export const ForgeExamination = z
  .object({
    findings: z.array(
      z.object({
        what: z.string(),
        state: z.enum(["ok", "wrong", "unknown"]),
        detail: z.string(),
      }),
    ),
  })
  .meta({ id: "ForgeExamination" });
export type ForgeExamination = z.infer<typeof ForgeExamination>;

/** The account of a principal at a kind of forge. */
export const ForgeAccount = z
  .object({
    principal: z.string(),
    kind: Kind,
    account: z.string(),
    linkedBy: z.string(),
    linkedAt: Time,
  })
  .meta({ id: "ForgeAccount" });
export type ForgeAccount = z.infer<typeof ForgeAccount>;

export const LinkForgeAccount = z
  .strictObject({
    principal: z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}$/, "the name of a principal, such as alice"),
    kind: Kind,
    account: z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$/, "the name of an account, such as octocat"),
  })
  .meta({ id: "LinkForgeAccount" });
export const UnlinkForgeAccount = LinkForgeAccount.omit({ account: true }).meta({
  id: "UnlinkForgeAccount",
});
