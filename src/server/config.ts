import { resolve } from "node:path";
import { z } from "zod";
import { defaultProjectsEach } from "#access/projects/project-share.ts";
import { AccessSetting } from "#core/access-setting.ts";
import { Fault } from "#core/fault.ts";
import { parseMemorySize } from "#core/memory-size.ts";
import { problemOfDatabaseUrl, problemOfReadUrl } from "#db/connection-target.ts";
import { defaultUnservedMs } from "#invocations/end-unserved.ts";
import { labTimes } from "#perf/lab-times.ts";
import { defaultStartDelayMs } from "#size-classes/offered-classes.ts";
import { bucketConfig, readBucketConfig } from "./blob-storage/config.ts";
import {
  forgesConfig,
  forgeTimesConfig,
  readForges,
  readForgeTimes,
  secretFilesOfForges,
} from "./forge/config.ts";
import { oidcConfig, readOidcConfig } from "./sign-in/config.ts";

/** Parses an amount of bytes such as `8M`, or `0`; `problem` is the message for other texts. */
function byteCount(problem: string) {
  return (text: string, context: z.RefinementCtx): number => {
    const bytes = text.trim() === "0" ? 0 : parseMemorySize(text);
    if (bytes !== undefined) return bytes;
    context.addIssue(problem);
    return z.NEVER;
  };
}

/** Room for a few messages of 4 MiB. */
const leastMessageMemory = 16 * 1_048_576;

function undefinedWhenZero(bytes: number): number | undefined {
  return bytes === 0 ? undefined : bytes;
}

/** All settings of the server. They are read once, at start; a wrong value stops the start. */
export const ServerConfig = z.object({
  /** Where the server stores the data that must survive a restart; created when it does not exist. */
  dataDir: z
    .string()
    .min(1)
    .transform((path) => resolve(path)),
  host: z.string().min(1).default("127.0.0.1"),
  /** 0 takes any free port. */
  port: z.coerce.number().int().min(0).max(65_535).default(8980),
  /** A PostgreSQL of version 15 or later; without it Grange starts its own in the data directory. */
  databaseUrl: z
    .string()
    .superRefine((url, context) => {
      const problem = problemOfDatabaseUrl(url);
      if (problem !== undefined) context.addIssue(problem);
    })
    .optional(),
  /** Replicas of that database, from which pages and searches may be read. */
  databaseReadUrl: z
    .string()
    .superRefine((url, context) => {
      const problem = problemOfReadUrl(url);
      if (problem !== undefined) context.addIssue(problem);
    })
    .optional(),
  /** The directory of the blobs, which several servers of one farm share; in the data directory when absent. */
  blobs: z
    .string()
    .min(1)
    .transform((path) => resolve(path))
    .optional(),
  /** The bucket of the blobs, which all servers of the farm share; when absent, the blobs are in a directory. */
  bucket: bucketConfig.optional(),
  /** Makes the store of blobs this farm's, whatever its earlier owner. */
  adoptStore: z.boolean().default(false),
  /** Acknowledges a blob only when it is on the disk, not when the operating system has accepted it. */
  durableBlobs: z.stringbool().or(z.boolean()).default(false),
  /**
   * Whether the server prepares jobs of graphs, runs jobs that need no worker, searches for commits and makes benchmark
   * requests. Otherwise it leaves them to other servers of the farm, which are nearer to the database.
   */
  preparesJobs: z.stringbool().or(z.boolean()).default(true),
  /** How long a stopping server continues while `/readyz` reports it, so that no new requests arrive. */
  drainMs: z.coerce.number().int().min(0).max(600_000).default(0),
  /** How long running calls may take after that. */
  graceMs: z.coerce.number().int().min(0).max(600_000).default(1_500),
  /** Files in PEM: with both, the port speaks TLS only. */
  tlsCert: z.string().min(1).optional(),
  tlsKey: z.string().min(1).optional(),
  /** The farm's signing keys, in PEM; the servers of one farm share the file. In the data directory when absent. */
  farmKey: z.string().min(1).optional(),
  /** The key that encrypts secrets; the servers of one farm share the file. In the data directory when absent. */
  secretsKey: z.string().min(1).optional(),
  /** Allows sending secrets to workers on other machines without TLS. */
  secretsInClear: z.stringbool().or(z.boolean()).default(false),
  /**
   * The access setting of a new farm, and the most open one that the server accepts of an existing farm. When absent, a
   * new farm is private on an address that others can reach, and otherwise open.
   */
  access: AccessSetting.optional(),
  /** Lets the server listen on public addresses although no sign-in is required. */
  allowOpen: z.stringbool().or(z.boolean()).default(false),
  /** Stores tokens of an owner and of workers in the data directory, for the users of the farm's own machine. */
  ownerToken: z.boolean().default(false),
  /** Removes all rights of callers without a token, before the first request is answered. Requires an owner's token. */
  close: z.stringbool().or(z.boolean()).default(false),
  /**
   * Authorities in PEM: a client with a certificate from one of them is identified as the machine that the certificate
   * names.
   */
  clientCa: z.string().min(1).optional(),
  /**
   * The address under which people reach the farm, if it differs from the listening address: for example behind a proxy
   * that ends TLS.
   */
  publicUrl: z
    .instanceof(URL)
    .or(z.url({ protocol: /^https?$/ }).transform((url) => new URL(url)))
    .refine((url) => url.pathname === "/" && url.search === "" && url.hash === "", {
      error: "it must be an address without a path, such as https://farm.example",
    })
    .optional(),
  /** The identity provider of users, by OpenID Connect. */
  oidc: oidcConfig.optional(),
  /** How long a browser stays signed in without a request, and the maximum in total. */
  sessionIdleMs: z.coerce.number().int().min(1_000).optional(),
  sessionMs: z.coerce.number().int().min(1_000).optional(),
  /** The addresses to which notify jobs may send: prefixes of URLs, separated by commas. None by default. */
  webhooks: z
    .string()
    .default("")
    .transform((list) => list.split(",").map((url) => url.trim()))
    .transform((urls) => urls.filter((url) => url !== ""))
    .pipe(z.array(z.url({ protocol: /^https?$/ }).transform((url) => new URL(url)))),
  /**
   * Hosts on private addresses from which repositories may be fetched: names or addresses with `*`, separated by
   * commas. Default: all for an open farm on loopback without a public address, otherwise none.
   */
  privateHosts: z
    .string()
    .transform((list) => list.split(",").map((host) => host.trim()))
    .transform((hosts) => hosts.filter((host) => host !== ""))
    .optional(),
  /** Hosts from which clients may make the farm download, with `*`, separated by commas. Default: all. */
  assetHosts: z
    .string()
    .transform((list) => list.split(",").map((host) => host.trim()))
    .transform((hosts) => hosts.filter((host) => host !== ""))
    .optional(),
  /** Properties of clients' actions that mean others, as `parsePlatformAliases` reads them. */
  platformAliases: z.string().optional(),
  /** Registries where the farm looks up the digests of images, as `parseRegistries` reads them. */
  registries: z.string().optional(),
  /** A file with credentials of registries, as `docker login` writes it. */
  registryAuth: z.string().min(1).optional(),
  /**
   * Directories. Users with the right to submit may name a repository below them by its path, with colons between the
   * paths.
   */
  localRepositories: z
    .string()
    .transform((list) => list.split(":").map((path) => path.trim()))
    .transform((paths) => paths.filter((path) => path !== ""))
    .optional(),
  /** The price of a worker per minute, in any currency: shown before something is run again. */
  pricePerWorkerMinute: z.coerce.number().min(0).default(0),
  /** The goal of autoscalers, and how soon a worker that they start takes work. */
  scaling: z
    .object({
      targetWaitMs: z.coerce.number().int().min(1_000).default(60_000),
      startDelayMs: z.coerce.number().int().min(0).default(defaultStartDelayMs),
      scaleDownMs: z.coerce
        .number()
        .int()
        .min(0)
        .default(5 * 60_000),
    })
    .prefault({}),
  /** The maximum number of projects with their own blobs, besides the default project. */
  mostProjects: z.coerce.number().int().min(0).max(10_000).default(256),
  /** The largest entry that the HTTP caches of build tools accept. */
  mostCacheEntryBytes: z.coerce
    .number()
    .int()
    .min(1)
    .default(2 * 1024 ** 3),
  /** How long a build tool's action waits for a worker that does not exist, before it fails. */
  unservedMs: z.coerce.number().int().min(1_000).default(defaultUnservedMs),
  /** The maximum size of the store of blobs; 0: no limit. Default: three quarters of its disk. */
  storeLimitBytes: z
    .string()
    .transform(byteCount("it must be an amount of storage, such as 200G, or 0 for no limit"))
    .optional(),
  /** The bytes of blobs per second that are compared with their digests; 0: none. */
  scrubBytesPerSecond: z
    .string()
    .default("8M")
    .transform(byteCount("it must be an amount of bytes per second, such as 8M, or 0 for none"))
    .transform(undefinedWhenZero),
  /** The maximum number of bytes that a principal may write into a project per day; unlimited when absent. */
  writeQuotaBytes: z
    .string()
    .default("1T")
    .transform(byteCount("it must be an amount of storage, such as 1T, or 0 for no limit"))
    .transform(undefinedWhenZero),
  /** The memory for messages of gRPC that are unfinished, and once more for answers that are not read. In bytes. */
  messageMemory: z
    .string()
    .default("64M")
    .transform((text, context) => {
      const bytes = parseMemorySize(text) ?? 0;
      if (bytes >= leastMessageMemory) return bytes;
      context.addIssue("it must be an amount of memory of at least 16M, such as 256M");
      return z.NEVER;
    }),
  /** A factor for all limits of one caller (`#api/request-limits.ts`); absent: no limits. */
  requestLimits: z
    .string()
    .default("1")
    .transform((text, context) => {
      if (text === "off") return undefined;
      const factor = Number(text);
      if (Number.isFinite(factor) && factor >= 0.01 && factor <= 1_000) return factor;
      context.addIssue("it must be a factor from 0.01 to 1000, such as 2, or off for no limits");
      return z.NEVER;
    }),
  /** The maximum number of projects that one principal may create. */
  projectsEach: z.coerce.number().int().min(1).default(defaultProjectsEach),
  /** How often the benchmark lab looks for work when no notification wakes it, in ms. */
  benchmarkPeriodMs: z.coerce.number().int().min(1_000).default(30_000),
  /** How long a collector may be silent before its job is given to another collector. */
  benchmarkLeaseMs: z.coerce.number().int().min(1_000).default(labTimes.leaseMs),
  /** Where alarms of the benchmark lab are sent, and the file of the secret that signs them. */
  alarmWebhook: z
    .object({
      url: z.url({ protocol: /^https?$/ }).transform((url) => new URL(url)),
      secretFile: z
        .string({ error: "name the file of its secret, too (GRANGE_ALARM_SECRET)" })
        .min(1),
    })
    .optional(),
  /** Settings of forges, by their kind. */
  forges: forgesConfig.prefault({}),
  /** How often watched repositories are compared with their forges. */
  forgeTimes: forgeTimesConfig.prefault({}),
  /** Where the built pages are. */
  webDir: z.string().optional(),
});
export type ServerConfig = z.infer<typeof ServerConfig>;

/** Returns the configured files whose readers could act as the farm, or as a principal of the farm. */
export function secretFilesIn(config: ServerConfig): (string | undefined)[] {
  const { farmKey, secretsKey, tlsKey, bucket, oidc, forges, alarmWebhook } = config;
  return [
    farmKey,
    secretsKey,
    tlsKey,
    bucket?.location.credentials.kind === "file" ? bucket.location.credentials.path : undefined,
    oidc?.clientSecretFile,
    ...secretFilesOfForges(forges),
    alarmWebhook?.secretFile,
  ];
}

/** Reads the configuration from the environment; the caller's values take precedence. */
export function readServerConfig(
  overrides: Partial<z.input<typeof ServerConfig>> = {},
  env: NodeJS.ProcessEnv = process.env,
): ServerConfig {
  const given = {
    dataDir: env["GRANGE_DATA"] ?? ".grange-data",
    host: env["GRANGE_HOST"],
    port: env["GRANGE_PORT"],
    databaseUrl: env["GRANGE_DATABASE_URL"],
    databaseReadUrl: env["GRANGE_DATABASE_READ_URL"] || undefined,
    blobs: env["GRANGE_BLOBS"] || undefined,
    bucket: readBucketConfig(env),
    durableBlobs: env["GRANGE_DURABLE_BLOBS"] || undefined,
    preparesJobs: env["GRANGE_PREPARE_JOBS"] || undefined,
    drainMs: env["GRANGE_DRAIN_MS"] || undefined,
    graceMs: env["GRANGE_GRACE_MS"] || undefined,
    tlsCert: env["GRANGE_TLS_CERT"] || undefined,
    tlsKey: env["GRANGE_TLS_KEY"] || undefined,
    farmKey: env["GRANGE_FARM_KEY"] || undefined,
    secretsKey: env["GRANGE_SECRETS_KEY"] || undefined,
    secretsInClear: env["GRANGE_SECRETS_IN_CLEAR"] || undefined,
    access: env["GRANGE_ACCESS"] || undefined,
    allowOpen: env["GRANGE_ALLOW_OPEN"],
    close: env["GRANGE_CLOSE"] || undefined,
    clientCa: env["GRANGE_CLIENT_CA"] || undefined,
    publicUrl: env["GRANGE_PUBLIC_URL"] || undefined,
    oidc: readOidcConfig(env),
    sessionIdleMs: env["GRANGE_SESSION_IDLE_MS"],
    sessionMs: env["GRANGE_SESSION_MS"],
    webhooks: env["GRANGE_WEBHOOKS"],
    privateHosts: env["GRANGE_PRIVATE_HOSTS"],
    assetHosts: env["GRANGE_ASSET_HOSTS"],
    platformAliases: env["GRANGE_PLATFORM_ALIASES"] || undefined,
    registries: env["GRANGE_REGISTRIES"] || undefined,
    registryAuth: env["GRANGE_REGISTRY_AUTH"] || undefined,
    localRepositories: env["GRANGE_LOCAL_REPOSITORIES"],
    pricePerWorkerMinute: env["GRANGE_PRICE_PER_WORKER_MINUTE"],
    mostCacheEntryBytes: env["GRANGE_CACHE_ENTRY_BYTES"],
    mostProjects: env["GRANGE_MOST_PROJECTS"],
    unservedMs: env["GRANGE_UNSERVED_MS"] || undefined,
    storeLimitBytes: env["GRANGE_STORE_LIMIT"] || undefined,
    scrubBytesPerSecond: env["GRANGE_SCRUB_RATE"] || undefined,
    writeQuotaBytes: env["GRANGE_WRITE_QUOTA"] || undefined,
    messageMemory: env["GRANGE_MESSAGE_MEMORY"] || undefined,
    requestLimits: env["GRANGE_REQUEST_LIMITS"] || undefined,
    projectsEach: env["GRANGE_PROJECTS_EACH"] || undefined,
    scaling: {
      targetWaitMs: env["GRANGE_SCALE_TARGET_WAIT_MS"],
      startDelayMs: env["GRANGE_SCALE_START_DELAY_MS"],
      scaleDownMs: env["GRANGE_SCALE_DOWN_MS"],
    },
    benchmarkPeriodMs: env["GRANGE_BENCHMARK_PERIOD_MS"],
    benchmarkLeaseMs: env["GRANGE_BENCHMARK_LEASE_MS"],
    alarmWebhook: env["GRANGE_ALARM_WEBHOOK"]
      ? { url: env["GRANGE_ALARM_WEBHOOK"], secretFile: env["GRANGE_ALARM_SECRET"] }
      : undefined,
    forges: readForges(env),
    forgeTimes: readForgeTimes(env),
    webDir: env["GRANGE_WEB"],
  };
  const set = Object.fromEntries(
    Object.entries({ ...given, ...overrides }).filter(([, value]) => value !== undefined),
  );
  const parsed = ServerConfig.safeParse(set);
  if (parsed.success) {
    const problem = parsed.data.databaseUrl === undefined && needsDatabaseUrl(parsed.data);
    if (!problem) return parsed.data;
    throw new Fault("invalid_argument", problem);
  }
  throw new Fault(
    "invalid_argument",
    `the server's configuration is wrong:\n${z.prettifyError(parsed.error)}`,
  );
}

/** Returns why a configuration cannot be used without the address of a database, or undefined when it can. */
function needsDatabaseUrl(config: ServerConfig): string | undefined {
  if (config.databaseReadUrl !== undefined)
    return "GRANGE_DATABASE_READ_URL names replicas, but GRANGE_DATABASE_URL names no primary: set it, too";
  if (!config.preparesJobs)
    return "GRANGE_PREPARE_JOBS=0 leaves jobs to other servers, but without GRANGE_DATABASE_URL there are none: set it, or remove GRANGE_PREPARE_JOBS";
  return undefined;
}
