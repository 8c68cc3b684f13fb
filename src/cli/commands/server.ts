import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { AccessSetting } from "#core/access-setting.ts";
import type { ServerConfig } from "#server/config.ts";
import type { Describe } from "../command-list.ts";
import { answersJson, logLevel, withExamples } from "../common-options.ts";
import { durationMs } from "../duration-ms.ts";
import { runService } from "../run-service.ts";
import { inSession } from "../session.ts";
import { wholeNumber } from "../whole-number.ts";

interface ServerOptions {
  readonly data?: string;
  readonly host?: string;
  readonly port?: number;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly farmKey?: string;
  readonly access?: AccessSetting;
  readonly allowOpen?: boolean;
  readonly publicUrl?: string;
  readonly oidcIssuer?: string;
  readonly oidcClientId?: string;
  readonly oidcClientSecretFile?: string;
  readonly ownerToken?: boolean;
  readonly close?: boolean;
  readonly clientCa?: string;
  readonly blobs?: string;
  readonly store?: string;
  readonly adoptStore?: boolean;
  readonly storeLimit?: string;
  readonly unservedAfter?: number;
  readonly drain?: number;
  readonly grace?: number;
  readonly logLevel: string;
  readonly endWithParent?: boolean;
  readonly check?: boolean;
  readonly json?: boolean;
}

export const describeServer: Describe = (command, program) => {
  answersJson(command)
    .option("--data <dir>", "the data directory (GRANGE_DATA)")
    .option("--host <address>", "the address to listen on (GRANGE_HOST; default 127.0.0.1)")
    .option(
      "--port <n>",
      "the port (GRANGE_PORT; default 8980; 0 selects a free port)",
      wholeNumber,
    )
    .option("--tls-cert <file>", "use TLS with this certificate, in PEM (GRANGE_TLS_CERT)")
    .option("--tls-key <file>", "the certificate's key (GRANGE_TLS_KEY)")
    .option(
      "--farm-key <file>",
      "the signing key of the farm; all servers of a farm share it (GRANGE_FARM_KEY; default: in the data directory)",
    )
    .option(
      "--public-url <url>",
      "the address of the farm for users, behind a proxy (GRANGE_PUBLIC_URL)",
    )
    .option("--oidc-issuer <url>", "the OpenID Connect provider for sign-in (GRANGE_OIDC_ISSUER)")
    .option(
      "--oidc-client-id <id>",
      "the client id of the farm at the provider (GRANGE_OIDC_CLIENT_ID)",
    )
    .option(
      "--oidc-client-secret-file <file>",
      "a file that contains the client secret (GRANGE_OIDC_CLIENT_SECRET_FILE)",
    )
    .addOption(
      command
        .createOption(
          "--access <setting>",
          "what callers without a token may do on a new farm: everything, read, or nothing (GRANGE_ACCESS; default: private if other machines can reach it, else open)",
        )
        .choices(AccessSetting.options),
    )
    .option("--allow-open", "allow an open farm that other machines can reach")
    .option(
      "--close",
      "require a token for every change; the token of the owner is in the data directory (GRANGE_CLOSE)",
    )
    .option(
      "--owner-token",
      "write the token of the owner to the data directory, and keep the farm open",
    )
    .option(
      "--client-ca <file>",
      "with TLS: accept client certificates of this authority as the identity of machines (GRANGE_CLIENT_CA)",
    )
    .option(
      "--blobs <dir>",
      "the directory of the blobs, which all servers of a farm share (GRANGE_BLOBS; default: in the data directory)",
    )
    .option(
      "--store <url>",
      "store blobs in this S3 bucket, s3://BUCKET/PREFIX, which all servers of a farm share (GRANGE_STORE)",
    )
    .option(
      "--adopt-store",
      "use this blob store, although it belonged to no farm or to another one",
    )
    .option(
      "--store-limit <size>",
      "the maximum size of the blob store, such as 200G (GRANGE_STORE_LIMIT; 0: no limit; default: 3/4 of its disk)",
    )
    .option(
      "--unserved-after <time>",
      "how long a build tool's action waits for a worker that does not exist (GRANGE_UNSERVED_MS; default 15m)",
      durationMs,
    )
    .option(
      "--drain <time>",
      "after SIGTERM, serve requests for this time while /readyz answers 503 (GRANGE_DRAIN_MS; default 0)",
      durationMs,
    )
    .option(
      "--grace <time>",
      "after that, wait this long for calls in progress (GRANGE_GRACE_MS; default 1.5s)",
      durationMs,
    )
    .option("--check", "check whether a server can start with these settings, and exit")
    .addOption(logLevel())
    .addOption(command.createOption("--end-with-parent").hideHelp())
    .action((options: ServerOptions) => serve(options, program.entry));
  withExamples(command, [
    ["run a server with its own database", "server --data /var/lib/grange"],
    ["check whether it can start", "server --data /var/lib/grange --check"],
    [
      "run a server with an external database (GRANGE_DATABASE_URL), on a free port",
      "server --port 0",
    ],
  ]);
};

/** Prints one line when it is ready, `{"ready":true,"url":…,"databaseMs":…}`; its log is written to stderr. */
async function serve(options: ServerOptions, entry: string): Promise<void> {
  if (options.check === true) return check(options, entry);
  const { startServer } = await import("#server/start-server.ts");
  return runService(
    { ...options, kind: "server" },
    async (logger, tracing) => startServer(await configOf(options, entry), logger, tracing),
    ({ url, services }) => ({ url, databaseMs: services.databaseOpenedInMs }),
  );
}

/** Prints the problems that would prevent a server with these options from starting; does not start one. */
function check(options: ServerOptions, entry: string): Promise<void> {
  return inSession(options, async ({ terminal }) => {
    const { serverChecks } = await import("../server-check/server-checks.ts");
    const { printChecks } = await import("../doctor/print-checks.ts");
    return printChecks(serverChecks(await configOf(options, entry)), terminal, options);
  });
}

async function configOf(options: ServerOptions, entry: string): Promise<ServerConfig> {
  const { readServerConfig } = await import("#server/config.ts");
  const { readBucketConfig } = await import("#server/blob-storage/config.ts");
  const { readOidcConfig } = await import("#server/sign-in/config.ts");
  const pages = pagesBeside(entry);
  return readServerConfig({
    ...(options.data === undefined ? {} : { dataDir: options.data }),
    ...(options.host === undefined ? {} : { host: options.host }),
    ...(options.port === undefined ? {} : { port: options.port }),
    ...(options.tlsCert === undefined ? {} : { tlsCert: options.tlsCert }),
    ...(options.tlsKey === undefined ? {} : { tlsKey: options.tlsKey }),
    ...(options.farmKey === undefined ? {} : { farmKey: options.farmKey }),
    ...(options.ownerToken === undefined ? {} : { ownerToken: options.ownerToken }),
    ...(options.close === undefined ? {} : { close: options.close }),
    ...(options.clientCa === undefined ? {} : { clientCa: options.clientCa }),
    ...(options.publicUrl === undefined ? {} : { publicUrl: options.publicUrl }),
    ...oidcOf(options, readOidcConfig()),
    ...(options.access === undefined ? {} : { access: options.access }),
    ...(options.allowOpen === undefined ? {} : { allowOpen: options.allowOpen }),
    ...(options.blobs === undefined ? {} : { blobs: options.blobs }),
    ...(options.store === undefined ? {} : { bucket: readBucketConfig(undefined, options.store) }),
    ...(options.adoptStore === undefined ? {} : { adoptStore: options.adoptStore }),
    ...(options.storeLimit === undefined ? {} : { storeLimitBytes: options.storeLimit }),
    ...(options.unservedAfter === undefined ? {} : { unservedMs: options.unservedAfter }),
    ...(options.drain === undefined ? {} : { drainMs: options.drain }),
    ...(options.grace === undefined ? {} : { graceMs: options.grace }),
    ...(pages === undefined ? {} : { webDir: pages }),
  });
}

/** Returns the settings of the provider: options override the environment. */
function oidcOf(
  { oidcIssuer, oidcClientId, oidcClientSecretFile }: ServerOptions,
  given: Readonly<Record<string, string | undefined>> | undefined,
): { oidc?: { issuer: string; clientId: string } } {
  const said = {
    issuer: oidcIssuer,
    clientId: oidcClientId,
    clientSecretFile: oidcClientSecretFile,
  };
  const set = Object.entries(said).filter(([, value]) => value !== undefined);
  if (set.length === 0) return {};
  // The schema reports missing settings.
  return { oidc: { ...given, ...Object.fromEntries(set) } as { issuer: string; clientId: string } };
}

/** Returns the directory of the built pages: next to the bundle, or where the build of these sources writes them. */
function pagesBeside(entry: string): string | undefined {
  const folder = dirname(entry);
  return [join(folder, "web"), join(folder, "../../dist/web")].find((path) =>
    existsSync(join(path, "index.html")),
  );
}
