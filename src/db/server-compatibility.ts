/**
 * A migration as the database records it. `worksWith` is the number of the newest migration that a server must know in
 * order to work with the schema after this one; null: the number of this migration itself, so servers that do not know
 * it do not run.
 */
export interface AppliedMigration {
  readonly number: number;
  readonly name: string;
  readonly worksWith: number | null;
}

export interface Migration extends AppliedMigration {
  readonly text: string;
}

/** A server that has a connection to the database. */
export interface RunningServer {
  readonly host: string;
  readonly version: string;
  /** The number of the newest migration that it knows. */
  readonly knows: number;
}

/** How the migrations of a database differ from those of this version. */
export interface MigrationState {
  /** Those that the database lacks, in their order. */
  readonly missing: readonly Migration[];
  /** The names of those that this version does not know, and works with nevertheless. */
  readonly ahead: readonly string[];
  /** The name of a migration after which this version does not work. */
  readonly newer: string | undefined;
}

/** Compares the migrations of a database, which may be empty, with those of this version. */
export function compareMigrations(
  known: readonly Migration[],
  applied: readonly AppliedMigration[],
): MigrationState {
  const done = new Set(applied.map(({ number }) => number));
  const ours = new Set(known.map(({ number }) => number));
  const unknown = applied.filter(({ number }) => !ours.has(number));
  const newest = newestOf(known);
  return {
    missing: known.filter(({ number }) => !done.has(number)),
    ahead: unknown.map(({ name }) => name),
    newer: unknown.find(({ worksWith }) => worksWith === null || worksWith > newest)?.name,
  };
}

/** Returns which running servers would fail after the missing migrations, and the first migration that they fail with. */
export function serversThatWouldFail(
  missing: readonly Migration[],
  running: readonly RunningServer[],
): { readonly servers: readonly RunningServer[]; readonly migration: string } | undefined {
  const servers = running.filter(({ knows }) => missing.some((each) => neededBy(each) > knows));
  const migration = missing.find((each) => servers.some(({ knows }) => neededBy(each) > knows));
  return migration && { servers, migration: migration.name };
}

/** Returns the number of the newest migration that a server must know after this one. */
export function neededBy({
  number,
  worksWith,
}: Pick<AppliedMigration, "number" | "worksWith">): number {
  return worksWith ?? number;
}

export function newestOf(inOrder: readonly { readonly number: number }[]): number {
  return inOrder.at(-1)?.number ?? 0;
}

/** The line of a migration that says with which servers it works: `-- works-with: 100`. */
const worksWithLine = /^-- works-with: (\d+)$/m;

/** Returns the number in the line `works-with` of a migration; null when it has none. */
export function worksWithIn(text: string): number | null {
  const number = worksWithLine.exec(text)?.[1];
  return number === undefined ? null : Number(number);
}

/** Statements after which a server fails that does not know them. */
const breakingStatements: readonly (readonly [RegExp, string])[] = [
  [/\bdrop\s+(table|column|view|function)\b/i, "removes what older servers may use"],
  [/\brename\b/i, "renames what older servers may use"],
  [/\bset\s+not\s+null\b/i, "requires values that older servers do not write"],
  [/\balter\s+column\s+\S+\s+(set\s+data\s+)?type\b/i, "changes the type of a column"],
  [
    /\badd\s+column\s+(?:(?!\bdefault\b)[^,;])*\bnot\s+null\b(?:(?!\bdefault\b)[^,;])*(?:[,;]|$)/i,
    "adds a column that older servers do not fill",
  ],
];

/**
 * Returns why the statements of a migration cannot work with older servers; empty when none of the known reasons
 * applies.
 */
export function whyItBreaksOlderServers(text: string): string[] {
  const statements = text.replaceAll(/--[^\n]*/g, "");
  return breakingStatements.filter(([found]) => found.test(statements)).map(([, why]) => why);
}
