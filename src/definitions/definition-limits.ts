/**
 * How much of a stranger's definitions the farm is willing to read.
 *
 * Far above what people write, far below what would hurt a server: files of
 * definitions come out of any commit, also out of one that means harm.
 */
export const definitionLimits = {
  fileBytes: 1024 * 1024,
  allBytes: 40 * 1024 * 1024,
  /**
   * The most bytes of YAML beyond what `read-plain-yaml.ts` reads, for each file and for all together: the parser of
   * the whole language takes up to 10 µs for a byte of hostile text, during which the server answers no other request.
   */
  wholeYamlFileBytes: 64 * 1024,
  allWholeYamlBytes: 2 * 1024 * 1024,
  files: 2_000,
  /** Maps and lists within each other. The template language recurses, and so does the parser. */
  depth: 64,
  /** How often aliases may multiply the size of a file; the usual alias bomb needs thousands. */
  aliases: 100,
  /** The most definitions of a catalog. A graph is made of some of them. */
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
