import type { Logger } from "pino";
import type { z } from "zod";
import type { Git } from "#git/run-git.ts";
import type { Forge, ForgeSlug } from "./forge.ts";

/**
 * A kind of forge, as the registry (`forge-kinds.ts`) has it.
 *
 * The command line loads every kind to know its settings: a kind imports what speaks to the forge in `open`.
 */
export interface ForgeKind<Settings = unknown> {
  /** Its name in the database, in the API and in principals (`octocat@KIND`): lower-case letters, digits and `-`. */
  readonly kind: string;
  /** Absent for a kind that needs none. */
  readonly settings?: ForgeSettings<Settings>;

  /** Opens the forge. A kind with settings is opened only where the server has some. */
  open(settings: Settings, parts: ForgeParts): Promise<OpenForge>;

  /**
   * Returns a function that returns the same text for all addresses of one repository at a forge of this kind, and
   * different ones for different repositories; undefined for an address elsewhere. `urls`: repositories that are known
   * to be at such a forge. Pure, and strict: an address that may be read in two ways is elsewhere.
   */
  repositoryKeys?(urls: readonly string[]): (address: string) => string | undefined;
}

export interface ForgeSettings<Settings> {
  readonly shape: z.ZodType<Settings>;
  /** Setting → environment variable of the server. */
  readonly variables: Readonly<Record<string, string>>;
  /** The settings that name a file with a secret: no job may read such a file. */
  readonly secretFiles: readonly string[];
  /** What to do when a farm has no forge of this kind, as a sentence. */
  readonly missing: string;
}

/** A forge that the farm speaks with, until `stop`. */
export type OpenForge = Forge & { stop?(): Promise<void> };

/** The server's parts for each forge. */
export interface ForgeParts {
  readonly git: Git;
  readonly logger: Logger;
  /** The base of relative paths of repositories. */
  readonly workingDirectory: string;
  /** Returns the slug with the credentials that the farm keeps sealed for it; the slug itself where it keeps none. */
  withCredentials(slug: ForgeSlug): Promise<string>;
}
