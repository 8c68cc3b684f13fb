import { createHash, randomBytes } from "node:crypto";
import { chmod, link, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Fault, messageOf } from "#core/fault.ts";
import { syncDirectory } from "#machine/write-durably.ts";

const keyBytes = 32;

/** The key that encrypts secrets in the database. The key is never in the database or in a backup of it. */
export interface SecretsKey {
  /** The beginning of the key's SHA-256, by which rows refer to the key. */
  readonly id: string;
  readonly bytes: Uint8Array;
}

/**
 * Opens the key in the data directory, or in the file that several servers share; creates it when it does not exist.
 */
export async function openSecretsKey(dataDir: string, file?: string): Promise<SecretsKey> {
  const path = file ?? join(dataDir, "secrets.key");
  const text = (await read(path)) ?? (await make(path));
  const bytes = /^[0-9a-f]{64}\s*$/.test(text) ? Buffer.from(text.trim(), "hex") : undefined;
  if (bytes === undefined || bytes.byteLength !== keyBytes)
    throw noKey(path, "it does not contain 64 hexadecimal digits");
  return secretsKeyOf(bytes);
}

/** For temporary farms, which end with their process. */
export function passingSecretsKey(): SecretsKey {
  return secretsKeyOf(randomBytes(keyBytes));
}

function secretsKeyOf(bytes: Uint8Array): SecretsKey {
  return { id: createHash("sha256").update(bytes).digest("hex").slice(0, 16), bytes };
}

async function read(path: string): Promise<string | undefined> {
  try {
    const text = await readFile(path, "utf8");
    // A restored copy may be readable by others.
    await chmod(path, 0o600).catch(() => {});
    return text;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw noKey(path, messageOf(cause));
  }
}

/** The complete file is linked into place, so that two servers that make it at the same time use the same key. */
async function make(path: string): Promise<string> {
  const draft = `${path}.${randomBytes(6).toString("hex")}.new`;
  try {
    const text = `${randomBytes(keyBytes).toString("hex")}\n`;
    await writeFile(draft, text, { mode: 0o600, flag: "wx", flush: true });
    await link(draft, path).catch((cause: NodeJS.ErrnoException) => {
      if (cause.code !== "EEXIST") throw cause;
    });
    // A key whose name is lost in a power failure is lost with everything that it signed or sealed.
    await syncDirectory(dirname(path));
    return await readFile(path, "utf8");
  } catch (cause) {
    throw noKey(path, messageOf(cause));
  } finally {
    await rm(draft, { force: true });
  }
}

function noKey(path: string, why: string): Fault {
  return new Fault(
    "failed_precondition",
    `${path} is not a key for secrets: ${why}. Restore it from a backup, or move it away and set the secrets again`,
  );
}
