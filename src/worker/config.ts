import { availableParallelism, homedir, hostname } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { longestLogBytes } from "#core/log-limit.ts";
import { parseMemorySize } from "#core/memory-size.ts";
import { fenceProperty, Platform } from "#core/platform.ts";
import { readAuthorities } from "#grpc/authorities.ts";
import { readClientCertificate } from "#grpc/client-certificate.ts";
import { defaultMeasuringLock } from "#machine/measuring-lock.ts";
import { machineSize } from "./limits/machine-size.ts";
import { type MachineSize, type SlotShare, slotShare } from "./limits/slot-share.ts";
import { defaultOutputLimits } from "./outputs/output-limits.ts";
import { withRustToolchain } from "./rust-toolchain-path.ts";
import { sandboxKinds } from "./sandbox/sandbox-kinds.ts";
import { type RefusedCall, refusedCalls } from "./sandbox/system-calls/refused-calls.ts";

const gibibyte = 1024 ** 3;

/** A kind of sandbox; `auto`: the first kind that works. */
const sandboxName = z.enum(["auto", ...sandboxKinds.map(({ kind }) => kind)]);

/** The settings of a worker, from `grange worker` or `grange up`. */
export const WorkerConfig = z.object({
  /** The farm's address, such as http://127.0.0.1:8980. */
  server: z.url(),
  /** A file that contains the farm's address instead, for an address that changes while the worker runs. */
  serverFile: z.string().optional(),
  token: z.string().optional(),
  /** Additional certificate authorities for the farm's certificate, in PEM. */
  ca: z.string().optional(),
  /** The worker's certificate and key under TLS, in PEM. */
  clientCertificate: z.object({ cert: z.string(), key: z.string() }).optional(),
  /** Unique in the farm. */
  name: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/, "a name is letters, digits, . _ -"),
  /** The store, the layers and temporary files. All workers of a machine may share it. */
  dataDir: z.string().startsWith("/", "the data directory is an absolute path"),
  slots: z.number().int().min(1).max(1_024).default(1),
  sizeClass: z.number().int().min(1).default(1),
  /** The CPUs that one slot gives an action; null: all of the machine. See `limits/slot-share.ts`. */
  cpus: z.number().positive().nullish(),
  memoryBytes: z.number().int().positive().nullish(),
  /** What an action may write on the disk while it runs. */
  diskBytes: z.number().int().positive().nullish(),
  platform: Platform.default({}),
  /** Properties of its platform that an action must request; without any, every action may use the worker. */
  onlyFor: z.array(z.string()).default([]),
  version: z.string().default("0"),
  sandbox: sandboxName.default("auto"),
  /** Whether a worker that runs as root may run jobs as root when no sandbox is available. */
  allowRootJobs: z.boolean().default(false),
  /** System calls that jobs may make although the filter refuses them by default. */
  allowedCalls: z.array(z.enum(Object.keys(refusedCalls) as RefusedCall[])).default([]),
  /** Whether jobs may create user namespaces, which they need for sandboxes of their own. */
  allowsNamespaces: z.boolean().default(true),
  /** Whether jobs with network access get a network of their own, without the machine's loopback, by slirp4netns. */
  privateNetwork: z.boolean().default(false),
  /** The PATH of jobs that set none. */
  path: z.string().min(1).default("/usr/local/bin:/usr/bin:/bin"),
  /** The home directory whose content is hidden from jobs, except tools on PATH. */
  homeDir: z.string().default("/root"),
  /** Directories and files that jobs see, in addition to programs and their settings. */
  shownPaths: z
    .array(z.string().startsWith("/", "paths that jobs see must be absolute"))
    .default([]),
  /** Further directories that are hidden from jobs: the farm's own data. */
  hiddenPaths: z.array(z.string()).default([]),
  /** Registries from which images may come, as `parseRegistries` reads them; without any, no images are run. */
  registries: z.string().default(""),
  /** A file with credentials of registries, as `docker login` writes it. */
  registryAuth: z.string().optional(),
  /** Which images must have a signature, as `readSignaturePolicy` reads it. */
  imageKeys: z.string().default(""),
  /** Hosts on private addresses that may be contacted for images. */
  privateHosts: z.array(z.string()).default([]),
  /** Images to pull when the worker starts. */
  preload: z.array(z.string()).default([]),
  /** The maximum size of the layers of images. */
  imageBytes: z
    .number()
    .int()
    .positive()
    .default(20 * gibibyte),
  /** The maximum size of the store and the layers. */
  storeBytes: z
    .number()
    .int()
    .positive()
    .default(20 * gibibyte),
  /** Of a longer log, the beginning and the end are stored, together of this size. */
  logLimitBytes: z
    .number()
    .int()
    .positive()
    .max(longestLogBytes, `the farm stores logs of at most ${longestLogBytes} bytes`)
    .default(longestLogBytes),
  /** The size limit of one declared output. */
  outputLimitBytes: z.number().int().positive().default(defaultOutputLimits.maxBytesOfEach),
  /** The size limit of all outputs of an action together. */
  allOutputsLimitBytes: z.number().int().positive().default(defaultOutputLimits.maxBytesOfAll),
  /** Between SIGTERM and SIGKILL. */
  killGraceMs: z.number().int().nonnegative().default(2_000),
  /** How long a stopping worker lets its jobs finish before it hands them back. */
  drainMs: z.number().int().nonnegative().default(3_000),
  /**
   * How long the worker's leases should last without a heartbeat, in ms; the farm's default when absent. For workers
   * behind a bad network.
   */
  leaseMs: z.number().int().positive().optional(),
  /** The processes for several actions (Bazel's persistent workers) that are kept at most; 0: none. */
  persistentWorkers: z.number().int().min(0).max(1_024).default(0),
  /** Executes one action, delivers its result, and exits. */
  once: z.boolean().default(false),
  /** While a collector holds this lock, no new execution starts on this machine. */
  measuringLock: z.string().startsWith("/").default(defaultMeasuringLock),
  /** The way in which the worker was started. */
  transport: z.enum(["pull", "ssh"]).default("pull"),
});
/** With all defaults applied: a slot's resource is a number, or absent for the whole machine. */
export type WorkerConfig = Omit<z.infer<typeof WorkerConfig>, keyof SlotShare> & SlotShare;

const Int = z.coerce.number().int();
/** Parses an amount, or `all`: no limit, although there is a size class. */
function amountOrAll(parse: (text: string) => number | undefined, what: string) {
  return z.string().transform((text, context) => {
    if (text === "all") return null;
    const amount = parse(text);
    if (amount !== undefined) return amount;
    context.addIssue(`it must be ${what}, or all`);
    return z.NEVER;
  });
}
const CpuCount = amountOrAll(
  (text) => (Number(text) > 0 ? Number(text) : undefined),
  "a number of CPUs such as 2 or 0.5",
);
const DiskSize = amountOrAll(parseMemorySize, 'an amount of disk such as "20G" or "512MiB"');
const MemorySize = amountOrAll(parseMemorySize, 'an amount of memory such as "4G" or "512MiB"');

const WorkerEnvironment = z.object({
  GRANGE_SERVER: z.url().default("http://127.0.0.1:8980"),
  GRANGE_WORKER_SERVER: z.url().optional(),
  /** The file of an additional certificate authority. */
  GRANGE_CA: z.string().optional(),
  /** The files of the worker's own certificate. */
  GRANGE_CLIENT_CERT: z.string().optional(),
  GRANGE_CLIENT_KEY: z.string().optional(),
  GRANGE_WORKER_TOKEN: z.string().optional(),
  GRANGE_WORKER_NAME: z.string().default(hostname()),
  GRANGE_WORKER_DATA: z.string().default(join(homedir(), ".cache/grange/worker")),
  GRANGE_WORKER_SLOTS: Int.default(availableParallelism()),
  GRANGE_WORKER_SIZE_CLASS: Int.optional(),
  GRANGE_WORKER_CPUS: CpuCount.optional(),
  GRANGE_WORKER_MEMORY: MemorySize.optional(),
  GRANGE_WORKER_DISK: DiskSize.optional(),
  /** `OSFamily=linux,ISA=x86-64`; added to the detected properties of the machine. */
  GRANGE_WORKER_PLATFORM: z.string().default(""),
  /** Names of those properties that jobs must request, separated by commas. */
  GRANGE_WORKER_ONLY_FOR: z
    .string()
    .default("")
    .transform((names) =>
      names
        .split(",")
        .map((name) => name.trim())
        .filter(Boolean),
    ),
  GRANGE_WORKER_SANDBOX: sandboxName.default("auto"),
  /** Absolute paths, separated by colons. */
  GRANGE_WORKER_SHOW: z
    .string()
    .default("")
    .transform((paths) => paths.split(":").filter(Boolean)),
  GRANGE_ALLOW_ROOT_JOBS: z.stringbool().default(false),
  /** Names, separated by commas. */
  GRANGE_WORKER_ALLOW_CALLS: z.string().default("").transform(callNames),
  GRANGE_WORKER_NO_NAMESPACES: z.stringbool().default(false),
  GRANGE_WORKER_PRIVATE_NETWORK: z.stringbool().default(false),
  GRANGE_WORKER_STORE_BYTES: Int.optional(),
  /** Registries that images may come from, separated by commas. */
  GRANGE_WORKER_REGISTRIES: z.string().optional(),
  /** A file as `docker login` writes it. */
  GRANGE_WORKER_REGISTRY_AUTH: z.string().optional(),
  /** Patterns of images, and files with public keys or identities that must have signed them. */
  GRANGE_WORKER_IMAGE_KEYS: z.string().optional(),
  GRANGE_WORKER_IMAGE_BYTES: Int.optional(),
  /** Hosts on private addresses, separated by commas. */
  GRANGE_PRIVATE_HOSTS: z.string().default(""),
  GRANGE_WORKER_LOG_LIMIT_BYTES: Int.optional(),
  GRANGE_WORKER_OUTPUT_LIMIT_BYTES: Int.optional(),
  GRANGE_WORKER_ALL_OUTPUTS_LIMIT_BYTES: Int.optional(),
  GRANGE_WORKER_DRAIN_MS: Int.optional(),
  GRANGE_WORKER_LEASE_MS: Int.optional(),
  GRANGE_WORKER_PERSISTENT_WORKERS: Int.optional(),
  GRANGE_MEASURING_LOCK: z.string().optional(),
  /** The PATH of jobs that set none; replaces the worker's own. */
  GRANGE_WORKER_PATH: z.string().optional(),
  PATH: z.string().optional(),
  HOME: z.string().optional(),
});

/** Reads names of system calls, separated by commas; `WorkerConfig` lists the allowed names. */
export function callNames(text: string): RefusedCall[] {
  const names = text.split(",").map((name) => name.trim());
  return names.filter((name) => name !== "") as RefusedCall[];
}

/** Reads GRANGE_WORKER_*; options of the command line override it. */
export function readWorkerConfig(
  givenSettings: Partial<z.input<typeof WorkerConfig>> = {},
  env: NodeJS.ProcessEnv = process.env,
  machine: MachineSize = machineSize(),
): WorkerConfig {
  const read = WorkerEnvironment.safeParse(env);
  if (!read.success)
    throw new Error(`The worker's environment is wrong:\n${z.prettifyError(read.error)}`);
  const e = read.data;
  const parsed = WorkerConfig.safeParse({
    server: e.GRANGE_WORKER_SERVER ?? e.GRANGE_SERVER,
    token: e.GRANGE_WORKER_TOKEN,
    ca: e.GRANGE_CA ? readAuthorities(e.GRANGE_CA) : undefined,
    clientCertificate: readClientCertificate(
      e.GRANGE_CLIENT_CERT || undefined,
      e.GRANGE_CLIENT_KEY || undefined,
    ),
    name: e.GRANGE_WORKER_NAME,
    dataDir: e.GRANGE_WORKER_DATA,
    slots: e.GRANGE_WORKER_SLOTS,
    sizeClass: e.GRANGE_WORKER_SIZE_CLASS,
    cpus: e.GRANGE_WORKER_CPUS,
    memoryBytes: e.GRANGE_WORKER_MEMORY,
    diskBytes: e.GRANGE_WORKER_DISK,
    sandbox: e.GRANGE_WORKER_SANDBOX,
    onlyFor: e.GRANGE_WORKER_ONLY_FOR,
    shownPaths: e.GRANGE_WORKER_SHOW,
    allowRootJobs: e.GRANGE_ALLOW_ROOT_JOBS,
    allowedCalls: e.GRANGE_WORKER_ALLOW_CALLS,
    allowsNamespaces: !e.GRANGE_WORKER_NO_NAMESPACES,
    privateNetwork: e.GRANGE_WORKER_PRIVATE_NETWORK,
    storeBytes: e.GRANGE_WORKER_STORE_BYTES,
    registries: e.GRANGE_WORKER_REGISTRIES,
    registryAuth: e.GRANGE_WORKER_REGISTRY_AUTH || undefined,
    imageKeys: e.GRANGE_WORKER_IMAGE_KEYS,
    imageBytes: e.GRANGE_WORKER_IMAGE_BYTES,
    privateHosts: e.GRANGE_PRIVATE_HOSTS.split(",")
      .map((host) => host.trim())
      .filter(Boolean),
    logLimitBytes: e.GRANGE_WORKER_LOG_LIMIT_BYTES,
    outputLimitBytes: e.GRANGE_WORKER_OUTPUT_LIMIT_BYTES,
    allOutputsLimitBytes: e.GRANGE_WORKER_ALL_OUTPUTS_LIMIT_BYTES,
    drainMs: e.GRANGE_WORKER_DRAIN_MS,
    leaseMs: e.GRANGE_WORKER_LEASE_MS,
    persistentWorkers: e.GRANGE_WORKER_PERSISTENT_WORKERS,
    measuringLock: e.GRANGE_MEASURING_LOCK || undefined,
    path:
      e.GRANGE_WORKER_PATH || (e.PATH === undefined ? undefined : withRustToolchain(e.PATH, env)),
    homeDir: e.HOME,
    ...givenSettings,
    ...(givenSettings.once === true ? { slots: 1 } : {}),
    platform: {
      ...ownPlatform(),
      ...parsePlatform(e.GRANGE_WORKER_PLATFORM),
      ...givenSettings.platform,
    },
  });
  if (!parsed.success)
    throw new Error(`The worker's settings are wrong:\n${z.prettifyError(parsed.error)}`);
  const platform = withFence(parsed.data);
  const hasClass = (givenSettings.sizeClass ?? e.GRANGE_WORKER_SIZE_CLASS) !== undefined;
  const { cpus, memoryBytes, diskBytes, ...others } = parsed.data;
  return {
    ...others,
    platform,
    ...slotShare({ slots: others.slots, hasClass, cpus, memoryBytes, diskBytes }, machine),
  };
}

/** Returns the platform to register. A property that the worker lacks cannot be a required one. */
function withFence({ platform, onlyFor }: Pick<WorkerConfig, "platform" | "onlyFor">): Platform {
  if (onlyFor.length === 0) return platform;
  for (const name of onlyFor) {
    if (Object.hasOwn(platform, name) && !name.includes(",")) continue;
    throw new Error(
      `The worker's settings are wrong:\nit accepts only actions that ask for "${name}", and offers no such property; name it in GRANGE_WORKER_PLATFORM, too`,
    );
  }
  return { ...platform, [fenceProperty]: [...new Set(onlyFor)].toSorted().join(",") };
}

/** Returns the properties of this machine, with the names that Bazel uses. */
export function ownPlatform(): Platform {
  const isa = { x64: "x86-64", arm64: "arm-a64" }[process.arch as string] ?? process.arch;
  return { OSFamily: process.platform, ISA: isa };
}

function parsePlatform(text: string): Platform {
  const pairs = text.split(",").filter((pair) => pair.trim() !== "");
  return Object.fromEntries(
    pairs.map((pair) => {
      const [name = "", ...value] = pair.split("=");
      return [name.trim(), value.join("=").trim()];
    }),
  );
}
