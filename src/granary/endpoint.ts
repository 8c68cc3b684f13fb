import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { z } from "zod";

/** Where a granary that runs is found, for those who do not speak to its socket. */
const Endpoint = z.object({
  version: z.string(),
  pid: z.number().int(),
  /** Tools' caches, on 127.0.0.1: HTTP and gRPC. */
  port: z.number().int(),
  /** Build systems' own protocol, on 127.0.0.1; asks for the secret. */
  protocolPort: z.number().int(),
  socket: z.string(),
  secret: z.string(),
});
export type Endpoint = z.infer<typeof Endpoint>;

/** For the user's eyes alone. */
export async function writeEndpoint(path: string, endpoint: Endpoint): Promise<void> {
  const aside = `${path}.${process.pid}`;
  await rm(aside, { force: true });
  await writeFile(aside, `${JSON.stringify(endpoint)}\n`, { mode: 0o600, flag: "wx" });
  await rename(aside, path);
}

/** Undefined when none is written, or not by a granary. */
export async function readEndpoint(path: string): Promise<Endpoint | undefined> {
  try {
    return Endpoint.parse(JSON.parse(await readFile(path, "utf8")));
  } catch {
    return undefined;
  }
}
