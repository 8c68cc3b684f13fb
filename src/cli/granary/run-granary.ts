import { join } from "node:path";
import { parseMemorySize } from "#core/memory-size.ts";
import {
  type GranaryConfig,
  granaryPlace,
  ownVariables,
  type UploadWhen,
} from "#granary/config.ts";
import { startGranary } from "#granary/start-granary.ts";
import { readCliConfig } from "../config.ts";
import { runService } from "../run-service.ts";
import { tokenFor } from "../token-file.ts";
import { UsageError } from "../usage-error.ts";
import { optimizeLater } from "./optimize-later.ts";

export interface GranaryOptions {
  readonly data?: string;
  readonly server?: string;
  readonly tokenFile?: string;
  readonly enrol?: string;
  /** False with `--no-farm`. */
  readonly farm: boolean;
  readonly limit?: number;
  readonly port: number;
  readonly upload: UploadWhen;
  readonly bandwidth?: number;
  readonly crossCheck: number;
  readonly trustDisk?: boolean;
  readonly dune?: boolean;
  readonly logLevel: string;
  readonly endWithParent?: boolean;
}

/** Enough for some weeks of one project; limited, because no person administers it. */
const defaultLimitBytes = 10 * 1024 ** 3;

/** Prints one line when it is ready, `{"ready":true,"port":…}`; its log is written to stderr. */
export async function runGranary(options: GranaryOptions, version: string): Promise<never> {
  optimizeLater();
  return runService(
    { ...options, kind: "granary" },
    async (logger, tracing) => startGranary(await configOf(options, version), logger, tracing),
    ({ port, socketPath }) => ({ port, socket: socketPath, pid: process.pid }),
  );
}

async function configOf(options: GranaryOptions, version: string): Promise<GranaryConfig> {
  const { token, ca, clientCertificate, enrol } = readCliConfig();
  // Without the command line's default address: without a farm, a granary is only a local cache.
  const server = options.server ?? (ownVariables()["GRANGE_SERVER"] || undefined);
  const isAlone = !options.farm || server === undefined;
  if (!isAlone && !URL.canParse(server)) {
    throw new UsageError(`"${server}" is not an address; write --server http://farm:8980`);
  }
  const place = granaryPlace(ownVariables(), options.data);
  return {
    ...place,
    port: options.port,
    limitBytes: options.limit ?? limitOf(ownVariables()["GRANGE_GRANARY_LIMIT"]),
    farm: isAlone
      ? undefined
      : {
          server,
          token: await tokenOfGranary(
            { enrol, ...options },
            server,
            { token, ca },
            place.dataDirectory,
          ),
          ca,
          clientCertificate,
        },
    upload: options.upload,
    bytesPerSecond: options.bandwidth,
    crossCheckShare: options.crossCheck,
    trustDisk: options.trustDisk === true,
    standsInFor: options.dune === true ? ["dune"] : [],
    version,
  };
}

/** Returns the given token, or the granary's own. */
async function tokenOfGranary(
  options: Pick<GranaryOptions, "tokenFile"> & { readonly enrol?: string | undefined },
  server: string,
  { token, ca }: { readonly token?: string | undefined; readonly ca?: string | undefined },
  dataDir: string,
): Promise<string | undefined> {
  const told = await tokenFor(options.tokenFile, token);
  if (told !== undefined) return told;
  const { ownToken } = await import("../enrol/own-token.ts");
  return ownToken({
    kind: "granary",
    server,
    ca,
    enrol: options.enrol,
    file: join(dataDir, "enrolled", "granary.json"),
  });
}

function limitOf(text: string | undefined): number {
  if (!text) return defaultLimitBytes;
  const bytes = parseMemorySize(text);
  if (bytes !== undefined && bytes > 0) return bytes;
  throw new UsageError("GRANGE_GRANARY_LIMIT must be a size such as 500M or 10G");
}
