import { readFileSync } from "node:fs";
import type { WorkerConfig } from "./config.ts";

/** Returns the farm's address: that in the file, if there is one, because it may change while the worker runs. */
export function farmAddress({
  server,
  serverFile,
}: Pick<WorkerConfig, "server" | "serverFile">): string {
  return serverFile === undefined ? server : (addressIn(serverFile) ?? server);
}

/** Undefined when the file does not exist, or contains no address. */
function addressIn(file: string): string | undefined {
  try {
    const text = readFileSync(file, "utf8").trim();
    return URL.canParse(text) ? text : undefined;
  } catch {
    return undefined;
  }
}
