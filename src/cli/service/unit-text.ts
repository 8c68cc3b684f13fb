/** The lines of one section of a unit, in order; a name may occur several times. */
export type Section = readonly (readonly [name: string, value: string])[];

interface Unit {
  readonly unit: Section;
  readonly service: Section;
  readonly install: Section;
}

/** Returns the text of a systemd unit file. */
export function unitText({ unit, service, install }: Unit): string {
  const sections: readonly (readonly [string, Section])[] = [
    ["Unit", unit],
    ["Service", service],
    ["Install", install],
  ];
  return sections
    .map(([name, lines]) =>
      [`[${name}]`, ...lines.map(([key, value]) => `${key}=${value}`), ""].join("\n"),
    )
    .join("\n");
}

/**
 * Returns words as the command line of `ExecStart`.
 *
 * systemd replaces `%` specifiers and `$` variables, also within quotes: both characters are doubled.
 */
export function execLine(words: readonly string[]): string {
  return words.map(quoted).join(" ");
}

function quoted(word: string): string {
  const escaped = word
    .replaceAll("\\", "\\\\")
    .replaceAll('"', '\\"')
    .replaceAll("%", "%%")
    .replaceAll("$", "$$$$");
  return /^[\w@%+=:,./$-]+$/.test(escaped) ? escaped : `"${escaped}"`;
}

/** Returns a path as a value of a unit's setting, where `%` begins a specifier. */
export function pathValue(path: string): string {
  return path.replaceAll("%", "%%");
}
