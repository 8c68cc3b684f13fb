import { join } from "node:path";
import { z } from "zod";
import { Fault } from "#core/fault.ts";
import { parseTraceparent } from "#core/span-place.ts";
import { readAuthorities } from "#grpc/authorities.ts";
import { readClientCertificate } from "#grpc/client-certificate.ts";
import { variablesOfForgeSecrets } from "#server/forge/config.ts";
import { UsageError } from "./usage-error.ts";

/** Certificate files that a job sees at the same path as the user, because it has this machine's /etc and /usr. */
const certificateFiles = ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE"];

const proxies = ["http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"];

const variablesOfSecretFiles = [
  "GRANGE_FARM_KEY",
  "GRANGE_SECRETS_KEY",
  "GRANGE_TLS_KEY",
  "GRANGE_CLIENT_KEY",
  "GRANGE_OIDC_CLIENT_SECRET_FILE",
  ...variablesOfForgeSecrets,
  "GRANGE_ENROL",
] as const;

/** The settings of the command line from the environment. Options of a command override them. */
const CliConfig = z.object({
  serverUrl: z
    .url({
      protocol: /^https?$/,
      error: "GRANGE_SERVER must be an address such as http://farm:8980",
    })
    .default("http://127.0.0.1:8980"),
  /** The caller's token. */
  token: z.string().optional(),
  /** Additional authorities for farms' certificates, in PEM. */
  ca: z.string().optional(),
  /** An enrolment token, or a file that contains one. */
  enrol: z.string().optional(),
  /** The certificate of a machine under TLS, in PEM. */
  clientCertificate: z.object({ cert: z.string(), key: z.string() }).optional(),
  /** The certificate file of a farm that this command starts. */
  tlsCert: z.string().optional(),
  /** The farm's address for workers that this command starts on other machines; default: the farm's address here. */
  workerServerUrl: z.url({ protocol: /^https?$/ }).optional(),
  workerToken: z.string().optional(),
  dataDir: z.string().optional(),
  /**
   * Files with keys and tokens of this program or of a server, which jobs must not read. A missing file does not
   * matter.
   */
  secretFiles: z.array(z.string()),
  /**
   * The directory for measured artifacts and their results on this machine: it belongs to a user, not to a checkout.
   */
  benchDir: z.string().optional(),
  /** The directory of a user's own settings, if it is not ~/.config. */
  configHome: z.string().optional(),
  /** The lock that all measuring programs on this machine share. */
  measuringLock: z.string().optional(),
  databaseUrl: z.string().optional(),
  /** Replicas of that database. */
  databaseReadUrl: z.string().optional(),
  /** The API of the cluster, in a pod of Kubernetes: `https://HOST:PORT`. */
  kubernetesApi: z.url().optional(),
  /** The directories of programs. */
  path: z.string().default("/usr/local/bin:/usr/bin:/bin"),
  /** https://no-color.org: any non-empty value. */
  noColor: z.boolean(),
  /** The span of OpenTelemetry in which this command runs. */
  traceparent: z.string().optional(),
  terminal: z.string().default(""),
});
export type CliConfig = z.infer<typeof CliConfig>;

/** Returns the settings. Throws `UsageError` when one is invalid, or names a file that cannot be read. */
export function readCliConfig(env: NodeJS.ProcessEnv = process.env): CliConfig {
  try {
    return parsedConfig(env);
  } catch (reason) {
    throw reason instanceof Fault ? new UsageError(reason.message) : reason;
  }
}

function parsedConfig(env: NodeJS.ProcessEnv): CliConfig {
  const parsed = CliConfig.safeParse({
    serverUrl: env["GRANGE_SERVER"] || undefined,
    token: env["GRANGE_TOKEN"] || undefined,
    ca: env["GRANGE_CA"] ? readAuthorities(env["GRANGE_CA"]) : undefined,
    enrol: env["GRANGE_ENROL"] || undefined,
    clientCertificate: readClientCertificate(
      env["GRANGE_CLIENT_CERT"] || undefined,
      env["GRANGE_CLIENT_KEY"] || undefined,
    ),
    tlsCert: env["GRANGE_TLS_CERT"] || undefined,
    workerServerUrl: env["GRANGE_WORKER_SERVER"] || undefined,
    workerToken: env["GRANGE_WORKER_TOKEN"] || undefined,
    dataDir: env["GRANGE_DATA"] || undefined,
    secretFiles: variablesOfSecretFiles.flatMap((name) => env[name] || []),
    benchDir:
      env["GRANGE_BENCH_DATA"] ||
      (env["XDG_DATA_HOME"] ? join(env["XDG_DATA_HOME"], "grange", "bench") : undefined),
    configHome: env["XDG_CONFIG_HOME"] || undefined,
    measuringLock: env["GRANGE_MEASURING_LOCK"] || undefined,
    databaseUrl: env["GRANGE_DATABASE_URL"] || undefined,
    databaseReadUrl: env["GRANGE_DATABASE_READ_URL"] || undefined,
    kubernetesApi: kubernetesApi(env["KUBERNETES_SERVICE_HOST"], env["KUBERNETES_SERVICE_PORT"]),
    path: env["PATH"] || undefined,
    noColor: (env["NO_COLOR"] ?? "") !== "",
    traceparent: parseTraceparent(env["TRACEPARENT"]) && env["TRACEPARENT"],
    terminal: env["TERM"],
  });
  if (parsed.success) return parsed.data;
  throw new Fault(
    "invalid_argument",
    `the environment is wrong:\n${z.prettifyError(parsed.error)}`,
  );
}

function kubernetesApi(host = "", port = "443"): string | undefined {
  if (host === "") return undefined;
  return `https://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** Reads the variables that programs on this machine need to reach the network. */
export function readNetworkVariables(env: NodeJS.ProcessEnv = process.env): Record<string, string> {
  return networkVariables(env);
}

/**
 * Returns the variables that programs on this machine need to reach the network: a company's authorities and its proxy.
 * A job only has variables that its definition names. An address with a password is left out.
 */
function networkVariables(
  environment: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const isVisible = (path: string) => /^\/(etc|usr)\//.test(path);
  const pairs = [
    ...certificateFiles
      .map((name) => [name, environment[name] ?? ""] as const)
      .filter(([, path]) => isVisible(path)),
    ...proxies
      .map((name) => [name, environment[name] ?? ""] as const)
      .filter(([, address]) => address !== "" && !address.includes("@")),
  ];
  return Object.fromEntries(pairs);
}
