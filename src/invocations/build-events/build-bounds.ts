/**
 * The limits for the stored data of one build. Events come from outside: data above a limit is dropped and the rest
 * kept, so that a too large build is shown in part rather than refused.
 */
export const most = {
  targets: 20_000,
  tests: 50_000,
  fileSets: 20_000,
  filesOfTarget: 100,
  filesOfTest: 30,
  filesOfSet: 256,
  setsOfSet: 256,
  /** The number of sets that are searched for the files of one target. */
  setsWalked: 1_000,
  logBytes: 16 * 1024 * 1024,
  patterns: 500,
  options: 1_000,
  pairs: 200,
  metrics: 100,
} as const;

/** The maximum length of texts, in UTF-16 units. */
export const longest = {
  id: 200,
  name: 300,
  label: 1_000,
  option: 2_000,
  value: 1_000,
  uri: 2_000,
  failure: 2_000,
} as const;
