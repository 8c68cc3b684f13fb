import { z } from "zod";

/** How definitions call a secret; a file of the run has this name. */
export const SecretName = z
  .string()
  .regex(
    /^[A-Za-z][A-Za-z0-9_-]{0,63}$/,
    "a secret's name has 1 to 64 letters, digits, _ and -, and begins with a letter",
  );

/** More than a release of anything that we know needs. */
export const mostSecretsOfAJob = 16;

/** One value of one secret. The value never leaves the room that keeps it but with a lease. */
export interface SecretReference {
  readonly name: string;
  /** Of the secret as it was granted: a name may mean another one on another branch. */
  readonly id: number;
  readonly version: number;
}

/** What of secrets is part of an action: another value is another action, and no value can be read there. */
export function secretsText(references: readonly SecretReference[]): string {
  return references
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, id, version }) => `${name}@${id}.${version}`)
    .join(",");
}

/** Undefined for what is no such text. */
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
