import type { Logger } from "pino";
import type { z } from "zod";
import type { Git } from "#git/run-git.ts";
import type { Forge, ForgeSlug } from "./forge.ts";

/**
 * A kind of forge in the registry (`forge-kinds.ts`).
 *
 * The command line loads every kind to know its settings, so a kind imports the code for its API only in `open`.
 */
export interface ForgeKind<Settings = unknown> {
  /** Its name in the database, in the API and in principals (`octocat@KIND`): lower-case letters, digits and `-`. */
  readonly kind: string;
  /** Absent for a kind that needs none. */
  readonly settings?: ForgeSettings<Settings>;

  /** Opens the forge. A kind with settings is opened only if the server has them. */
  open(settings: Settings, parts: ForgeParts): Promise<OpenForge>;

  /**
   * Returns a function that returns the same text for all addresses of one repository at a forge of this kind, and
   * different ones for different repositories; undefined for other addresses. `urls`: repositories that are known to be
   * at such a forge. Pure, and strict: an ambiguous address counts as another one.
   */
  repositoryKeys?(urls: readonly string[]): (address: string) => string | undefined;
}

export interface ForgeSettings<Settings> {
  readonly shape: z.ZodType<Settings>;
  /** From setting to environment variable of the server. */
  readonly variables: Readonly<Record<string, string>>;
  /** The settings that name a file with a secret, which jobs must not read. */
  readonly secretFiles: readonly string[];
  /** Advice for a farm without a forge of this kind, as a sentence. */
  readonly missing: string;
}

/** An open forge, until `stop`. */
export type OpenForge = Forge & { stop?(): Promise<void> };

/** The server's parts for each forge. */
export interface ForgeParts {
  readonly git: Git;
  readonly logger: Logger;
  /** The base of relative paths of repositories. */
  readonly workingDirectory: string;
  /**
   * Returns the slug with the credentials that the farm stores encrypted for it; the slug itself when there are none.
   */
  withCredentials(slug: ForgeSlug): Promise<string>;
}
