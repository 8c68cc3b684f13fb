import { createPrivateKey, generateKeyPairSync, randomUUID, sign, verify } from "node:crypto";
import { chmod, link, readFile, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Fault, messageOf } from "#core/fault.ts";
import { syncDirectory } from "#machine/write-durably.ts";
import { keyFromBytes, publicKeyId } from "./public-key.ts";

/** The Ed25519 key with which the farm signs results of trusted runs and its own statements. */
export interface FarmKey {
  /** The id of the key that signs now; each signature names it. */
  readonly id: string;
  /** The public key, 32 bytes. */
  readonly publicKey: Uint8Array;
  /** Returns whether a key is a current or an earlier key of the farm. */
  knows(keyId: string): boolean;
  sign(bytes: Uint8Array): Uint8Array;
  /** Also false for a key that is not the farm's. */
  verify(keyId: string, bytes: Uint8Array, signature: Uint8Array): boolean;
}

/**
 * Opens the farm's key, and creates one when none exists.
 *
 * The key is in the data directory; several servers of one farm share the file that `file` names. The first private key
 * in the file (PEM) signs. Those after it are older keys, whose signatures stay valid.
 */
export async function openFarmKey(dataDir: string, file?: string): Promise<FarmKey> {
  const path = file ?? join(dataDir, "farm.key");
  const found = await readKeyFile(path);
  if (found !== undefined) return farmKeyOf(found, path);
  await makeKeyFile(path);
  const made = await readKeyFile(path);
  if (made === undefined) throw noKeyIn(path, "it was deleted while it was read");
  return farmKeyOf(made, path);
}

/** A key that exists only in this process, for temporary farms. */
export function passingFarmKey(): FarmKey {
  return farmKeyOf(newKeyText(), "memory");
}

const pemBlock = /-----BEGIN PRIVATE KEY-----[\s\S]*?-----END PRIVATE KEY-----/g;

function farmKeyOf(text: string, path: string): FarmKey {
  const keys = (text.match(pemBlock) ?? []).map((pem) => keyOf(pem, path));
  const [current] = keys;
  if (current === undefined) throw noKeyIn(path, "it has no private key in PEM");
  const byId = new Map(keys.map(({ id, publicKey }) => [id, keyFromBytes(publicKey)]));
  return {
    id: current.id,
    publicKey: current.publicKey,
    knows: (keyId) => byId.has(keyId),
    sign: (bytes) => sign(null, bytes, current.privateKey),
    verify(keyId, bytes, signature) {
      const key = byId.get(keyId);
      return key !== undefined && verify(null, bytes, key, signature);
    },
  };
}

function keyOf(pem: string, path: string) {
  try {
    const privateKey = createPrivateKey(pem);
    if (privateKey.asymmetricKeyType !== "ed25519") throw new Error("it is not an Ed25519 key");
    const publicKey = Buffer.from(privateKey.export({ format: "jwk" }).x ?? "", "base64url");
    return { id: publicKeyId(publicKey), publicKey, privateKey };
  } catch (cause) {
    throw noKeyIn(path, messageOf(cause));
  }
}

function newKeyText(): string {
  return generateKeyPairSync("ed25519")
    .privateKey.export({ format: "pem", type: "pkcs8" })
    .toString();
}

/** Writes a temporary file and links it: when two processes create the key at once, both read the same one. */
async function makeKeyFile(path: string): Promise<void> {
  const draft = `${path}.${randomUUID()}.new`;
  try {
    await writeFile(draft, newKeyText(), { mode: 0o600, flag: "wx", flush: true });
    await link(draft, path).catch((cause: NodeJS.ErrnoException) => {
      if (cause.code !== "EEXIST") throw cause;
    });
    // A key whose name is lost in a power failure is lost with everything that it signed or sealed.
    await syncDirectory(dirname(path));
  } catch (cause) {
    throw new Fault("failed_precondition", `cannot write the farm's key: ${messageOf(cause)}`, {
      cause,
    });
  } finally {
    await rm(draft, { force: true });
  }
}

async function readKeyFile(path: string): Promise<string | undefined> {
  try {
    const { mode } = await stat(path);
    // A file restored from a copy may be readable by others. Its mode is then corrected; the file is not refused.
    if ((mode & 0o077) !== 0) await chmod(path, 0o600).catch(() => {});
    return await readFile(path, "utf8");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw noKeyIn(path, messageOf(cause));
  }
}

function noKeyIn(path: string, why: string): Fault {
  return new Fault(
    "failed_precondition",
    `${path} is not the key of a farm: ${why}. Restore it from a backup, or move it away. With a new key, the farm does not accept results that the old key has signed`,
  );
}
