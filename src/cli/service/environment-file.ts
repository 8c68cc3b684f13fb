import { UsageError } from "../usage-error.ts";

/** Reads `NAME=VALUE` settings of the command line. */
export function settingsOf(words: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    words.map((word) => {
      const [, name, value] = /^([A-Z][A-Z0-9_]*)=([^\n]*)$/.exec(word) ?? [];
      if (name !== undefined && value !== undefined) return [name, value];
      throw new UsageError(
        `--env takes NAME=VALUE, such as GRANGE_STORE_LIMIT=200G; not "${word}"`,
      );
    }),
  );
}

/** Returns the text of a file for systemd's `EnvironmentFile`. */
export function environmentText(environment: Readonly<Record<string, string>>): string {
  const lines = Object.entries(environment).map(([name, value]) => `${name}=${quoted(value)}`);
  return ["# Settings of this service; restart it after a change.", ...lines, ""].join("\n");
}

/**
 * Adds settings to the text of an existing environment file.
 *
 * A setting with the same name is replaced; all other lines, comments included, stay.
 */
export function mergedEnvironmentText(
  existing: string | undefined,
  environment: Readonly<Record<string, string>>,
): string {
  if (existing === undefined) return environmentText(environment);
  const kept = existing
    .replace(/\n+$/, "")
    .split("\n")
    .filter((line) => !Object.hasOwn(environment, line.split("=")[0]?.trim() ?? ""));
  const added = Object.entries(environment).map(([name, value]) => `${name}=${quoted(value)}`);
  return [...kept, ...added, ""].join("\n");
}

/** Replaces secret values for display on a terminal. */
export function withoutSecrets(
  environment: Readonly<Record<string, string>>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [
      name,
      /TOKEN|SECRET|PASSWORD|ENROL|DATABASE_URL/.test(name) ? "…" : value,
    ]),
  );
}

function quoted(value: string): string {
  return /^[\w@%+=:,./-]*$/.test(value)
    ? value
    : `"${value.replace(/[\\"`$]/g, (sign) => `\\${sign}`)}"`;
}
