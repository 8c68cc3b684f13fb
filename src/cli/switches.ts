import type { SwitchValues } from "#api/graph-choice.ts";
import { UsageError } from "./usage-error.ts";

/** Parses `NAME=VALUE`; a name alone switches it on. The farm defines the meaning of `on` for a switch. */
export function switchesOf(written: readonly string[]): SwitchValues {
  return Object.fromEntries(
    written.map((text) => {
      const equals = text.indexOf("=");
      if (equals === 0) throw new UsageError(`"${text}" is not a switch; write NAME=VALUE`);
      return equals === -1 ? [text, true] : [text.slice(0, equals), text.slice(equals + 1)];
    }),
  );
}
