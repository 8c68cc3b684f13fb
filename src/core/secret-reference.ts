import { z } from "zod";

/** The name of a secret in definitions; a file of the run has the same name. */
export const SecretName = z
  .string()
  .regex(
    /^[A-Za-z][A-Za-z0-9_-]{0,63}$/,
    "a secret's name has 1 to 64 letters, digits, _ and -, and begins with a letter",
  );

/** More than any known release process needs. */
export const mostSecretsOfAJob = 16;

/** One version of one secret's value. The value leaves the module `access/secrets` only with a lease. */
export interface SecretReference {
  readonly name: string;
  /** The id of the secret; the same name may mean another secret on another branch. */
  readonly id: number;
  readonly version: number;
}

/**
 * Returns the part of an action that identifies its secrets: another value makes another action, but the text does not
 * reveal a value.
 */
export function secretsText(references: readonly SecretReference[]): string {
  return references
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, id, version }) => `${name}@${id}.${version}`)
    .join(",");
}

/** Parses such a text; undefined for any other text. */
export function secretsIn(text: string): SecretReference[] | undefined {
  const parts = text
    .split(",")
    .map((part) => /^([A-Za-z][\w-]{0,63})@(\d{1,15})\.(\d{1,9})$/.exec(part));
  if (parts.length > mostSecretsOfAJob) return undefined;
  const found = parts.flatMap((part) =>
    part === null ? [] : [{ name: part[1] ?? "", id: Number(part[2]), version: Number(part[3]) }],
  );
  return found.length === parts.length ? found : undefined;
}
