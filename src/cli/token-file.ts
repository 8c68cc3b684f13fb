import { readFile } from "node:fs/promises";
import { messageOf } from "#core/fault.ts";
import { UsageError } from "./usage-error.ts";

/** Returns the token in a named file, otherwise that of the environment; undefined without either. */
export async function tokenFor(
  file: string | undefined,
  fromEnvironment: string | undefined,
): Promise<string | undefined> {
  const [token, source] =
    file === undefined ? [fromEnvironment, "GRANGE_TOKEN"] : [await textOf(file), file];
  if (token === undefined) return undefined;
  // For any other text, fetch would fail with a message about headers that contains the token.
  if (isToken(token.trim())) return token.trim();
  throw new UsageError(
    `${source} contains no token. A token begins with grange_ and has 50 characters; \`grange token create\` prints one`,
  );
}

/** Returns whether a text has the form of a farm's token, or of a signed token of an issuer that the farm may trust. */
export function isToken(text: string): boolean {
  return (
    /^grange_[A-Za-z0-9_-]{43}$/.test(text) ||
    /^eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/.test(text)
  );
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (cause) {
    throw new UsageError(`cannot read the token: ${messageOf(cause)}`);
  }
}
