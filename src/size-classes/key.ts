/**
 * Names under which executions are stored, from the most to the least similar (`similarityKeysOf` of the module
 * execution).
 *
 * The first letter states the level: the reduced action (command and platform only), its target with mnemonic and
 * configuration, its mnemonic, its platform.
 */
const levels = { a: "action", t: "target", m: "mnemonic", p: "platform" } as const;
export type Level = (typeof levels)[keyof typeof levels];

export function levelOf(key: string): Level {
  const letter = key[0] as keyof typeof levels | undefined;
  return (letter && levels[letter]) ?? "action";
}
