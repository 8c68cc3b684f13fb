import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
} from "node:crypto";
import { readFile, stat, writeFile } from "node:fs/promises";
import { messageOf } from "#core/fault.ts";
import { PublicKeyText } from "#core/public-key-text.ts";
import { UsageError } from "../usage-error.ts";

/**
 * Writes a new private key (Ed25519, PKCS #8 as PEM), which only its owner can read; returns the public half.
 *
 * An existing file is never overwritten, because it may be the only copy of a key.
 */
export async function createKeyFile(file: string): Promise<string> {
  const { privateKey } = generateKeyPairSync("ed25519");
  const pem = privateKey.export({ format: "pem", type: "pkcs8" });
  try {
    await writeFile(file, pem, { flag: "wx", mode: 0o600 });
  } catch (cause) {
    const why = (cause as NodeJS.ErrnoException).code === "EEXIST" ? "exists already" : undefined;
    throw new UsageError(
      why === undefined
        ? `cannot write the key: ${messageOf(cause)}`
        : `${file} ${why}, and a key is never overwritten. Choose another file with --out`,
    );
  }
  return publicHalf(privateKey);
}

/** Reads a private key for signing. Throws when others than its owner can read the file, like ssh. */
export async function readKeyFile(file: string): Promise<KeyObject> {
  const pem = await textOf(file);
  const { mode } = await stat(file);
  if ((mode & 0o077) !== 0) {
    throw new UsageError(`other users can read ${file}; first run \`chmod 600 ${file}\``);
  }
  const key = keyIn(file, () => createPrivateKey(pem));
  if (key.asymmetricKeyType === "ed25519") return key;
  throw new UsageError(
    `${file} contains a key of type ${key.asymmetricKeyType}; signing needs Ed25519`,
  );
}

/** Reads the public half: a text, a file with the text, or a file with the key itself. */
export async function readPublicKey(textOrFile: string): Promise<string> {
  const direct = PublicKeyText.safeParse(textOrFile);
  if (direct.success) return direct.data;
  if (textOrFile.startsWith("ed25519:"))
    throw new UsageError(`"${textOrFile}" is not a public key; \`grange key create\` prints one`);
  const content = await textOf(textOrFile);
  const within = PublicKeyText.safeParse(content);
  return within.success
    ? within.data
    : publicHalf(keyIn(textOrFile, () => createPublicKey(content)));
}

export function publicHalf(key: KeyObject): string {
  const half = key.type === "public" ? key : createPublicKey(key);
  return PublicKeyText.parse(`ed25519:${half.export({ format: "jwk" }).x}`);
}

/** Returns a signature in base64, as the API expects it. */
export function signatureOf(text: string, key: KeyObject): string {
  return sign(null, Buffer.from(text), key).toString("base64");
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (cause) {
    throw new UsageError(`cannot read the key: ${messageOf(cause)}`);
  }
}

function keyIn(file: string, read: () => KeyObject): KeyObject {
  try {
    return read();
  } catch (cause) {
    throw new UsageError(
      `${file} does not contain a key from \`grange key create\`: ${messageOf(cause)}`,
    );
  }
}
