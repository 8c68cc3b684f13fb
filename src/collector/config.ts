import { homedir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { CollectorName } from "#api/collector.ts";
import { Fault } from "#core/fault.ts";
import { defaultMeasuringLock } from "#machine/measuring-lock.ts";

const gigabyte = 1_000_000_000;

/** The settings of a collector. */
export const CollectorConfig = z.object({
  name: CollectorName,
  version: z.string().max(100),
  /** The directory of this collector only: artifacts, sources, unsent results. */
  dataDir: z.string().startsWith("/"),
  artifactLimitBytes: z
    .int()
    .positive()
    .default(10 * gigabyte),
  /**
   * Hosts on private addresses from which sources of suites may be fetched: names or addresses with `*`. A caller with
   * the right to change a suite can choose an address, and this machine contacts it.
   */
  privateHosts: z.array(z.string()).default([]),
  /**
   * `wait`: wait for a quiet machine, up to a limit; after that, figures are flagged. `refuse`: wait without a limit.
   * `flag`: do not wait.
   */
  onLoad: z.enum(["wait", "refuse", "flag"]).default("wait"),
  /** The longest wait with `wait`. */
  busyWaitLimitMs: z
    .int()
    .nonnegative()
    .default(15 * 60_000),
  /** The lock that is held while measuring; all collectors and workers of the machine share it. */
  measuringLock: z.string().startsWith("/").default(defaultMeasuringLock),
  sandbox: z.enum(["auto", "bubblewrap", "none"]).default("auto"),
  /** Whether it compares an artifact with itself when the server requests it. */
  selfTest: z.boolean().default(true),
  /** The time of an additional daily self-test: minutes after midnight, by the machine's clock. */
  selfTestAt: z
    .int()
    .min(0)
    .max(24 * 60 - 1)
    .optional(),
  selfTestComparisons: z.int().min(1).max(1_000).default(20),
  /** The shell command that runs before it ends for an update. */
  updateCommand: z.string().min(1).optional(),
  /** Whether it measures although its registered target differs from this machine's own target. */
  anyTarget: z.boolean().default(false),
  /** How long a test may continue while the collector stops. */
  drainMs: z.int().nonnegative().default(10_000),
  /** How long the server may delay the answer to a claim while there is no work. */
  claimWaitMs: z.int().min(0).max(60_000).default(20_000),
});
export type CollectorConfig = z.infer<typeof CollectorConfig>;

type Overrides = {
  readonly [Name in keyof z.input<typeof CollectorConfig>]?:
    | z.input<typeof CollectorConfig>[Name]
    | undefined;
};

const CollectorEnvironment = z.object({
  GRANGE_COLLECTOR_DATA: z.string().optional(),
  GRANGE_MEASURING_LOCK: z.string().optional(),
  GRANGE_PRIVATE_HOSTS: z.string().optional(),
});

/**
 * Reads GRANGE_COLLECTOR_DATA, GRANGE_MEASURING_LOCK and GRANGE_PRIVATE_HOSTS; options of the command line override
 * them. For a farm on the same machine, the collector may contact the hosts that its user could, like that farm's
 * server.
 */
export function readCollectorConfig(
  given: Overrides,
  farm: { readonly isOnThisMachine: boolean },
  env: NodeJS.ProcessEnv = process.env,
): CollectorConfig {
  const e = CollectorEnvironment.parse(env);
  const parsed = CollectorConfig.safeParse({
    measuringLock: e.GRANGE_MEASURING_LOCK || undefined,
    privateHosts:
      e.GRANGE_PRIVATE_HOSTS?.split(",")
        .map((host) => host.trim())
        .filter((host) => host !== "") ?? (farm.isOnThisMachine ? ["*"] : []),
    ...given,
    dataDir:
      given.dataDir ??
      (e.GRANGE_COLLECTOR_DATA || join(homedir(), ".cache/grange/collector", given.name ?? "")),
  });
  if (parsed.success) return parsed.data;
  throw new Fault(
    "invalid_argument",
    `the collector's settings are wrong:\n${z.prettifyError(parsed.error)}`,
  );
}
