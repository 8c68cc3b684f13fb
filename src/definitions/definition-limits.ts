/**
 * Limits for untrusted definitions.
 *
 * They are far above realistic definitions and far below the size that would harm a server: definition files come from
 * any commit, also from a malicious one.
 */
export const definitionLimits = {
  fileBytes: 1024 * 1024,
  allBytes: 40 * 1024 * 1024,
  /**
   * The highest number of bytes of YAML that `read-plain-yaml.ts` cannot read, for each file and for all together: the
   * full YAML parser takes up to 10 µs for a byte of hostile text, and blocks the server during that time.
   */
  wholeYamlFileBytes: 64 * 1024,
  allWholeYamlBytes: 2 * 1024 * 1024,
  files: 2_000,
  /** The nesting depth of maps and lists, because the template language and the parser are recursive. */
  depth: 64,
  /** How often aliases may multiply the size of a file; the usual alias bomb needs thousands. */
  aliases: 100,
  /** The highest number of definitions in a catalog. A graph uses some of them. */
  definitions: 50_000,
  jobs: 20_000,
  edges: 200_000,
  /** All rendered jobs, as JSON. */
  renderedBytes: 64 * 1024 * 1024,
  evaluationMs: 5_000,
  evaluationMemoryMiB: 192,
  /** Further problems are counted, not listed. */
  problems: 100,
} as const;
