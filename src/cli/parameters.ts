import { UsageError } from "./usage-error.ts";

type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/**
 * Reads `--param NAME=VALUE`. A value that is JSON (`3`, `true`, `["a"]`) is parsed; any other is a text, so that names
 * need no quotes.
 */
export function parametersOf(written: readonly string[]): Record<string, Json> {
  return Object.fromEntries(
    written.map((text) => {
      const equals = text.indexOf("=");
      if (equals < 1)
        throw new UsageError(`"${text}" is not a parameter; write --param NAME=VALUE`);
      return [text.slice(0, equals), valueOf(text.slice(equals + 1))];
    }),
  );
}

function valueOf(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}
