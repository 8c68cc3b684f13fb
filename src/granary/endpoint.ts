import { rename, rm, writeFile } from "node:fs/promises";

/** The addresses of a running granary, for clients that do not use its socket. */
interface Endpoint {
  readonly version: string;
  readonly pid: number;
  /** Tools' caches, on 127.0.0.1: HTTP and gRPC. */
  readonly port: number;
  /** Build systems' own protocol, on 127.0.0.1; requires the secret. */
  readonly protocolPort: number;
  readonly socket: string;
  readonly secret: string;
}

/** Writes a file that only the user can read. */
export async function writeEndpoint(path: string, endpoint: Endpoint): Promise<void> {
  const aside = `${path}.${process.pid}`;
  await rm(aside, { force: true });
  await writeFile(aside, `${JSON.stringify(endpoint)}\n`, { mode: 0o600, flag: "wx" });
  await rename(aside, path);
}
